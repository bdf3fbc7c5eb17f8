"""The perceptron: each misclassified point adds t·x to the weights, until all are on their sides.

Points are augmented by a 1 whose weight is the bias. A point is misclassified where t w·x ≤ margin: the boundary itself
counts as wrong, or the weights would never leave 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_flag, check_number
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator
from juncture.base.values import number_of, read_only
from juncture.errors import InvalidData, NotConvergedWarning, warn_user
from juncture.supervised.linear_classifiers.hyperplane import (
    Hyperplane,
    LinearDiscriminant,
    check_labels,
    check_points,
    read_points,
)
from juncture.supervised.regression.inputs_and_targets import read_weights

NO_MARGIN = 1e-12  # (γ/R)² this small is 0 up to rounding


class PerceptronFit(LinearDiscriminant):
    """A hyperplane, and how the perceptron came to it.

    Attributes
    ----------
    weights, bias
        (coordinate,), and the weight of the constant.
    converged
        Whether the last pass over the points found none misclassified.
    num_updates
        How many points changed the weights; in batch mode a step counts all the points that were misclassified.
    errors
        The number of points that each pass found misclassified.
    """

    converged: bool
    num_updates: int
    errors: tuple[int, ...]

    def __init__(self, weights: Any, bias: float, errors: Any) -> None:
        passes = tuple(errors)
        self._set(
            weights=read_only(weights, np.float64), bias=float(bias), converged=not passes[-1], num_updates=sum(passes),
            errors=passes,
        )  # fmt: skip

    @property
    def hyperplane(self) -> Hyperplane:
        """The boundary; weights that are all 0, as exclusive or may end with, have none."""
        return Hyperplane(self.weights, self.bias)._named(self.feature_names)

    def __repr__(self) -> str:
        how = "converged" if self.converged else "not converged"
        updates = number_of(self.num_updates, "update")
        return f"PerceptronFit({number_of(len(self.weights), 'weight')}, {how} after {updates})"


@one_path
def fit_perceptron(  # noqa: PLR0913 (options of one algorithm)
    points: Any,
    labels: Any,
    *,
    method: str = "stochastic",
    rate: float = 1.0,
    margin: float = 0.0,
    start: Any = None,
    max_epochs: int = 1000,
    shuffle: bool = False,
    weights: Any = None,
    rng: Any = None,
) -> PerceptronFit:
    """Learn a separating hyperplane by Rosenblatt's rule.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first.
    method
        "stochastic" changes the weights at each misclassified point, w ← w + η t x; "batch" descends the gradient of
        the perceptron criterion, w ← w + η Σ t x over all that are misclassified.
    rate
        η, positive. From zero weights and without a margin it scales the weights and changes nothing else.
    margin
        A point counts as misclassified unless t w·x is above this.
    start
        The first bias and weights, (1 + coordinate,), the bias first; 0 by default.
    max_epochs
        The most passes over the points. The rule never ends where the classes are not separable.
    shuffle
        Whether "stochastic" takes the points of each pass in a random order, and not in theirs.
    weights
        The weight of each point, which scales its step.
    rng
        The generator, or its seed, for the order.

    Returns
    -------
    PerceptronFit

    Examples
    --------
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = fit_perceptron(corners, [False, False, False, True])
    >>> found.converged, found.hyperplane.predict(corners).tolist()
    (True, [False, False, False, True])
    """
    places, names = read_points(points)
    signed, heavy = sign_points(places, labels, weights)
    run = apply_rule(
        signed,
        check_number(rate, "rate", above=0, finite=True) * heavy,
        read_start(start, signed.shape[1]),
        least=check_number(margin, "margin", least=0, finite=True),
        max_epochs=check_count(max_epochs, "max_epochs", least=1),
        is_batch=check_choice(method, ("stochastic", "batch"), "method") == "batch",
        generator=as_generator(rng) if check_flag(shuffle, "shuffle") else None,
    )
    warn_not_converged(run.errors)
    return PerceptronFit(run.weights[1:], run.weights[0], run.errors)._named(names)


class Run(NamedTuple):
    """The augmented weights at the end, and the errors of each pass."""

    weights: np.ndarray
    errors: tuple[int, ...]


def apply_rule(
    signed: np.ndarray,
    rates: np.ndarray,
    start: np.ndarray,
    *,
    least: float,
    max_epochs: int,
    is_batch: bool,
    generator: np.random.Generator | None,
) -> Run:
    """Pass over the points t (1, x) until one pass finds none misclassified; each of those adds its rate · t (1, x)."""
    from juncture.kernels.perceptron import pass_over_points

    points = np.ascontiguousarray(signed)
    current, errors, order = np.array(start), [1], np.arange(len(points))
    while errors[-1] and len(errors) <= max_epochs:
        if is_batch:
            wrong = points @ current <= least
            current += (wrong * rates) @ points
            errors.append(int(wrong.sum()))
        else:
            order = order if generator is None else generator.permutation(len(points))
            errors.append(int(pass_over_points(points, rates, order, least, current)))
    return Run(current, tuple(errors[1:]))


def perceptron_bound(points: Any, labels: Any) -> float:
    """The bound (R/γ)² on the number of updates of the perceptron from zero weights, without a margin (Novikoff).

    R is the length of the longest augmented point (1, x), γ the largest margin of augmented points that a hyperplane
    through the origin has.

    Parameters
    ----------
    points, labels
        As in `fit_perceptron`.

    Returns
    -------
    float
        Infinite where the classes are not separable.

    Examples
    --------
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> round(perceptron_bound(corners, [False, False, False, True]), 6)
    51.0
    >>> perceptron_bound(corners, [False, True, True, False])
    inf
    """
    from scipy.optimize import nnls

    signed, _ = sign_points(check_points(points), labels, None)
    unit = signed / np.sqrt((signed**2).sum(axis=1).max())
    # The shortest w with t w·x ≥ 1 by non-negative least squares (least distance programming, Lawson and Hanson).
    system = np.vstack([unit.T, np.ones(len(unit))])
    multipliers, _ = nnls(system, np.append(np.zeros(unit.shape[1]), 1.0))
    gap = 1.0 - float(multipliers.sum())
    if gap <= NO_MARGIN:
        return np.inf
    shortest = unit.T @ multipliers / gap
    return float(shortest @ shortest)


def sign_points(places: np.ndarray, labels: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
    """t (1, x) of each point, and its weight; points without a weight are left out."""
    signs = np.where(check_labels(labels, len(places)), 1.0, -1.0)
    heavy = read_weights(weights, len(places))
    signed = signs[:, None] * np.column_stack([np.ones(len(places)), places])
    return signed[heavy > 0], heavy[heavy > 0]


def read_start(start: Any, size: int) -> np.ndarray:
    if start is None:
        return np.zeros(size)
    first = check_array(start, "start", ndim=1)
    if len(first) != size or not np.isfinite(first).all():
        raise InvalidData(f"start has the bias and {number_of(size - 1, 'weight')}, finite; got {len(first)} numbers")
    return first


def warn_not_converged(errors: tuple[int, ...]) -> None:
    """Say so if the last pass still found misclassified points."""
    if errors[-1]:
        warn_user(
            f"the perceptron has not converged by the last of {len(errors)} passes, which found"
            f" {number_of(errors[-1], 'point')} misclassified; find_separation says whether the classes are separable",
            NotConvergedWarning,
        )
