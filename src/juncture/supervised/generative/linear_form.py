"""The log-linear form of generative classifiers: where log p(row | class) is linear in the row, so are the log odds.

An exponential family p(x | η) = h(x) exp(η · x - A(η)) has the weights η and the constant -A(η); h(x) is shared by all
classes and cancels. Gaussians with one covariance Σ have the weights Σ⁻¹μ and the constant -½ μᵀΣ⁻¹μ: their quadratic
term is shared too.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_iterable, is_iterable
from juncture.base.values import Value, read_only
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.contract import Emissions
from juncture.components.family import FamilyEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.repeated import RepeatedEmissions
from juncture.components.word_counts import MultinomialCounts
from juncture.errors import InvalidData, Unsupported, hint
from juncture.families.continuous.exponential import Exponential
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.poisson import Poisson
from juncture.numerics import stable
from juncture.variables import State

Terms = tuple[np.ndarray, np.ndarray]  # weights (class, column), constants (class,)


class LinearForm(Value):
    """log p(class | row) = weights[class] · row + intercepts[class] + what all classes share.

    Parameters
    ----------
    weights
        (class, column).
    intercepts
        (class,); the logarithms of the prior are in them.
    classes
        Their labels; by default 0, 1 and so on.

    Examples
    --------
    >>> form = LinearForm([[0.0], [2.0]], [0.0, -2.0], ["low", "high"])
    >>> weights, intercept = form.log_odds("high", "low")
    >>> weights.tolist(), intercept
    ([2.0], -2.0)
    """

    _fields = ("weights", "intercepts", "classes")
    weights: np.ndarray
    intercepts: np.ndarray
    classes: tuple[State, ...]

    def __init__(self, weights: Any, intercepts: Any, classes: Any = None) -> None:
        table, constants = check_array(weights, "weights", ndim=2), check_array(intercepts, "intercepts", ndim=1)
        names = tuple(range(len(table)) if classes is None else check_iterable(classes, "classes"))
        if not len(table) == len(constants) == len(names):
            raise InvalidData(
                "weights, intercepts and classes have one entry a class;"
                f" got {len(table)}, {len(constants)} and {len(names)}"
            )
        self._set(weights=read_only(table), intercepts=read_only(constants), classes=names)

    def log_odds(self, one: State, other: State) -> tuple[np.ndarray, float]:
        """(w, b) with log p(one | row) / p(other | row) = w · row + b."""
        first, second = self._code(one), self._code(other)
        return self.weights[first] - self.weights[second], float(self.intercepts[first] - self.intercepts[second])

    def _code(self, label: State) -> int:
        if (is_iterable(label) and not isinstance(label, str)) or label not in self.classes:
            raise InvalidData(f"there is no class {label!r}; {hint(label, self.classes)}")
        return self.classes.index(label)

    def __repr__(self) -> str:
        return f"LinearForm({len(self.classes)} classes, {self.weights.shape[1]} columns)"


@singledispatch
def linear_form(densities: Emissions) -> Terms:
    """The weights and the constants of log p(row | class), up to what all classes share."""
    raise Unsupported(f"log p(row | class) is not linear in the row for {densities.summary}: there are no weights")


@linear_form.register
def _(densities: BernoulliEmissions) -> Terms:
    ones, zeros = densities.log_tables
    return finite_terms(ones - zeros, zeros.sum(axis=1))


@linear_form.register
def _(densities: MultinomialCounts) -> Terms:
    return finite_terms(densities.log_table, np.zeros(densities.num_states))


@linear_form.register
def _(densities: GaussianEmissions) -> Terms:
    covariance = densities.full.covariance
    if not (covariance == covariance[0]).all():
        raise Unsupported(
            "Gaussians whose covariances differ have log odds that are quadratic in the row: there are no weights; let"
            ' them share one, as structure="tied" does'
        )
    weights = np.linalg.solve(covariance[0], densities.means.T).T
    return weights, -0.5 * np.einsum("kd,kd->k", weights, densities.means)


@linear_form.register
def _(densities: IndependentEmissions) -> Terms:
    parts = [linear_form(part) for part in densities.parts]
    return np.concatenate([weights for weights, _ in parts], axis=1), sum(constants for _, constants in parts)  # type: ignore[return-value]


@linear_form.register
def _(densities: RepeatedEmissions) -> Terms:
    weights, constants = linear_form(densities.column)
    return np.repeat(weights, densities.num_columns, axis=1), constants * densities.num_columns


@linear_form.register
def _(densities: FamilyEmissions) -> Terms:
    family: Any = densities.family
    if type(family) not in NATURAL:
        raise Unsupported(f"log p of {type(family).__name__} is not linear in the observation: there are no weights")
    natural, partition = NATURAL[type(family)](family)
    shape = (densities.num_states, 1)
    return finite_terms(np.broadcast_to(natural, shape[:1]).reshape(shape), -np.broadcast_to(partition, shape[:1]))


NATURAL: dict[type, Any] = {  # (η, A(η)) of families whose sufficient statistic is the observation
    Bernoulli: lambda family: (
        stable.log(family.probability) - stable.log(1.0 - np.asarray(family.probability)),
        -stable.log(1.0 - np.asarray(family.probability)),
    ),
    Poisson: lambda family: (stable.log(family.rate), np.asarray(family.rate)),
    Exponential: lambda family: (-np.asarray(family.rate), -stable.log(family.rate)),
    Geometric: lambda family: (
        stable.log(1.0 - np.asarray(family.probability)),
        -stable.log(family.probability),
    ),
}


def hyperplane(densities: Emissions, weights: np.ndarray, intercept: float, codes: tuple[int, int]) -> Terms:
    """(w, x0): two Gaussian classes with one covariance are equally probable where w · (row - x0) = 0.

    x0 lies on the line through the means: half-way if both are equally probable, else farther from the likelier.
    """
    if not isinstance(densities, GaussianEmissions):
        raise Unsupported(f"a hyperplane with a point between means is one of Gaussians; got {densities.summary}")
    one, other = densities.means[list(codes)]
    slope = float(weights @ (one - other))
    if not slope:
        raise Unsupported("two classes with the same mean and covariance have no hyperplane between them")
    middle = 0.5 * (one + other)
    return weights, middle - (weights @ middle + intercept) / slope * (one - other)


def finite_terms(weights: np.ndarray, constants: np.ndarray) -> Terms:
    if not (np.isfinite(weights).all() and np.isfinite(constants).all()):
        raise Unsupported("a probability is 0 or 1, so that a weight would be infinite: learn with a pseudo-count")
    return weights, constants
