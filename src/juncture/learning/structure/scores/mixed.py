"""Local scores of columns with states and real columns together: tables, and lines with Gaussian noise.

A real child has a line and a variance for each combination of its discrete parents' states (a conditional Gaussian,
Lauritzen and Wermuth 1989). A child with states has no real parents: such edges are not possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, prod
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.tables.distinct import distinct_rows
from juncture.errors import InvalidData, Unsupported
from juncture.learning.structure.data import check_complete, check_numbers, names_of, total_weight
from juncture.learning.structure.scores.discrete import DiscreteScores, discrete_scores
from juncture.learning.structure.scores.local_scores import NOTHING, score_subsets_one_by_one
from juncture.learning.structure.streamed.sums import SummedRows
from juncture.numerics.stable import LOG_TWO_PI, grouped_moments

NOTHING_LEFT = 1e-12  # a share of the variance that is rounding
MAX_KEPT = 2**28  # bytes of moments that are kept
UNKNOWN: Any = object()  # what is not kept


@dataclass(frozen=True, eq=False)
class GroupedScatter:
    """The scatter of the real columns about the means of each group of rows."""

    weight: np.ndarray  # (group,)
    scatter: np.ndarray  # (group, real, real)
    fewest: int  # rows in a group

    def left_by(self, parents: Sequence[int]) -> np.ndarray | None:
        """What lines through the parents leave of the scatter; None where the rows do not determine the lines."""
        if self.fewest <= len(parents) + 1:
            return None
        left = self.scatter.copy()
        for parent in parents:
            pivot = left[:, parent, parent]
            if not (pivot > NOTHING_LEFT * self.scatter[:, parent, parent]).all():
                return None
            slopes = left[:, :, parent] / pivot[:, None]
            left -= slopes[:, :, None] * left[:, None, parent, :]
        return left

    def log_likelihood(self, squares: np.ndarray, child: int) -> float:
        """At its maximum, from the squares about the lines; -inf where it has none, as the squares are 0."""
        if not (squares > NOTHING_LEFT * self.scatter[:, child, child]).all():
            return -np.inf
        return float(-0.5 * self.weight @ (LOG_TWO_PI + 1.0 + np.log(squares / self.weight)))

    def score(self, child: int, parents: Sequence[int]) -> float:
        left = self.left_by(parents)
        return -np.inf if left is None else self.log_likelihood(left[:, child, child], child)

    def score_with(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> list[float]:
        """With each of the candidates as one more parent; what the other parents leave is computed once."""
        left = self.left_by(parents)
        if left is None or self.fewest <= len(parents) + 2:
            return [-np.inf] * len(candidates)
        return [self._with_one(left, child, one) for one in candidates]

    def _with_one(self, left: np.ndarray, child: int, parent: int) -> float:
        pivot = left[:, parent, parent]
        if not (pivot > NOTHING_LEFT * self.scatter[:, parent, parent]).all():
            return -np.inf
        return self.log_likelihood(left[:, child, child] - left[:, child, parent] ** 2 / pivot, child)


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Cells of rows with the same states, from whose moments those of wider groups are added up by Chan's formula."""

    values: np.ndarray  # (cell, real): the means of real columns, in units of their deviations
    scatter: np.ndarray | None  # (cell, real, real): about these means; None where each row is a cell
    codes: tuple[np.ndarray, ...]  # (cell,) for each column with states
    sizes: tuple[int, ...]
    weights: np.ndarray  # (cell,)
    counts: np.ndarray  # (cell,): of rows
    kept: dict[tuple[int, ...], GroupedScatter | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls, values: np.ndarray, codes: Sequence[np.ndarray], sizes: tuple[int, ...], weights: np.ndarray
    ) -> MixedRows:
        """Rows as cells; rows with the same states become one, where few combinations of states occur."""
        cell, firsts = distinct_rows(np.stack(codes, axis=1))
        if len(firsts) * values.shape[1] > len(values):
            return cls(values, None, tuple(codes), sizes, weights, np.ones(len(values), np.int64))
        weight, center, scatter = grouped_moments(values, cell, weights, len(firsts))
        counts = np.bincount(cell, minlength=len(firsts))
        return cls(center, scatter, tuple(one[firsts] for one in codes), sizes, weight, counts)

    @cached_property
    def num_rows(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def weight(self) -> float:
        return float(self.weights.sum())

    def given(self, discrete: tuple[int, ...]) -> GroupedScatter | None:
        """The scatter for each combination of states; None where a combination has fewer than two rows."""
        found = self.kept.get(discrete, UNKNOWN)
        if found is UNKNOWN:
            found = self._group(discrete)
            if sum(one.scatter.nbytes for one in list(self.kept.values()) if one is not None) > MAX_KEPT:
                self.kept.clear()
            self.kept[discrete] = found
        return found

    def _group(self, discrete: tuple[int, ...]) -> GroupedScatter | None:
        num_groups = prod(self.sizes[one] for one in discrete)
        if 2 * num_groups > self.num_rows:
            return None
        group = np.zeros(len(self.values), np.int64)
        for one in discrete:
            group = group * self.sizes[one] + self.codes[one]
        fewest = int(np.bincount(group, self.counts, minlength=num_groups).min())
        if fewest < 2:
            return None
        weight, _, scatter = grouped_moments(self.values, group, self.weights, num_groups)
        if self.scatter is not None:
            order = np.argsort(group, kind="stable")
            starts = np.searchsorted(group[order], np.arange(num_groups))
            scatter += np.add.reduceat(self.scatter[order], starts, axis=0)
        return GroupedScatter(weight, scatter, fewest)


@dataclass(frozen=True, eq=False)
class MixedScores:
    """The log-likelihood of each family at its maximum, less a cost for each free parameter."""

    names: tuple[str, ...]
    places: tuple[int, ...]  # of each column among those of its kind
    is_real: tuple[bool, ...]
    tables: DiscreteScores
    lines: MixedRows
    log_scales: np.ndarray  # (real,): logarithms of the deviations, the units of the lines
    cost: float

    @property
    def num_rows(self) -> int:
        """How many a score looks at: distinct ones, where few combinations of states occur."""
        return max(len(self.lines.values), self.tables.num_rows)

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        scores = np.full(len(candidates), -np.inf)
        if self.is_real[child]:
            return self._score_lines(child, parents, candidates, scores)
        if not any(self.is_real[one] for one in parents):
            possible = [index for index, one in enumerate(candidates) if one == NOTHING or not self.is_real[one]]
            joining = [candidates[i] if candidates[i] == NOTHING else self.places[candidates[i]] for i in possible]
            own = [self.places[one] for one in parents]
            scores[possible] = self.tables.score_extensions(self.places[child], own, joining)
        return scores

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        return score_subsets_one_by_one(self, child, needed, free, most)

    def _score_lines(
        self, child: int, parents: Sequence[int], candidates: Sequence[int], scores: np.ndarray
    ) -> np.ndarray:
        real = [self.places[one] for one in parents if self.is_real[one]]
        discrete = tuple(sorted(self.places[one] for one in parents if not self.is_real[one]))
        place, groups = self.places[child], self.lines.given(discrete)
        joining = [index for index, one in enumerate(candidates) if one != NOTHING and self.is_real[one]]
        if groups is not None and joining:
            found = groups.score_with(place, real, [self.places[candidates[index]] for index in joining])
            scores[joining] = np.array(found) - self._penalty(place, discrete, len(real) + 1)
        for index, one in enumerate(candidates):
            if one == NOTHING or not self.is_real[one]:
                wider = discrete if one == NOTHING else tuple(sorted((*discrete, self.places[one])))
                within = self.lines.given(wider)
                if within is not None:
                    scores[index] = within.score(place, real) - self._penalty(place, wider, len(real))
        return scores

    def _penalty(self, child: int, discrete: Sequence[int], num_slopes: int) -> float:
        """The cost of a line and a variance for each combination of states; the rest undoes the child's unit."""
        num_groups = prod(self.lines.sizes[one] for one in discrete)
        return self.cost * num_groups * (num_slopes + 2) + self.lines.weight * float(self.log_scales[child])


def mixed_scores(score: Any, data: Dataset | SummedRows) -> MixedScores:
    """The local scores of columns with states and real columns under a score that counts parameters."""
    if not callable(getattr(score, "cost", None)):
        raise Unsupported(
            f"the score {score!r} is not one of columns with states and real columns together; take 'bic' or 'aic'"
        )
    check_complete(data)
    check_numbers(data)
    is_real = tuple(variable.is_real for variable in data.variables)
    discrete = [variable for variable in data.variables if not variable.is_real]
    places = tuple(sum(kind == own for kind in is_real[:index]) for index, own in enumerate(is_real))
    weight = total_weight(data)
    if not weight > 0.0:
        raise InvalidData("no row has a weight: structure is learned from at least one row")
    cost = float(score.cost(weight))
    states = data.cells if isinstance(data, SummedRows) else data.only(variable.name for variable in discrete)
    tables = discrete_scores(states, "likelihood", cost)
    lines, log_scales = lines_of_sums(data) if isinstance(data, SummedRows) else lines_of_rows(data)
    return MixedScores(names_of(data), places, is_real, tables, lines, log_scales, cost)


def lines_of_rows(data: Dataset) -> tuple[MixedRows, np.ndarray]:
    """The cells of rows in memory, in units of deviations, and the logarithms of these."""
    weights = np.ones(len(data)) if data.weights is None else np.asarray(data.weights, float)
    discrete = [variable for variable in data.variables if not variable.is_real]
    seen = weights > 0
    codes = [data.columns[variable.name].astype(np.int64)[seen] for variable in discrete]
    values, log_scales = standardise(data, weights)
    sizes = tuple(variable.num_states for variable in discrete)
    return MixedRows.of(values[seen], codes, sizes, weights[seen]), log_scales


def lines_of_sums(rows: SummedRows) -> tuple[MixedRows, np.ndarray]:
    """The same of rows past memory."""
    names = [variable.name for variable in rows.variables if variable.is_real]
    check_varies(names, rows.highest - rows.lowest)
    weight, center, scatter = rows.moments
    apart = center - weight @ center / weight.sum()
    squares = scatter.diagonal(axis1=1, axis2=2).sum(axis=0) + weight @ apart**2
    deviations = np.sqrt(squares / weight.sum())
    sizes = tuple(variable.num_states for variable in rows.variables if not variable.is_real)
    standard = (apart / deviations, scatter / np.outer(deviations, deviations))
    return MixedRows(*standard, tuple(rows.codes), sizes, weight, rows.counts), np.log(deviations)


def standardise(data: Dataset, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(real columns about their means in units of their deviations, logarithms of the deviations)."""
    names = [variable.name for variable in data.variables if variable.is_real]
    values = np.stack([data.columns[name] for name in names], axis=1)  # (row, real)
    check_varies(names, np.ptp(values[weights > 0], axis=0))
    values = values - weights @ values / weights.sum()
    deviations = np.sqrt(weights @ values**2 / weights.sum())
    return values / deviations, np.array([log(one) for one in deviations])


def check_varies(names: Sequence[str], reaches: np.ndarray) -> None:
    for name, reach in zip(names, reaches, strict=True):
        if reach == 0.0:
            raise InvalidData(
                f"the column {name!r} has the same number in every row, so that the likelihood has no maximum:"
                " leave it out"
            )
