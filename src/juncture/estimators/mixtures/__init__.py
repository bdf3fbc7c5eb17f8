"""Mixtures as scikit-learn estimators: they take holes and weights."""
