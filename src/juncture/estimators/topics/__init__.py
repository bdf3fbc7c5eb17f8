"""Latent Dirichlet allocation as a scikit-learn estimator."""
