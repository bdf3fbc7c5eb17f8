"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import fit_classifier
from juncture.supervised.generative.linear_form import LinearForm

__all__ = ["GenerativeClassifier", "LinearForm", "fit_classifier"]
