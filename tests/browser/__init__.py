"""Tests of the screens in a real browser. A package, so that its fixtures end with it."""
