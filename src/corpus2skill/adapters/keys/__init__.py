"""The master key, and what it seals."""
