"""A graph on the climb: its edges, who reaches whom, and what every single change would gain."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from juncture.learning.structure.constraints import Bounds
from juncture.learning.structure.families import ScoreCache
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

    def __init__(self, scores: ScoreCache, bounds: Bounds, parents: Iterable[Positions]) -> None:
        self.scores, self.bounds = scores, bounds
        size = len(bounds.names)
        self.parents = list(parents)
        self.edges = np.zeros((size, size), dtype=np.bool_)
        for child, positions in enumerate(self.parents):
            self.edges[members(positions), child] = True
        self.reaches = reachability(self.edges)
        self.gains = np.full((size, size), -np.inf)
        self.total = 0.0
        self._refresh(range(size))

    def _refresh(self, children: Iterable[int]) -> None:
        wanted = [(child, self.parents[child], self.bounds.candidates[child]) for child in children]
        self.scores.toggle_all(wanted)
        for child, parents, candidates in wanted:
            toggled = self.scores.toggled(child, parents, candidates)
            gains = toggled - self.scores.family(child, parents)
            self.gains[:, child] = np.where(np.isnan(gains), -np.inf, gains)
        self.total = self.scores.total(self.parents)

    def options(self) -> np.ndarray:
        """The gain of every legal change: (change, parent, child), -inf for those that are not."""
        has_room = self.edges.sum(axis=0) < self.bounds.max_parents
        is_free = self.edges & ~self.bounds.required
        adding = self.bounds.allowed & ~self.edges & ~self.reaches.T & has_room
        turning = is_free & self.bounds.allowed.T & has_room[:, np.newaxis]
        turning &= ~has_detour(self.edges, self.reaches, turning)
        return np.stack([
            np.where(adding, self.gains, -np.inf),
            np.where(is_free, self.gains, -np.inf),
            np.where(turning, self.gains + self.gains.T, -np.inf),
        ])  # fmt: skip

    def best(self, options: np.ndarray) -> Move | None:
        """The change that gains most, the first of several; None where there is none."""
        place = int(np.argmax(options))
        change, parent, child = (int(index) for index in np.unravel_index(place, options.shape))
        gain = float(options[change, parent, child])
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
            self.reaches = reachability(self.edges)
        self._refresh([child, parent] if move.change is Change.REVERSE else [child])


def reachability(edges: np.ndarray) -> np.ndarray:
    """Whether a directed path leads from one position to another, by squaring; no position reaches itself."""
    reaches = edges.copy()
    while True:
        wide = reaches.astype(np.float32)
        further = reaches | (wide @ wide > 0.5)
        if np.array_equal(further, reaches):
            return reaches
        reaches = further


def has_detour(edges: np.ndarray, reaches: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each wanted edge, whether another path leads along: turning the edge would close a cycle."""
    detours = np.zeros_like(edges)
    tails, heads = np.nonzero(wanted)
    detours[tails, heads] = (reaches[tails] & edges[:, heads].T).any(axis=1)
    return detours
