"""`GroupedEmissions`: states whose distributions are of different kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from juncture.base.notes import Notes
from juncture.base.values import read_only
from juncture.components.contract import Emissions, EmissionStatistics, is_seen
from juncture.errors import InvalidData, InvalidModel


class GroupedEmissions(Emissions):
    """The states at positions[i] have the emissions groups[i]: each kind looks at the data once, for all its states."""

    groups: tuple[Emissions, ...]
    positions: tuple[np.ndarray, ...]

    def __init__(self, groups: Iterable[Emissions], positions: Iterable[Any]) -> None:
        held, where = tuple(groups), tuple(read_only(position, np.int64) for position in positions)
        if [group.num_states for group in held] != [len(position) for position in where]:
            raise InvalidModel("each group of emissions has one position for each of its states")
        if any((np.diff(position) <= 0).any() for position in where):
            raise InvalidModel("the positions of a group of emissions are in order")
        if not held or not np.array_equal(np.sort(np.concatenate(where)), np.arange(sum(map(len, where)))):
            raise InvalidModel("the positions of groups of emissions are all states, each once")
        shapes = {group.event_shape for group in held}
        if len(shapes) > 1:
            found = " and ".join(map(str, sorted(shapes)))
            raise InvalidModel(f"all states emit observations of one shape; here are {found}")
        self._set(groups=held, positions=where)

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return sum(group.num_states for group in self.groups)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.groups[0].event_shape

    @property
    def num_parameters(self) -> int:
        return sum(group.num_parameters for group in self.groups)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), self.num_states))
        for group, positions in zip(self.groups, self.positions, strict=True):
            found[:, positions] = group.log_prob(rows)
        return found

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        found = np.empty((len(states), *self.event_shape))
        for group, positions in zip(self.groups, self.positions, strict=True):
            own = np.full(self.num_states, -1)
            own[positions] = np.arange(len(positions))
            steps = np.flatnonzero(own[states] >= 0)
            found[steps] = group.sample(own[states[steps]], rng)
        return found

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        pairs = zip(self.groups, self.positions, strict=True)
        found = [group.statistics(rows, np.ascontiguousarray(weights[:, positions])) for group, positions in pairs]
        return EmissionStatistics(weights[is_seen(rows)].sum(axis=0), found)

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        groups, notes = [], []
        for group, positions, found, own in zip(
            self.groups, self.positions, statistics.parts, self._priors(prior), strict=True
        ):
            learned, held = group.estimate_with_notes(found, own)
            groups.append(learned)
            notes.append(held.moved(among(positions)))
        return type(self)(groups, self.positions), Notes.joined(notes)

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        return sum(group.log_likelihood(own) for group, own in zip(self.groups, statistics.parts, strict=True))

    def log_prior(self, prior: Any) -> float:
        return sum(group.log_prior(own) for group, own in zip(self.groups, self._priors(prior), strict=True))

    def _priors(self, prior: Any) -> list[Any]:
        """One prior per group, None for one without."""
        if prior is None:
            return [None] * len(self.groups)
        if not isinstance(prior, list | tuple) or len(prior) != len(self.groups):
            kinds = ", ".join(type(group).__name__ for group in self.groups)
            raise InvalidData(
                f"the prior of states of different kinds is a list, one for each of {kinds}; got {prior!r}"
            )
        return list(prior)

    def take(self, states: Any) -> Emissions:
        wanted, groups, positions = np.asarray(states), [], []
        for group, own in zip(self.groups, self.positions, strict=True):
            found = np.flatnonzero(np.isin(wanted, own))
            if len(found):
                groups.append(group.take(np.searchsorted(own, wanted[found])))
                positions.append(found)
        return groups[0] if len(groups) == 1 else type(self)(groups, positions)

    @property
    def summary(self) -> str:
        return " or ".join(group.summary for group in self.groups)

    def __getitem__(self, state: int) -> Any:
        for group, positions in zip(self.groups, self.positions, strict=True):
            own = np.flatnonzero(positions == range(self.num_states)[state])
            if len(own):
                return group[int(own[0])]
        raise IndexError(state)

    def __repr__(self) -> str:
        return f"GroupedEmissions({list(self)!r})"


def among(positions: np.ndarray) -> Callable[[int], tuple[int, str]]:
    """A group's own states by their positions among all."""
    return lambda position: (int(positions[position]), "")
