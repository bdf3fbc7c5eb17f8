"""A graph on the climb: its edges, who reaches whom, and what every single change would gain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from juncture.learning.structure.constraints import Bounds
from juncture.learning.structure.scores.local_scores import ScoreCache, rounding
from juncture.learning.structure.sets import Positions, members


class Change(IntEnum):
    ADD = 0
    DELETE = 1
    REVERSE = 2


class Move(NamedTuple):
    """One change of the edge from `parent` to `child`, and what it gains."""

    gain: float
    change: Change
    parent: int
    child: int


class Climb:
    """A directed acyclic graph over positions, with the gain of every change kept up to date.

    `gains[parent, child]` is what the child's family gains when the parent joins or leaves it: after a change only
    the columns of the children whose parents changed are computed again.
    """

    def __init__(self, scores: ScoreCache, bounds: Bounds, parents: Sequence[Positions]) -> None:
        self.scores, self.bounds = scores, bounds
        self.gains = np.full(bounds.allowed.shape, -np.inf)
        self.edges = np.zeros(bounds.allowed.shape, dtype=np.bool_)
        self.families = np.zeros(len(parents))
        self._place(parents, range(len(parents)))

    @property
    def total(self) -> float:
        return float(self.families.sum())

    def elsewhere(self, parents: Sequence[Positions]) -> Climb:
        """A climb that starts at another graph; what both have in common is not worked out again."""
        other = copy(self)
        other.gains, other.families, other.edges = self.gains.copy(), self.families.copy(), self.edges.copy()
        other._place(parents, [child for child, one in enumerate(parents) if one != self.parents[child]])
        return other

    def _place(self, parents: Sequence[Positions], changed: Iterable[int]) -> None:
        self.parents = list(parents)
        for child in changed:
            self.edges[:, child] = False
            self.edges[members(parents[child]), child] = True
        self.reaches = paths_below(self.edges)
        self._refresh(changed)

    def _refresh(self, children: Iterable[int]) -> None:
        wanted = [(child, self.parents[child], self.bounds.candidates[child]) for child in children]
        self.scores.toggle_all(wanted)
        for child, parents, candidates in wanted:
            self.families[child] = self.scores.family(child, parents)
            gains = self.scores.toggled(child, parents, candidates) - self.families[child]
            self.gains[:, child] = np.where(np.isnan(gains), -np.inf, gains)

    def options(self) -> np.ndarray:
        """The gain of every legal change: (change, parent, child), -inf for those that are not."""
        from juncture.kernels.structure.climbing import legal_gains

        options = np.empty((3, *self.gains.shape))
        bounds = self.bounds
        legal_gains(self.edges, self.reaches, bounds.allowed, bounds.required, self.gains, bounds.max_parents, options)
        return options

    def best(self, changed: np.ndarray, since: float, least: float) -> Move | None:
        """The legal change that gains most, the first of those that gain alike; None where there is none.

        Pairs that changed after the step `since` may only change for more than `least`.
        """
        from juncture.kernels.structure.climbing import best_change

        found, bounds = np.empty(3, np.int64), self.bounds
        graph = (self.edges, self.reaches, bounds.allowed, bounds.required, self.gains, bounds.max_parents)
        gain = float(best_change(*graph, changed, since, least, rounding(self.total), found))
        change, parent, child = found.tolist()
        return None if gain == -np.inf else Move(gain, Change(change), parent, child)

    def make(self, move: Move) -> None:
        """Change the graph."""
        parent, child = move.parent, move.child
        self.parents[child] ^= 1 << parent
        self.edges[parent, child] ^= True
        if move.change is Change.REVERSE:
            self.parents[parent] ^= 1 << child
            self.edges[child, parent] = True
        if move.change is Change.ADD:
            upstream, downstream = self.reaches[:, parent].copy(), self.reaches[child].copy()
            upstream[parent] = downstream[child] = True
            self.reaches |= upstream[:, np.newaxis] & downstream
        else:
            self.reaches = paths_below(self.edges)
        self._refresh([child, parent] if move.change is Change.REVERSE else [child])


def paths_below(edges: np.ndarray) -> np.ndarray:
    """Whether a directed path leads from one position to another, in a graph without cycles."""
    from juncture.kernels.structure.climbing import reach_below

    reaches = np.empty_like(edges)
    reach_below(edges, reaches)
    return reaches


def reachability(edges: np.ndarray) -> np.ndarray:
    """Whether a directed path leads from one position to another, in any graph."""
    from juncture.kernels.structure.climbing import close_paths

    reaches = edges.copy()
    close_paths(reaches)
    return reaches
