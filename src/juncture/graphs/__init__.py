"""Combinatorics without probabilities: directed and undirected graphs over names."""
