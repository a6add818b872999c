"""Pages for people: plain forms that work without script."""
