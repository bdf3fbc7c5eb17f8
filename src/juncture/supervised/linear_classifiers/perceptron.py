"""The perceptron: each misclassified point adds t·x to the weights, until all are on their sides.

Points are augmented by a 1 whose weight is the bias. A point is misclassified where t w·x ≤ margin: the boundary itself
counts as wrong, or the weights would never leave 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_flag, check_number
from juncture.base.options import Options, as_generator, as_seed
from juncture.base.values import number_of
from juncture.errors import NotConvergedWarning, warn_user
from juncture.numerics.iteration import Trace
from juncture.supervised.linear_classifiers.decision_function import (
    BinaryRows,
    DecisionFit,
    check_points,
    read_binary,
)
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane

NO_MARGIN = 1e-12  # (γ/R)² this small is 0 up to rounding


class PerceptronFit(DecisionFit):
    """A hyperplane, and how the perceptron came to it.

    Attributes
    ----------
    model
        The `Hyperplane`; its weights may all be 0 where the classes are not separable.
    trace
        `trace.values` are the numbers of points that each pass found misclassified, `trace.converged` whether the last
        one found none.
    training_error, log_likelihood, statistics, seed
        As those of `DecisionFit`; the seed is that of the order of the points, where it is random.
    """

    @property
    def errors(self) -> tuple[int, ...]:
        """The number of points that each pass found misclassified."""
        return tuple(map(int, self.trace.values))

    @property
    def num_updates(self) -> int:
        """How many points changed the weights; in batch mode a step counts all the points that were misclassified."""
        return sum(self.errors)


@dataclass(frozen=True)
class Perceptron(Options):
    """Learn a separating hyperplane by Rosenblatt's rule.

    From a class, as in `jt.fit(jt.supervised.Hyperplane, X, y, method="perceptron")`, the weights start at 0; from a
    hyperplane they start there.

    Parameters
    ----------
    batch
        False changes the weights at each misclassified point, w ← w + η t x; True descends the gradient of the
        perceptron criterion, w ← w + η Σ t x over all that are misclassified.
    learning_rate
        η, positive. From zero weights and without a margin it scales the weights and changes nothing else.
    margin
        A point counts as misclassified unless t w·x is above this.
    epochs
        The most passes over the points. The rule never ends where the classes are not separable.
    shuffle
        Whether the points of each pass are taken in a random order, and not in theirs.

    Examples
    --------
    >>> import juncture as jt
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = jt.fit(jt.supervised.Hyperplane, corners, [0, 0, 0, 1], method=Perceptron(epochs=50))
    >>> found.trace.converged, found.model.predict(corners).tolist()
    (True, [0, 0, 0, 1])
    """

    batch: bool = False
    learning_rate: float = 1.0
    margin: float = 0.0
    epochs: int = 1000
    shuffle: bool = False

    def __post_init__(self) -> None:
        check_flag(self.batch, "batch")
        check_number(self.learning_rate, "learning_rate", above=0, finite=True)
        check_number(self.margin, "margin", least=0, finite=True)
        check_count(self.epochs, "epochs", least=1)
        check_flag(self.shuffle, "shuffle")

    def learn(self, rows: BinaryRows, start: Hyperplane | None, rng: Any) -> PerceptronFit:
        """The hyperplane after the last pass; a weight of a row scales its step."""
        signed, heavy = sign_points(rows)
        seed = as_seed(rng) if self.shuffle and not self.batch else None
        run = apply_rule(
            signed,
            self.learning_rate * heavy,
            np.zeros(signed.shape[1]) if start is None else np.append(start.bias, start.weights),
            least=self.margin,
            max_epochs=self.epochs,
            is_batch=self.batch,
            generator=None if seed is None else as_generator(seed),
        )
        warn_not_converged(run.errors)
        model = Hyperplane(run.weights[1:], run.weights[0], rows.classes)
        converged = not run.errors[-1]
        reason = "the last pass found no error" if converged else f"stopped after {number_of(self.epochs, 'epoch')}"
        trace = Trace(tuple(map(float, run.errors)), converged, reason)
        return PerceptronFit(model, trace, rows.error_of(model.activation(rows.places)), seed)


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


def perceptron_bound(X: Any, y: Any) -> float:
    """The bound (R/γ)² on the number of updates of the perceptron from zero weights, without a margin (Novikoff).

    R is the length of the longest augmented point (1, x), γ the largest margin of augmented points that a hyperplane
    through the origin has.

    Parameters
    ----------
    X
        (point, coordinate), or (point,) on a line.
    y
        The class of each point: two labels.

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

    places = check_points(X)
    classes, is_second = read_binary(y, len(places))
    signed, _ = sign_points(BinaryRows(places, is_second, classes))
    unit = signed / np.sqrt((signed**2).sum(axis=1).max())
    # The shortest w with t w·x ≥ 1 by non-negative least squares (least distance programming, Lawson and Hanson).
    system = np.vstack([unit.T, np.ones(len(unit))])
    multipliers, _ = nnls(system, np.append(np.zeros(unit.shape[1]), 1.0))
    gap = 1.0 - float(multipliers.sum())
    if gap <= NO_MARGIN:
        return np.inf
    shortest = unit.T @ multipliers / gap
    return float(shortest @ shortest)


def sign_points(rows: BinaryRows) -> tuple[np.ndarray, np.ndarray]:
    """t (1, x) of each point, and its weight; points without a weight are left out."""
    heavy = rows.heavy
    signed = rows.signs[:, None] * np.column_stack([np.ones(len(rows.places)), rows.places])
    return signed[heavy > 0], heavy[heavy > 0]


def warn_not_converged(errors: tuple[int, ...]) -> None:
    """Say so if the last pass still found misclassified points."""
    if errors[-1]:
        warn_user(
            f"the perceptron has not converged by the last of {len(errors)} passes, which found"
            f" {number_of(errors[-1], 'point')} misclassified; find_separation says whether the classes are separable",
            NotConvergedWarning,
        )
