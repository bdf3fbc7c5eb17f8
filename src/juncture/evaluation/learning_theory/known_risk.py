"""Risks under a known distribution of examples, exactly; and the split into the risk of a class and of learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from juncture.base.checks import (
    as_float,
    check_function,
    check_iterable,
    check_mapping,
    check_number,
    check_tuples,
    shown,
)
from juncture.errors import InvalidData

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
class RiskDecomposition:
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
    """Empirical risk minimisation over finitely many hypotheses, and how its risk comes about.

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
