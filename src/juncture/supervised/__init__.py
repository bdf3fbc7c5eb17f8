"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.names import face

face(__name__)
