"""The HTTP door: `/v1` for programs, and what screens are made of."""
