"""Elimination orders, triangulations and their cliques, on bitsets."""
