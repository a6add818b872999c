"""Versions as plain files, run records in a database: both in the workspace folder."""
