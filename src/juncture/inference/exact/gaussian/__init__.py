"""Gaussian networks, exactly: variables are eliminated from linear equations with noise."""
