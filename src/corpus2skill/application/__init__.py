"""One use case a module; `wiring` alone knows both the core and the adapters."""
