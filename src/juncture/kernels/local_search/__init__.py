"""Searches that move from one assignment to a better one nearby."""
