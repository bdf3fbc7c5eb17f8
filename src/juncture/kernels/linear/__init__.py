"""Loops over the points of linear classifiers."""
