"""Empirical risk minimisation: of thresholds, exactly; over nested classes; and how often it is probably correct."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_function, check_iterable, check_number
from juncture.base.options import as_generator
from juncture.errors import InvalidData
from juncture.evaluation.learning_theory.bounds import capacity, check_delta
from juncture.supervised.linear_classifiers.separability import check_labels


class ThresholdFit(NamedTuple):
    """A threshold and the share of examples that it labels wrongly."""

    threshold: float
    risk: float


def fit_threshold(points: Any, labels: Any) -> ThresholdFit:
    """The threshold a with the smallest empirical 0-1 risk of h(x) = 1(x ≥ a), in the time of a sort.

    Parameters
    ----------
    points
        Numbers, one an example.
    labels
        0 or 1 for each.

    Returns
    -------
    ThresholdFit
        The threshold and its risk. Of equally good thresholds it is the smallest: halfway between two neighbouring
        points, or infinite where all labels should be the same.

    Examples
    --------
    >>> fit_threshold([0.5, -1.0, 2.0, 1.0], [0, 0, 1, 1])
    ThresholdFit(threshold=0.75, risk=0.0)
    """
    places = check_array(points, "the points", ndim=1)
    wanted = check_labels(labels, len(places))
    if not len(places) or np.isnan(places).any():
        raise InvalidData("a threshold is learned from at least one example, and from numbers without holes")
    order = np.argsort(places, kind="stable")
    ordered, ones = places[order], wanted[order]
    errors = np.concatenate([[0], np.cumsum(ones)]) + np.concatenate([np.cumsum(~ones[::-1])[::-1], [0]])
    cuts = np.concatenate([[-np.inf], (ordered[:-1] + ordered[1:]) / 2, [np.inf]])
    is_cut = np.concatenate([[True], ordered[:-1] < ordered[1:], [True]])  # equal points stay together
    best = int(np.argmin(np.where(is_cut, errors, len(places) + 1)))
    return ThresholdFit(float(cuts[best]), float(errors[best] / len(places)))


@dataclass(frozen=True)
class StructuralRisk:
    """The choice of a class by structural risk minimisation.

    Attributes
    ----------
    bounds
        Upper bounds of the risk, one a class, which hold together with probability 1 - δ.
    penalties
        The part of each bound that grows with the size of the class.
    best
        The position of the class with the smallest bound.
    """

    bounds: tuple[float, ...]
    penalties: tuple[float, ...]
    best: int


def structural_risk(risks: Sequence[float], sizes: Sequence[int], num_samples: Any, delta: Any) -> StructuralRisk:
    """Structural risk minimisation: the class whose empirical risk plus penalty is smallest.

    Parameters
    ----------
    risks
        The smallest empirical risk of each class.
    sizes
        The number of hypotheses of each class.
    num_samples
        N, the number of examples.
    delta
        The probability with which some bound may fail; it is shared equally by the classes.

    Returns
    -------
    StructuralRisk
        The bounds risk + √(log(2 |H_k| K / δ) / 2N) of the K classes, and the best class.

    Examples
    --------
    >>> structural_risk([0.30, 0.10, 0.09], [10, 1000, 10**12], 1000, 0.05).best
    1
    """
    number, doubt = check_count(num_samples, "num_samples", least=1), math.log(1 / check_delta(delta))
    training = check_array(risks, "the risks", ndim=1)
    classes = check_iterable(sizes, "the sizes")
    if not len(training) or len(training) != len(classes) or not ((training >= 0) & (training <= 1)).all():
        raise InvalidData("structural risk minimisation needs a risk between 0 and 1 and a size for each class")
    logs = np.array([math.log(2 * len(training)) + capacity(size) + doubt for size in classes])
    penalties = np.sqrt(logs / (2 * number))
    bounds = training + penalties
    return StructuralRisk(tuple(bounds.tolist()), tuple(penalties.tolist()), int(np.argmin(bounds)))


def pac_frequency(
    learn: Callable[[np.random.Generator], float],
    best_risk: float,
    epsilon: Any,
    *,
    num_trials: int = 1000,
    rng: Any = 0,
) -> float:
    """How often learning is approximately correct: the share of trials with a risk within ε of the smallest risk.

    Parameters
    ----------
    learn
        A function that draws examples with the generator that it is given, learns from them, and returns the risk
        (under the distribution of the examples) of the hypothesis that is learned.
    best_risk
        The smallest risk in the class.
    epsilon
        How far the risk may lie above that.
    num_trials
        The number of trials.
    rng
        The source of random numbers.

    Returns
    -------
    float
        The share of trials. Learning is probably approximately correct where it is at least 1 - δ.

    Examples
    --------
    >>> def learn(rng):  # thresholds; the right one is 0, and x is uniform on [-1, 1]
    ...     x = rng.uniform(-1, 1, size=37)
    ...     return min(abs(fit_threshold(x, x >= 0).threshold), 1.0) / 2
    >>> pac_frequency(learn, 0.0, 0.1) >= 0.95
    True
    """
    check_function(learn, "learn")
    limit = check_number(best_risk, "best_risk", least=0) + check_number(epsilon, "epsilon", above=0)
    trials, generator = check_count(num_trials, "num_trials", least=1), as_generator(rng)
    risks = [check_number(learn(generator), "the risk that `learn` returns") for _ in range(trials)]
    return float(np.mean(np.array(risks) <= limit))
