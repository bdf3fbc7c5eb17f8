"""Variational inference: the nearest distribution of a simple form."""
