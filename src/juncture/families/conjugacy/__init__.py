"""Which prior goes with which likelihood, and what follows from a pair."""
