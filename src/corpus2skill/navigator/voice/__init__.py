"""What every voice door shares: what can be spoken, in which pieces, and what is said while the caller waits."""
