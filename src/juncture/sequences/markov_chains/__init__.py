"""Markov chains: the model, what follows from its transition matrix, inference and learning; page rank."""
