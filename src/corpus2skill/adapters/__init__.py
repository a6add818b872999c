"""How it is done here: each adapter implements one port, none knows another."""
