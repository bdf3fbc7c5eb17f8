"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.supervised.linear_classifiers.separability import find_separation

__all__ = [
    "find_separation",
]
