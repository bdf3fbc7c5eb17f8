"""Loops of Markov chain Monte Carlo."""
