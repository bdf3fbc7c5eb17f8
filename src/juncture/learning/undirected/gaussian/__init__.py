"""Gaussian Markov networks: selection of covariances, the graphical lasso."""
