"""Families of vectors, matrices, and of parameters taken together."""
