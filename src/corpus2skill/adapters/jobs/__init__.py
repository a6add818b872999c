"""The job engine."""
