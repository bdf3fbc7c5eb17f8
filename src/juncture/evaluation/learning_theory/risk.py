"""Risks under a known distribution of examples, exactly; and empirical risk minimisation.

The risk of what was learned splits into that of the best of its class and the estimation error. Empirical risk is
minimised for thresholds, exactly, and over nested classes (structural risk); trials say how often learning is
approximately correct.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from juncture.base.checks import (
    as_float,
    check_array,
    check_count,
    check_function,
    check_iterable,
    check_mapping,
    check_number,
    check_tuples,
    shown,
)
from juncture.base.options import as_generator
from juncture.base.shown import Shown, shown_html
from juncture.errors import InvalidData
from juncture.evaluation.learning_theory.bounds import capacity, check_delta
from juncture.supervised.linear_classifiers.decision_function import check_labels

Predictor: TypeAlias = Callable[[Any], Any]
Loss: TypeAlias = Callable[[Any, Any], float]
LOSSES: dict[str, Loss] = {
    "zero-one": lambda target, predicted: float(target != predicted),
    "squared": lambda target, predicted: (target - predicted) ** 2,
    "absolute": lambda target, predicted: abs(target - predicted),
}
SUM_TOLERANCE = 1e-9


def risk(predict: Predictor, distribution: Mapping[tuple[Any, Any], float], loss: Any = "zero-one") -> float:
    """The risk E[loss(t, predict(x))] of a predictor under a known distribution of (x, t), exactly.

    Parameters
    ----------
    predict
        A function from an input x to a prediction.
    distribution
        The probability of each pair (x, t) that has one; they sum to 1.
    loss
        "zero-one", "squared", "absolute", or a function of the target and the prediction.

    Returns
    -------
    float

    Examples
    --------
    >>> p0 = {(0, "no"): 0.4, (0, "yes"): 0.1, (1, "no"): 0.2, (1, "yes"): 0.3}
    >>> round(risk(lambda x: "yes" if x else "no", p0), 3)
    0.3
    """
    check_function(predict, "predict")
    return average_loss(predict, check_distribution(distribution), as_loss(loss))


def average_loss(predict: Predictor, weighted: Mapping[tuple[Any, Any], float], loss: Loss) -> float:
    """Σ weight · loss; pairs of weight 0 are not asked about."""
    parts = [mass * value_of(loss, target, predict(x)) for (x, target), mass in weighted.items() if mass > 0]
    return float(sum(parts))


def value_of(loss: Loss, target: Any, predicted: Any) -> float:
    try:
        value = loss(target, predicted)
    except TypeError:
        raise InvalidData(
            f"the loss cannot compare the target {shown(target)} with the prediction {shown(predicted)}"
        ) from None
    return check_number(value, "a loss")


def as_loss(loss: Any) -> Loss:
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    if not callable(loss):
        raise InvalidData(f"the loss is a function, or one of {', '.join(map(repr, LOSSES))}; got {shown(loss)}")
    function: Loss = loss
    return function


def check_distribution(distribution: Any) -> dict[tuple[Any, Any], float]:
    """Probabilities of pairs that sum to 1."""
    given = check_mapping(distribution, "the distribution of (x, t)")
    check_tuples(list(given), 2, "the distribution of (x, t)")
    masses = {pair: as_float(mass) for pair, mass in given.items()}
    if not all(mass >= 0 for mass in masses.values()) or abs(sum(masses.values()) - 1) > SUM_TOLERANCE:
        raise InvalidData("the probabilities of the pairs (x, t) are numbers of at least 0 that sum to 1")
    return masses


@dataclass(frozen=True)
class RiskDecomposition(Shown):
    """The risk of what was learned, split into that of the best of a class and the estimation error.

    Attributes
    ----------
    chosen, best
        The positions of the hypothesis with the smallest empirical risk, and of that with the smallest risk; the first
        of equal ones.
    empirical_risk
        Of the chosen hypothesis, on the examples.
    risk
        Of the chosen hypothesis, under the distribution: `best_risk` + `estimation_error`.
    best_risk
        The smallest risk in the class, its bias: more examples do not lower it, a larger class may.
    estimation_error
        What learning from examples adds; it falls with the number of examples and grows with the class.
    """

    chosen: int
    best: int
    empirical_risk: float
    risk: float
    best_risk: float

    @property
    def estimation_error(self) -> float:
        return self.risk - self.best_risk


def decompose_risk(
    hypotheses: Iterable[Predictor],
    distribution: Mapping[tuple[Any, Any], float],
    examples: Iterable[tuple[Any, Any]],
    loss: Any = "zero-one",
) -> RiskDecomposition:
    """Split the expected risk of empirical risk minimisation over finitely many hypotheses into its parts.

    Parameters
    ----------
    hypotheses
        Functions from an input to a prediction.
    distribution
        The probability of each pair (x, t).
    examples
        Pairs (x, t) to learn from.
    loss
        As in `risk`.

    Returns
    -------
    RiskDecomposition

    Examples
    --------
    >>> p0 = {(x, int(x >= 2)): 0.25 for x in range(4)}
    >>> thresholds = [lambda x, a=a: int(x >= a) for a in range(5)]
    >>> found = decompose_risk(thresholds, p0, [(0, 0), (3, 1)])
    >>> found.risk, found.best_risk, found.estimation_error  # 1 is as good as 2 on the examples
    (0.25, 0.0, 0.25)
    """
    functions = [check_function(one, "a hypothesis") for one in check_iterable(hypotheses, "the hypotheses")]
    masses, compare = check_distribution(distribution), as_loss(loss)
    seen = check_tuples(examples, 2, "the examples")
    if not functions or not seen:
        raise InvalidData("learning needs at least one hypothesis and one example")
    training = [sum(value_of(compare, target, function(x)) for x, target in seen) / len(seen) for function in functions]
    risks = [average_loss(function, masses, compare) for function in functions]
    chosen, best = training.index(min(training)), risks.index(min(risks))
    return RiskDecomposition(chosen, best, training[chosen], risks[chosen], risks[best])


class ThresholdFit(NamedTuple):
    """A threshold and the share of examples that it labels wrongly."""

    threshold: float
    risk: float

    def _repr_html_(self) -> str:
        return shown_html(self)


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
class StructuralRisk(Shown):
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


def structural_risk(risks: Sequence[float], sizes: Sequence[int], num_rows: Any, delta: Any) -> StructuralRisk:
    """Structural risk minimisation: the class whose empirical risk plus penalty is smallest.

    Parameters
    ----------
    risks
        The smallest empirical risk of each class.
    sizes
        The number of hypotheses of each class.
    num_rows
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
    number, doubt = check_count(num_rows, "num_rows", least=1), math.log(1 / check_delta(delta))
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
    rng: Any = None,
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
        The seed, or a generator; fresh by default.

    Returns
    -------
    float
        The share of trials. Learning is probably approximately correct where it is at least 1 - δ.

    Examples
    --------
    >>> def learn(rng):  # thresholds; the right one is 0, and x is uniform on [-1, 1]
    ...     x = rng.uniform(-1, 1, size=37)
    ...     return min(abs(fit_threshold(x, x >= 0).threshold), 1.0) / 2
    >>> pac_frequency(learn, 0.0, 0.1, rng=0) >= 0.95
    True
    """
    check_function(learn, "learn")
    limit = check_number(best_risk, "best_risk", least=0) + check_number(epsilon, "epsilon", above=0)
    trials, generator = check_count(num_trials, "num_trials", least=1), as_generator(rng)
    risks = [check_number(learn(generator), "the risk that `learn` returns") for _ in range(trials)]
    return float(np.mean(np.array(risks) <= limit))
