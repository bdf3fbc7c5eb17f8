"""`SharedEmissions`: emissions in which several states share one distribution of the observation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from juncture.base.notes import Notes
from juncture.base.values import number_of, read_only
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.data.sequences import Sequences
from juncture.errors import InvalidModel


class SharedEmissions(Emissions):
    """p(observation | state) = distribution number `groups[state]`; states with the same one learn it together.

    What emissions of the distributions' kind have, such as `mean` or `probabilities`, these have too: for each state.
    """

    distributions: Emissions
    groups: np.ndarray  # (state,)

    def __init__(self, distributions: Emissions, groups: Iterable[int]) -> None:
        numbers = read_only(list(groups), np.int64)
        if not numbers.size or not np.array_equal(np.unique(numbers), np.arange(distributions.num_states)):
            raise InvalidModel(
                f"states share {distributions.num_states} distributions, numbered from 0 and all in use; got {numbers}"
            )
        self._set(distributions=distributions, groups=numbers)

    @cached_property
    def of_states(self) -> Emissions:
        """The same distributions, written out for each state."""
        return self.distributions.take(self.groups)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in self._fields:
            raise AttributeError(name)
        return getattr(self.of_states, name)

    @property
    def is_table(self) -> bool:  # type: ignore[override]
        return self.distributions.is_table

    @property
    def symbols(self) -> Any:  # type: ignore[override]
        return self.distributions.symbols

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.groups)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.distributions.event_shape

    @property
    def num_parameters(self) -> int:
        return self.distributions.num_parameters

    def check(self, sequences: Sequences) -> Sequences:
        return self.distributions.check(sequences)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        return self.distributions.log_prob(rows)[:, self.groups]

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.distributions.sample(self.groups[states], rng)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        member = (self.groups[:, None] == np.arange(self.distributions.num_states)).astype(np.float64)  # (state, group)
        return self.distributions.statistics(rows, weights @ member)

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        """A note is about the first of the states that share a distribution."""
        distributions, notes = self.distributions.estimate_with_notes(statistics, prior)
        first = notes.moved(lambda distribution: (int(np.argmax(self.groups == distribution)), ""))
        return type(self)(distributions, self.groups), first

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        return self.distributions.log_likelihood(statistics)

    def log_prior(self, prior: Any) -> float:
        return self.distributions.log_prior(prior)

    def take(self, states: Any) -> Emissions:
        return self.distributions.take(self.groups[states])

    @property
    def summary(self) -> str:
        return f"{number_of(self.distributions.num_states, 'shared distribution')}, {self.distributions.summary}"

    def __getitem__(self, state: int) -> Any:
        return self.distributions[int(self.groups[state])]

    def __repr__(self) -> str:
        return f"SharedEmissions({self.distributions!r}, {self.groups.tolist()})"
