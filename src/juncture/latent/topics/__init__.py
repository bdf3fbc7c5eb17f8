"""Latent Dirichlet allocation: documents as mixtures of topics."""
