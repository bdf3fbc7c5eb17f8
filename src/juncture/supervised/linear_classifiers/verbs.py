"""What the verbs do with linear classifiers: they learn them; `UNANSWERED` says why they answer nothing."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.supervised.linear_classifiers.fit import HyperplaneOptions, fit_hyperplane
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.maximum_margin import MarginOptions, MaximumMargin, fit_maximum_margin
from juncture.supervised.linear_classifiers.multiclass import (
    AllPairs,
    MulticlassOptions,
    OneVersusRest,
    OrderedClassifier,
    fit_discriminants,
)

register(verbs.fit, Hyperplane, fit_hyperplane, HyperplaneOptions, takes_class=True)
register(verbs.fit, MaximumMargin, fit_maximum_margin, MarginOptions, takes_class=True)
for _kind in (OneVersusRest, AllPairs, OrderedClassifier):
    register(verbs.fit, _kind, fit_discriminants, MulticlassOptions, takes_class=True)
