"""`RepeatedEmissions`: columns that are draws of one and the same distribution in each class (tied parameters)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.notes import Notes
from juncture.base.values import number_of
from juncture.components.contract import Emissions, EmissionStatistics, is_seen
from juncture.errors import InvalidModel
from juncture.families.vectors.independent import Independent


class RepeatedEmissions(Emissions):
    """p(row | class) = Π_j p(x_j | class), with one distribution of all columns in each class.

    Parameters
    ----------
    column
        The distribution of a cell in each class.
    num_columns
        The number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from juncture.components.convert import of_batch
    >>> from juncture.families.discrete.bernoulli import Bernoulli
    >>> tied = RepeatedEmissions(of_batch(Bernoulli([0.5, 0.25])), 3)
    >>> np.exp(tied.log_prob(np.array([[1.0, 0.0, np.nan]]))).round(4).tolist()
    [[0.25, 0.1875]]
    """

    column: Emissions
    num_columns: int

    def __init__(self, column: Emissions, num_columns: int) -> None:
        check_kind(column, Emissions, "the distribution of a cell", error=InvalidModel)
        if column.event_shape:
            raise InvalidModel(f"the cells of tied columns are numbers; got the event shape {column.event_shape}")
        self._set(column=column, num_columns=check_count(num_columns, "num_columns", least=1, error=InvalidModel))

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return self.column.num_states

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (self.num_columns,)

    @property
    def num_parameters(self) -> int:
        return self.column.num_parameters

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        found = self.column.log_prob(np.ascontiguousarray(rows).reshape(-1))
        return found.reshape(len(rows), self.num_columns, self.num_states).sum(axis=1)

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        drawn = self.column.sample(np.repeat(states, self.num_columns), rng)
        return np.asarray(drawn, np.float64).reshape(len(states), self.num_columns)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        cells = np.ascontiguousarray(rows).reshape(-1)
        found = self.column.statistics(cells, np.repeat(weights, self.num_columns, axis=0))
        return EmissionStatistics(weights.T @ is_seen(rows).astype(float), [found])

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        column, notes = self.column.estimate_with_notes(statistics.parts[0], prior)
        return type(self)(column, self.num_columns), notes

    def log_prior(self, prior: Any) -> float:
        return self.column.log_prior(prior)

    def take(self, states: Any) -> Self:
        return type(self)(self.column.take(states), self.num_columns)

    @property
    def summary(self) -> str:
        return f"{number_of(self.num_columns, 'column')} of one distribution, {self.column.summary}"

    def __getitem__(self, state: int) -> Independent:
        return Independent([self.column[state]] * self.num_columns)

    def __repr__(self) -> str:
        return f"RepeatedEmissions({self.column!r}, {self.num_columns})"
