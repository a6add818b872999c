"""What the core asks of the world: small protocols, answered by adapters and, in tests, by fakes."""
