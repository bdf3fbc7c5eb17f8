"""`BernoulliEmissions`: columns of zeros and ones, independent given the state, by matrix products."""

from __future__ import annotations

from functools import cached_property
from math import prod
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_array
from juncture.base.notes import NO_NOTES, Name, Notes
from juncture.base.values import number_of, read_only
from juncture.components.contract import (
    DEAD,
    ColumnStates,
    Emissions,
    EmissionStatistics,
    in_one_line,
    is_seen,
    name_of_row,
    raise_wrong_prior,
)
from juncture.data.tables.weights import check_prior_counts
from juncture.errors import InvalidData, InvalidModel
from juncture.families.continuous.beta import Beta
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.vectors.independent import Independent
from juncture.numerics import stable
from juncture.runtime.parallel import block_rows, map_blocks


class BernoulliEmissions(Emissions):
    """p(row | state) = Π p[state, j]^x_j (1 - p[state, j])^(1 - x_j); a hole leaves its factor out.

    With holes filled by 0, log p is linear in x: x · log p/(1-p) plus the sum of log(1-p). Rows may be a sparse matrix
    of SciPy, which has no holes.

    Parameters
    ----------
    probabilities
        p(1 | state), (state, column).

    Examples
    --------
    >>> import numpy as np
    >>> emissions = BernoulliEmissions([[0.5, 0.25], [0.5, 0.75]])
    >>> np.exp(emissions.log_prob(np.array([[1.0, 1.0], [np.nan, 0.0]]))).round(3).tolist()
    [[0.125, 0.375], [0.75, 0.25]]
    """

    is_table: ClassVar[bool] = True
    probabilities: np.ndarray  # (state, column)

    def __init__(self, probabilities: Any) -> None:
        table = check_array(probabilities, "probabilities of ones", error=InvalidModel)
        if table.ndim != 2 or 0 in table.shape:
            raise InvalidModel(f"probabilities of ones are (state, column); got an array of the shape {table.shape}")
        if not ((table >= 0) & (table <= 1)).all():
            raise InvalidModel("probabilities of ones are numbers from 0 to 1")
        self._set(probabilities=read_only(table + 0.0))

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.probabilities)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (int(self.probabilities.shape[1]),)

    @property
    def column_states(self) -> ColumnStates:
        """0 and 1 in each column."""
        return (2,) * prod(self.event_shape)

    @property
    def num_parameters(self) -> int:
        return int(self.probabilities.size)

    @cached_property
    def log_tables(self) -> tuple[np.ndarray, np.ndarray]:
        """(log p, log(1-p)), both (state, column)."""
        return read_only(stable.log(self.probabilities)), read_only(stable.log(1.0 - self.probabilities))

    def check(self, rows: np.ndarray, name_row: Name = name_of_row) -> np.ndarray:
        check_ones(rows)
        return super().check(rows, name_row)

    def log_prob(self, rows: Any) -> np.ndarray:
        found = self._linear(rows, *(np.where(np.isinf(table), 0.0, table) for table in self.log_tables))
        ones, zeros = (np.isinf(table) for table in self.log_tables)
        if ones.any() or zeros.any():
            found[self._linear(rows, ones.astype(float), zeros.astype(float)) > 0] = -np.inf
        return found

    def _linear(self, rows: Any, ones: np.ndarray, zeros: np.ndarray) -> np.ndarray:
        """Σ_j x_j ones[state, j] + (1 - x_j) zeros[state, j] over what is seen: (row, state)."""
        slope, constant = np.ascontiguousarray((ones - zeros).T), zeros.sum(axis=1)
        if not isinstance(rows, np.ndarray):
            return np.asarray(rows @ slope) + constant
        found = np.empty((len(rows), self.num_states))

        def fill(block: slice) -> None:
            own, holes = rows[block], np.isnan(rows[block])
            if not holes.any():
                found[block] = own @ slope + constant
            else:
                found[block] = np.where(holes, 0.0, own) @ slope + (~holes).astype(float) @ zeros.T

        map_blocks(fill, len(rows), block_rows(self.event_shape))
        return found

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((len(states), *self.event_shape)) < self.probabilities[states]).astype(np.float64)

    def statistics(self, rows: Any, weights: np.ndarray) -> EmissionStatistics:
        """The parts are the weight of ones and the weight of all seen cells: (state, column) each."""
        if not isinstance(rows, np.ndarray):
            total = weights.sum(axis=0)
            seen = np.repeat(total[:, None], self.event_shape[0], axis=1)
            return EmissionStatistics(total, [np.asarray(rows.T @ weights).T, seen])
        blocks = map_blocks(
            lambda block: count_ones(rows[block], weights[block]), len(rows), block_rows(self.event_shape)
        )
        empty = np.zeros((2, *self.probabilities.shape))
        ones, seen = np.sum(blocks, axis=0) if blocks else empty
        return EmissionStatistics(weights.T @ is_seen(rows).astype(float), [ones, seen])

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        ones, seen = statistics.parts
        more, less = self._added(prior)
        total = seen + more + less
        table = np.divide(ones + more, total, out=self.probabilities.copy(), where=total > DEAD)
        return type(self)(np.minimum(table, 1.0)), NO_NOTES

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        ones, seen = statistics.parts
        return self._weighted_logs(ones, np.maximum(seen - ones, 0.0))

    def log_prior(self, prior: Any) -> float:
        """Σ a log p + b log(1-p), where a and b are the counts that the prior adds."""
        return self._weighted_logs(*self._added(prior))

    def _weighted_logs(self, ones: np.ndarray, zeros: np.ndarray) -> float:
        """Σ ones · log p + zeros · log(1-p), with 0 · log 0 = 0."""
        tables = zip((ones, zeros), self.log_tables, strict=True)
        return float(sum((counts * np.where(counts > 0, table, 0.0)).sum() for counts, table in tables))

    def _added(self, prior: Any) -> tuple[np.ndarray, np.ndarray]:
        """The counts of ones and zeros that a prior adds: a number to both, a Beta(a, b) a - 1 and b - 1."""
        shape = self.probabilities.shape
        if prior is None or isinstance(prior, Real):
            added: tuple[Any, ...] = (float(prior or 0.0),) * 2
        elif isinstance(prior, Beta):
            added = tuple(np.asarray(part) - 1.0 for part in (prior.a, prior.b))
        else:
            raise_wrong_prior(prior, self, "a number, added to the counts of ones and zeros, or a Beta")
        if not all((np.isfinite(part) & (np.asarray(part) >= 0)).all() for part in added):
            raise InvalidData(
                "a prior of columns of zeros and ones is a pseudo-count of at least 0, or a Beta with parameters of at"
                f" least 1; got {prior!r}"
            )
        return check_prior_counts(np.broadcast_to(added[0], shape)), check_prior_counts(
            np.broadcast_to(added[1], shape)
        )

    def take(self, states: Any) -> Self:
        return type(self)(self.probabilities[self._positions(states)])

    @property
    def summary(self) -> str:
        return number_of(self.event_shape[0], "Bernoulli column")

    def __getitem__(self, state: int) -> Independent:
        return Independent([Bernoulli(one) for one in self.probabilities[self._position(state)]])

    def __repr__(self) -> str:
        return f"BernoulliEmissions({in_one_line(self.probabilities)})"


def count_ones(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(2, state, column): the weight of ones, and of all seen cells."""
    holes = np.isnan(rows)
    if not holes.any():
        ones = weights.T @ rows
        return np.stack([ones, np.broadcast_to(weights.sum(axis=0)[:, None], ones.shape)])
    return np.stack([weights.T @ np.where(holes, 0.0, rows), weights.T @ (~holes).astype(float)])


def check_ones(rows: Any) -> None:
    """Refuse cells that are neither 0 nor 1 nor missing."""
    if not isinstance(rows, np.ndarray):
        check_ones(rows.data[:, None])
        return

    def find(block: slice) -> tuple[int, float] | None:
        own = rows[block]
        wrong = own * own != own
        if wrong.any():
            wrong &= ~np.isnan(own)
        if not wrong.any():
            return None
        index = int(np.argmax(wrong.any(axis=1)))
        return block.start + index, float(own[index][wrong[index]][0])

    found = [each for each in map_blocks(find, len(rows), block_rows(rows.shape[1:])) if each]
    if found:
        raise InvalidData(
            f"cell {found[0][1]:g} (row {found[0][0]}) is in a column of zeros and ones: give it another family"
        )
