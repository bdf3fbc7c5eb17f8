"""Linear-Gaussian factors: principal components, probabilistic PCA and factor analysis, all with holes."""
