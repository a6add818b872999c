"""Stand-ins for the ports, honest to their promises."""
