"""The doors: parse, call the application, render. No rule of the domain stands here."""
