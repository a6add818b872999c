"""What every paid call goes through: the result store, the cap, the rate, and the tries."""
