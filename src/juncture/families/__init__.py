"""Distributions, one per file; their statistics; conjugate priors."""
