"""Factor analysis and probabilistic PCA as scikit-learn estimators."""
