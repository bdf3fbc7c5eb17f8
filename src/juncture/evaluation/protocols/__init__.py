"""Protocols of evaluation: hold-out, cross-validation, the bootstrap, learning curves; over scikit-learn estimators."""
