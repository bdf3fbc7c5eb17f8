"""Hill climbing: change one edge at a time, always the one that gains most, until none does.

The quick and sturdy choice. Each step rescores only the families that the last one touched. From a peak it goes on:
each variable in turn loses all its edges and finds its place anew (after Moore and Wong's reinsertion, 2003); `tabu`
walks on over the changes that cost least, without turning back; `restarts` shakes the best graph and climbs again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.graphs.directed import DirectedGraph
from juncture.iteration import Watch
from juncture.learning.structure.climbing import Change, Climb, Move
from juncture.learning.structure.constraints import Bounds, Constrained
from juncture.learning.structure.families import ScoreCache, rounding
from juncture.learning.structure.scores import families_of
from juncture.learning.structure.sets import Positions
from juncture.learning.structure.translation import graph_of


@dataclass(frozen=True, kw_only=True)
class HillClimbing(Constrained):
    """The best graph that the climb meets.

    `reinsert` lets each variable find its place anew at a peak. `tabu` is for how many steps an edge stays as it was
    changed, and after how many steps without a new best graph the walk ends.
    """

    score: Any = "bic"
    reinsert: bool = True
    tabu: int = 0
    restarts: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tabu", "restarts"):
            if not hasattr(getattr(self, name), "__index__") or getattr(self, name) < 0:
                raise InvalidData(f"{name} must be a whole number of at least 0; got {getattr(self, name)!r}")

    def run(self, data: Dataset, *, rng: np.random.Generator, progress: Watch | None = None) -> DirectedGraph:
        scores = ScoreCache(families_of(self.score, data))
        bounds = self.bounds(scores.names)
        return graph_of(scores.names, self.search(scores, bounds, rng, progress))

    def search(
        self, scores: ScoreCache, bounds: Bounds, rng: np.random.Generator, progress: Watch | None = None
    ) -> list[Positions]:
        """The parents of each in the best graph."""
        path = Path(scores, bounds, self.tabu, progress)
        path.climb(bounds.needed)
        self._replace(path)
        for _ in range(self.restarts):
            apart = Path(scores, bounds, self.tabu, path.progress, path.num_steps)
            apart.climb(shaken(scores, bounds, path.best, rng))
            self._replace(apart)
            path.take(apart)
        return path.best

    def _replace(self, path: Path) -> None:
        """Take out one variable after the other, until none finds a better place."""
        child, idle = 0, 0
        while self.reinsert and idle < len(path.best):
            before = path.peak
            path.climb(without(path.best, child, path.bounds))
            idle = 0 if path.peak > before else idle + 1
            child = (child + 1) % len(path.best)


class Path:
    """Climbs one after the other, and the best graph that they met."""

    def __init__(
        self, scores: ScoreCache, bounds: Bounds, tabu: int, progress: Watch | None, num_steps: int = 0
    ) -> None:
        self.scores, self.bounds, self.tabu, self.progress, self.num_steps = scores, bounds, tabu, progress, num_steps
        self.best: list[Positions] = []
        self.peak = -np.inf

    def climb(self, start: Sequence[Positions]) -> None:
        state = Climb(self.scores, self.bounds, start)
        self._keep(state)
        changed = np.full(state.edges.shape, -np.inf)
        step = best_step = 0
        while (move := state.best(self._open(state, changed, step))) is not None:
            if move.gain <= rounding(state.total) and step - best_step >= self.tabu:
                break
            state.make(move)
            step += 1
            changed[move.parent, move.child] = changed[move.child, move.parent] = step
            best_step = step if self._keep(state) else best_step

    def _open(self, state: Climb, changed: np.ndarray, step: int) -> np.ndarray:
        """What may be changed: edges that did not change lately, and whatever leads to a new best graph."""
        options = state.options()
        if self.tabu:
            options[(changed > step - self.tabu) & (state.total + options <= self.peak)] = -np.inf
        return options

    def _keep(self, state: Climb) -> bool:
        """Whether the graph is the best so far, which is then kept."""
        is_better = state.total > self.peak + rounding(state.total)
        if is_better:
            self.best, self.peak = list(state.parents), state.total
        self.num_steps += 1
        if self.progress is not None:
            self.progress(self.num_steps, self.peak)
        return is_better

    def take(self, other: Path) -> None:
        """The better of both."""
        self.num_steps = other.num_steps
        if other.peak > self.peak + rounding(other.peak):
            self.best, self.peak = other.best, other.peak


def without(parents: Sequence[Positions], place: int, bounds: Bounds) -> list[Positions]:
    """The graph when one variable has only the edges that it must have."""
    apart = [one & ~(1 << place) | bounds.needed[child] for child, one in enumerate(parents)]
    apart[place] = bounds.needed[place]
    return apart


def shaken(
    scores: ScoreCache, bounds: Bounds, parents: Sequence[Positions], rng: np.random.Generator
) -> list[Positions]:
    """The graph after random legal changes, about a fifth as many as there are variables."""
    state = Climb(scores, bounds, parents)
    for _ in range(max(3, len(parents) // 5)):
        changes = np.argwhere(state.options() > -np.inf)
        if len(changes):
            change, parent, child = (int(index) for index in changes[rng.integers(len(changes))])
            state.make(Move(0.0, Change(change), parent, child))
    return state.parents
