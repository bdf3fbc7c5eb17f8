"""Gaussian elimination of variables, row by row, on flat arrays."""
