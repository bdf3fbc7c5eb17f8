"""Sequential Monte Carlo for state spaces that are given by functions."""
