"""Boltzmann machines: restricted ones with Bernoulli, Gaussian and softmax visible units, and deep models of layers."""
