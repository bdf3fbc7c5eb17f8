"""`SharedEmissions`: laws of the observation of which several states have the same one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from juncture.components.contract import Emissions, EmissionStatistics, named
from juncture.data.sequences.sequences import Sequences
from juncture.errors import InvalidModel
from juncture.values import number_of, read_only


class SharedEmissions(Emissions):
    """p(observation | state) = the law number `groups[state]`; states with the same law learn it together.

    What emissions of the laws' kind have, such as `mean` or `probabilities`, these have too: for each state.
    """

    _fields = ("laws", "groups")
    laws: Emissions
    groups: np.ndarray  # (state,)

    def __init__(self, laws: Emissions, groups: Iterable[int]) -> None:
        numbers = read_only(list(groups), np.int64)
        if not numbers.size or not np.array_equal(np.unique(numbers), np.arange(laws.num_states)):
            raise InvalidModel(f"states share {laws.num_states} laws, numbered from 0 and all in use; got {numbers}")
        self._set(laws=laws, groups=numbers)

    @cached_property
    def of_states(self) -> Emissions:
        """The same laws, written out for each state."""
        return self.laws.take(self.groups)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in self._fields:
            raise AttributeError(name)
        return getattr(self.of_states, name)

    @property
    def is_table(self) -> bool:  # type: ignore[override]
        return self.laws.is_table

    @property
    def symbols(self) -> Any:  # type: ignore[override]
        return self.laws.symbols

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.groups)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.laws.event_shape

    @property
    def num_parameters(self) -> int:
        return self.laws.num_parameters

    def checked(self, sequences: Sequences) -> Sequences:
        return self.laws.checked(sequences)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        return self.laws.log_prob(rows)[:, self.groups]

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.laws.sample(self.groups[states], rng)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        member = (self.groups[:, None] == np.arange(self.laws.num_states)).astype(np.float64)  # (state, law)
        return self.laws.statistics(rows, weights @ member)

    def estimate(self, statistics: EmissionStatistics, prior: Any = None) -> Self:
        with named(lambda law, state: state(int(np.argmax(self.groups == law)))):
            return type(self)(self.laws.estimate(statistics, prior), self.groups)

    def log_prior(self, prior: Any) -> float:
        return self.laws.log_prior(prior)

    def take(self, states: Any) -> Emissions:
        return self.laws.take(self.groups[states])

    @property
    def summary(self) -> str:
        return f"{number_of(self.laws.num_states, 'shared law')}, {self.laws.summary}"

    def __getitem__(self, state: int) -> Any:
        return self.laws[int(self.groups[state])]

    def __repr__(self) -> str:
        return f"SharedEmissions({self.laws!r}, {self.groups.tolist()})"
