"""Numbers cut into bins."""
