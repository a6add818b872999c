"""Language models of the providers, over their own SDKs."""
