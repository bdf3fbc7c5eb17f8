"""Expectation maximisation: restarts and SQUAREM, for every kind of model."""
