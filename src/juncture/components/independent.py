"""`IndependentEmissions`: rows whose columns have emissions of their own, independent given the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import Any, Self

import numpy as np

from juncture.base.checks import check_iterable
from juncture.base.notes import Name, Notes
from juncture.components.contract import ColumnStates, Emissions, EmissionStatistics, is_seen, name_of_row
from juncture.errors import InvalidData, InvalidModel
from juncture.families.vectors.independent import Independent


class IndependentEmissions(Emissions):
    """p(row | state) = Π p(column | state): a hole in one column leaves the others as they are.

    `parts` are emissions of a column each, or of several columns where their observations are vectors.
    """

    parts: tuple[Emissions, ...]

    def __init__(self, parts: Iterable[Emissions]) -> None:
        held = tuple(check_iterable(parts, "parts", error=InvalidModel))
        if not held or not all(isinstance(part, Emissions) for part in held):
            raise InvalidModel(f"independent columns have emissions each; got {held!r}")
        if len({part.num_states for part in held}) > 1:
            counts = ", ".join(str(part.num_states) for part in held)
            raise InvalidModel(f"the emissions of all columns have the same number of states; got {counts}")
        self._set(parts=held)

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return self.parts[0].num_states

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (sum(prod(part.event_shape) for part in self.parts),)

    @property
    def column_states(self) -> ColumnStates:
        """Those of the columns of each part, in order."""
        return tuple(states for part in self.parts for states in part.column_states)

    @property
    def num_parameters(self) -> int:
        return sum(part.num_parameters for part in self.parts)

    def columns(self, rows: np.ndarray) -> list[np.ndarray]:
        """The observations of each part."""
        ends = accumulate((prod(part.event_shape) for part in self.parts), initial=0)
        pieces = zip(self.parts, pairwise(ends), strict=True)
        return [rows[:, start:end].reshape(len(rows), *part.event_shape) for part, (start, end) in pieces]

    def check(self, rows: np.ndarray, name_row: Name = name_of_row) -> np.ndarray:
        for part, column in zip(self.parts, self.columns(rows), strict=True):
            part.check(column, name_row)
        return super().check(rows, name_row)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        total = np.zeros((len(rows), self.num_states))
        impossible = np.zeros(total.shape, bool)
        for part, column in zip(self.parts, self.columns(rows), strict=True):
            found = part.log_prob(column)
            impossible |= found == -np.inf
            total += np.where(impossible, 0.0, found)
        return np.where(impossible, -np.inf, total)

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = [part.sample(states, rng).reshape(len(states), prod(part.event_shape)) for part in self.parts]
        return np.concatenate(drawn, axis=1).astype(np.float64)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        columns = zip(self.parts, self.columns(rows), strict=True)
        found = [part.statistics(column, weights) for part, column in columns]
        return EmissionStatistics(weights[is_seen(rows)].sum(axis=0), found)

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        parts, notes = [], []
        for column, (part, found, own) in enumerate(
            zip(self.parts, statistics.parts, self._priors(prior), strict=True)
        ):
            learned, held = part.estimate_with_notes(found, own)
            parts.append(learned)
            notes.append(held.moved(of_column(column)))
        return type(self)(parts), Notes.joined(notes)

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        return sum(part.log_likelihood(own) for part, own in zip(self.parts, statistics.parts, strict=True))

    def log_prior(self, prior: Any) -> float:
        return sum(part.log_prior(own) for part, own in zip(self.parts, self._priors(prior), strict=True))

    def _priors(self, prior: Any) -> Sequence[Any]:
        """One prior per part, None for one without."""
        if prior is None:
            return [None] * len(self.parts)
        if not isinstance(prior, list | tuple) or len(prior) != len(self.parts):
            raise InvalidData(
                f"the prior of independent columns is a list of {len(self.parts)} priors, None for a column without; "
                f"got {prior!r}"
            )
        return prior

    @property
    def summary(self) -> str:
        return " × ".join(part.summary for part in self.parts)

    def take(self, states: Any) -> Self:
        return type(self)(part.take(states) for part in self.parts)

    def __getitem__(self, state: int) -> Independent:
        return Independent(part[state] for part in self.parts)

    def __repr__(self) -> str:
        return f"IndependentEmissions({list(self.parts)!r})"


def of_column(column: int) -> Callable[[int], tuple[int, str]]:
    return lambda state: (state, f"column {column} of ")
