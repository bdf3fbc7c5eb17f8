"""What the verbs do with linear classifiers: they learn them, and refuse questions for probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from juncture import verbs
from juncture.base.dispatch import register
from juncture.errors import Unsupported
from juncture.supervised.linear_classifiers.decision_function import DecisionFunction
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

NO_PROBABILITIES = (verbs.infer, verbs.most_probable, verbs.log_prob, verbs.sample)


def refuse(verb: str) -> Callable[..., NoReturn]:
    """What a verb does that asks for probabilities."""

    def implementation(model: DecisionFunction, *_: Any, **__: Any) -> NoReturn:
        raise Unsupported(
            f"{verb} asks for probabilities, and a {type(model).__name__} decides without any: model.predict(X) gives"
            " the class of each row; a jt.supervised.LogisticRegression has probabilities"
        )

    implementation.is_refusal = True  # type: ignore[attr-defined]
    return implementation


for _verb in NO_PROBABILITIES:
    register(_verb, DecisionFunction, refuse(_verb.__name__))
register(verbs.fit, Hyperplane, fit_hyperplane, HyperplaneOptions, takes_class=True)
register(verbs.fit, MaximumMargin, fit_maximum_margin, MarginOptions, takes_class=True)
for _kind in (OneVersusRest, AllPairs, OrderedClassifier):
    register(verbs.fit, _kind, fit_discriminants, MulticlassOptions, takes_class=True)
