"""Work in a process beside this one, or in this one where nobody else is held up."""
