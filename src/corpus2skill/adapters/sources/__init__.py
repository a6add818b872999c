"""Where source documents come from."""
