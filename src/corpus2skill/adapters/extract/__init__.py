"""From bytes to text: one module a format, and `extractors` that chooses."""
