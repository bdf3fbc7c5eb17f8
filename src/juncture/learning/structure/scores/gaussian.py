"""Local scores of real variables: a child is a linear function of its parents plus Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from math import lgamma, log, pi
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.learning.structure.constraints import check_positive
from juncture.learning.structure.data import check_complete, check_numbers
from juncture.learning.structure.scores.local_scores import NOTHING, score_subsets_one_by_one
from juncture.learning.structure.streamed.sums import SummedRows


@dataclass(frozen=True)
class BGe:
    """The Bayesian Gaussian score: the log-evidence of jointly Gaussian rows under a normal-Wishart prior.

    After Geiger and Heckerman (2002), as corrected by Kuipers, Moffa and Heckerman (2014). The prior mean is the mean
    of the data.

    Parameters
    ----------
    strength
        How many rows the prior mean is worth.
    degrees
        The degrees of freedom of the Wishart distribution; by default the number of variables plus two.
    """

    strength: float = 1.0
    degrees: float | None = None

    def __post_init__(self) -> None:
        check_positive(self.strength, "the strength of BGe")
        if self.degrees is not None:
            check_positive(self.degrees, "the degrees of BGe")


@dataclass(frozen=True, eq=False)
class Moments:
    """Rows of real variables, summed up: how many, and their scatter about the mean."""

    names: tuple[str, ...]
    num_rows: int
    weight: float
    scatter: np.ndarray

    @classmethod
    def of(cls, data: Dataset | SummedRows) -> Moments:
        check_complete(data)
        check_numbers(data)
        if isinstance(data, SummedRows):
            return cls.of_sums(data)
        values = np.array(data.arrays, dtype=np.float64).reshape(len(data.variables), len(data))
        weights = np.ones(len(data)) if data.weights is None else data.weights
        total = float(weights.sum())
        if not total > 0:
            raise InvalidData("no row has a weight: structure is learned from at least one row")
        centred = values - (values @ weights / total)[:, np.newaxis]
        centred[np.ptp(values[:, weights > 0], axis=1) == 0.0] = 0.0  # a mean of equal numbers may be off by rounding
        names = tuple(variable.name for variable in data.variables)
        return cls(names, len(data), total, (centred * weights) @ centred.T)

    @classmethod
    def of_sums(cls, rows: SummedRows) -> Moments:
        """Of rows that all are real: their one cell."""
        varies = rows.lowest < rows.highest  # else the scatter may be off by rounding
        return cls(rows.names, rows.num_rows, rows.weight, rows.moments.scatter[0] * varies * varies[:, np.newaxis])


class GaussianScores:
    """A family's score is a difference: of the set with the child, less that of the parents alone."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments

    @property
    def names(self) -> tuple[str, ...]:
        return self.moments.names

    @property
    def num_rows(self) -> int:
        return self.moments.num_rows

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        sets = ([*parents, one] if one != NOTHING else list(parents) for one in candidates)
        return np.array([self.set_score([*one, child]) - self.set_score(one) for one in sets])

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        return score_subsets_one_by_one(self, child, needed, free, most)

    def set_score(self, positions: list[int]) -> float:
        raise NotImplementedError


class GaussianLikelihoodScores(GaussianScores):
    """The log-likelihood at its maximum, less a cost for each mean, weight and variance."""

    def __init__(self, moments: Moments, cost: float) -> None:
        super().__init__(moments)
        self.cost = cost

    def set_score(self, positions: list[int]) -> float:
        """-½ n (log |2π Σ̂| + d) - cost · (d means and d (d + 1) / 2 covariances)."""
        size, weight = len(positions), self.moments.weight
        log_volume = log_determinant(self.moments, positions) - size * log(weight)
        num_parameters = size + size * (size + 1) / 2
        return -0.5 * weight * (size * log(2 * pi) + log_volume + size) - self.cost * num_parameters


class GaussianEvidenceScores(GaussianScores):
    """The evidence of the columns of a set, all others integrated out."""

    def __init__(self, moments: Moments, prior: BGe) -> None:
        super().__init__(moments)
        self.strength = prior.strength
        least = len(moments.names) + 1
        self.degrees = least + 1 if prior.degrees is None else prior.degrees
        if self.degrees <= least:
            raise InvalidData(f"the degrees of BGe must be more than {least}, the variables and 1; got {self.degrees}")

    @cached_property
    def scale(self) -> float:
        """The prior scatter of each variable."""
        return self.strength * (self.degrees - len(self.moments.names) - 1) / (self.strength + 1)

    def set_score(self, positions: list[int]) -> float:
        size, weight, strength = len(positions), self.moments.weight, self.strength
        if not size:
            return 0.0
        degrees = self.degrees - len(self.moments.names) + size
        posterior = self.moments.scatter[np.ix_(positions, positions)] + self.scale * np.eye(size)
        return (
            -0.5 * size * weight * log(pi)
            + 0.5 * size * log(strength / (strength + weight))
            + log_multigamma(0.5 * (degrees + weight), size)
            - log_multigamma(0.5 * degrees, size)
            + 0.5 * degrees * size * log(self.scale)
            - 0.5 * (degrees + weight) * float(np.linalg.slogdet(posterior)[1])
        )


def log_multigamma(value: float, size: int) -> float:
    """log Γ_d(x), without the power of π, which cancels."""
    return sum(lgamma(value - 0.5 * index) for index in range(size))


def log_determinant(moments: Moments, positions: list[int]) -> float:
    """log |scatter|, of the correlations and the scales separately, as columns may have any unit."""
    if not positions:
        return 0.0
    for index in positions:
        if moments.scatter[index, index] == 0.0:
            raise InvalidData(
                f"the column {moments.names[index]!r} has the same number in every row, so that the likelihood has no"
                " maximum: leave it out, or take score='bge'"
            )
    scatter = moments.scatter[np.ix_(positions, positions)]
    scales = np.sqrt(scatter.diagonal())
    correlations = scatter / scales / scales[:, np.newaxis]
    sign, value = np.linalg.slogdet(correlations)
    if sign <= 0 or np.linalg.matrix_rank(correlations, hermitian=True) < len(positions):
        names = ", ".join(repr(moments.names[index]) for index in positions)
        raise InvalidData(
            f"the columns {names} lie on a plane in these rows, so that the likelihood has no maximum:"
            " drop one of them, take more rows, allow fewer parents with `max_parents`, or take score='bge'"
        )
    return float(value + 2.0 * np.log(scales).sum())


@singledispatch
def gaussian_scores(score: Any, data: Dataset | SummedRows) -> GaussianScores:
    """The local scores of real variables under a score."""
    if not callable(getattr(score, "cost", None)):
        raise Unsupported(f"the score {score!r} is not one of real variables; take 'bic' or 'bge'")
    moments = Moments.of(data)
    return GaussianLikelihoodScores(moments, score.cost(moments.weight))


@gaussian_scores.register
def _(score: BGe, data: Dataset | SummedRows) -> GaussianScores:
    return GaussianEvidenceScores(Moments.of(data), score)
