"""Clique trees whose tables keep only the cells that can be non-zero."""
