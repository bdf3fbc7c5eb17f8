"""Restricted Boltzmann machines: Bernoulli, Gaussian and softmax visible units."""
