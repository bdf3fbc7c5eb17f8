"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

__all__: list[str] = []
