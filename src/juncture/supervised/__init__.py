"""Regressions and classifiers: models of a target given inputs, and decisions under a loss; `jt.supervised`."""

from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import fit_classifier
from juncture.supervised.generative.linear_form import LinearForm
from juncture.supervised.linear_classifiers.separability import find_separation

__all__ = [
    "GenerativeClassifier",
    "LinearForm",
    "find_separation",
    "fit_classifier",
]
