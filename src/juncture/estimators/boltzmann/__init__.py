"""Restricted Boltzmann machines as scikit-learn estimators."""
