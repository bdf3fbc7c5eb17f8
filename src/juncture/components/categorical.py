"""`CategoricalEmissions`: one of several symbols, by a table of probabilities."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
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
    name_of_row,
    raise_wrong_prior,
)
from juncture.components.densities import weight_of_codes
from juncture.data.tables.weights import check_prior_counts
from juncture.errors import InvalidData, InvalidModel
from juncture.families.discrete.categorical import Categorical
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.numerics import stable
from juncture.variables import State, Variable


class CategoricalEmissions(Emissions):
    """Emissions of discrete symbols: p(symbol | state) = probabilities[state, symbol].

    Parameters
    ----------
    probabilities
        (state, symbol); each row sums to 1.
    symbols
        The labels of the symbols; by default 0, 1, ….

    Examples
    --------
    >>> CategoricalEmissions([[0.9, 0.1], [0.2, 0.8]], symbols=["no", "umbrella"])[1]
    Categorical(probabilities=[0.2, 0.8])
    """

    is_table: ClassVar[bool] = True
    event_shape = ()
    probabilities: np.ndarray  # (state, symbol)
    symbols: tuple[State, ...]

    def __init__(self, probabilities: Any, symbols: Iterable[State] | None = None) -> None:
        shape = check_array(probabilities, "a table of emissions", error=InvalidModel).shape
        if len(shape) != 2 or 0 in shape:
            raise InvalidModel(f"a table of emissions is (state, symbol); got an array of the shape {shape}")
        table = check_table(probabilities, shape)
        labels = Variable("symbol", shape[1] if symbols is None else symbols).labels
        if len(labels) != shape[1]:
            raise InvalidModel(f"the table of emissions has {shape[1]} symbols; got {len(labels)} labels")
        self._set(probabilities=table, symbols=labels)

    def check_numbers(self) -> None:
        """Raise unless the constructor takes the table: where it was trusted, and may have overflowed."""
        check_table(self.probabilities, self.probabilities.shape)

    @classmethod
    def trusted(cls, like: CategoricalEmissions, probabilities: np.ndarray) -> Self:
        """Other probabilities of the same symbols, which are not checked again; the array becomes read-only."""
        probabilities.setflags(write=False)
        emissions = cls.__new__(cls)
        emissions._set(probabilities=probabilities, symbols=like.symbols)
        return emissions

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.probabilities)

    @property
    def num_symbols(self) -> int:
        return int(self.probabilities.shape[1])

    @property
    def column_states(self) -> ColumnStates:
        """The symbols."""
        return (self.symbols,)

    @property
    def num_parameters(self) -> int:
        return self.num_states * (self.num_symbols - 1)

    @cached_property
    def lookup(self) -> np.ndarray:
        """(code, state): the likelihoods of each symbol, and a last row of ones for what is missing."""
        return read_only(np.vstack([self.probabilities.T, np.ones(self.num_states)]))

    @cached_property
    def log_lookup(self) -> np.ndarray:
        """The logarithms of `lookup`."""
        return read_only(stable.log(self.lookup))

    def codes(self, rows: np.ndarray) -> np.ndarray:
        """The row of `lookup` for each observation."""
        if rows.dtype.kind != "f":
            return rows.astype(np.int64, copy=False)
        return np.where(np.isnan(rows), self.num_symbols, rows).astype(np.int64)

    def check(self, rows: np.ndarray, name_row: Name = name_of_row) -> np.ndarray:
        wrong = (rows < 0) | (rows >= self.num_symbols)
        if rows.dtype.kind == "f":
            wrong |= (rows != np.floor(rows)) & ~np.isnan(rows)
        if wrong.any():
            index = int(np.argmax(wrong))
            raise InvalidData(
                f"{name_row(index)} holds {rows[index]:g}; symbols are whole numbers from 0 to {self.num_symbols - 1}"
            )
        if rows.dtype.kind != "f" or np.isnan(rows).any():
            return rows
        return rows.astype(np.int64)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        return self.log_lookup.take(self.codes(rows), axis=0)

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        sums = np.cumsum(self.probabilities, axis=1)
        sums /= sums[:, -1:]
        chances, found = rng.random(len(states)), np.empty(len(states), np.int64)
        for state in np.unique(states):
            positions = states == state
            found[positions] = np.searchsorted(sums[state], chances[positions], side="right")
        return found

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        counts = weight_of_codes(self.codes(rows), weights, self.num_symbols + 1)
        seen = np.ascontiguousarray(counts[:-1].T)  # (state, symbol)
        return EmissionStatistics(seen.sum(axis=1), [seen])

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        counts = statistics.parts[0] + self._added(prior)
        totals = counts.sum(axis=1, keepdims=True)
        table = np.divide(counts, totals, out=self.probabilities.copy(), where=totals > DEAD)
        return self.trusted(self, table), NO_NOTES

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        return self._weighted_logs(statistics.parts[0])

    def log_prior(self, prior: Any) -> float:
        """Σ α log p, where α are the counts that the prior adds."""
        return self._weighted_logs(self._added(prior))

    def _weighted_logs(self, counts: np.ndarray) -> float:
        """Σ counts · log p, with 0 · log 0 = 0."""
        return float((counts * stable.log(np.where(counts > 0, self.probabilities, 1.0))).sum())

    def _added(self, prior: Any) -> np.ndarray:
        """The counts that a prior adds: a number to each cell, a Dirichlet its concentration less 1."""
        if prior is None:
            return np.zeros(self.probabilities.shape)
        added: np.ndarray
        if isinstance(prior, Real):
            added = np.full(self.probabilities.shape, float(prior))
        elif isinstance(prior, Dirichlet):
            added = np.asarray(prior.concentration) - 1
        else:
            raise_wrong_prior(prior, self, "a number, added to each count, or a Dirichlet")
        if added.shape[-1] != self.num_symbols or not (np.isfinite(added) & (added >= 0)).all():
            raise InvalidData(
                f"a prior of emissions over {self.num_symbols} symbols is a pseudo-count of at least 0, "
                f"or a Dirichlet over them with a concentration of at least 1; got {prior!r}"
            )
        return check_prior_counts(np.broadcast_to(added, self.probabilities.shape))

    def take(self, states: Any) -> Self:
        return type(self)(self.probabilities[self._positions(states)], self.symbols)

    @property
    def summary(self) -> str:
        return number_of(self.num_symbols, "symbol")

    def __getitem__(self, state: int) -> Categorical:
        return Categorical(self.probabilities[self._position(state)])

    def __repr__(self) -> str:
        return f"CategoricalEmissions({in_one_line(self.probabilities)})"


def check_table(probabilities: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A table of emissions, as users give it."""
    return stable.as_probabilities(probabilities, shape, name="the table of emissions")
