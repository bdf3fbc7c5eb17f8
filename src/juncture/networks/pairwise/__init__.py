"""Pairwise models as arrays: Ising and Potts models on grids and graphs, images, magnetisation."""
