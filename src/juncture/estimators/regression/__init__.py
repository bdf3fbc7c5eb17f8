"""Regressions as scikit-learn estimators."""
