"""Hill climbing: change one edge at a time, always the edge that gains most, until no change gains.

The quick and robust choice. Each step rescores only the families that the last step changed. From a maximum the search
goes on: variables, alone and in adjacent pairs, lose their edges and are inserted again (after Moore and Wong's
reinsertion, 2003). Then `tabu` takes the changes that cost least, without undoing recent ones, and `restarts` perturbs
the best graph and climbs again. Both keep the best graph, so that neither ends below the search without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained, EdgeConstraints, check_whole
from juncture.learning.structure.data import Cases
from juncture.learning.structure.scores.local_scores import ScoreCache, rounding
from juncture.learning.structure.scores.scores import scores_and_bounds
from juncture.learning.structure.searches.interruption import SearchInterrupted
from juncture.learning.structure.sets import Positions, find_descendants, graph_of, members, without
from juncture.numerics.iteration import ProgressCallback


class Change(IntEnum):
    ADD = 0
    DELETE = 1
    REVERSE = 2


CHANGES = tuple(Change)


class Move(NamedTuple):
    """One change of the edge from `parent` to `child`, and its gain."""

    gain: float
    change: Change
    parent: int
    child: int


class ScoredGraph:
    """A directed acyclic graph over positions, with the gain of every change kept up to date.

    `gains[parent, child]` is the gain of the child's family when the parent is added or removed: after a change only
    the columns of the children whose parents changed are computed again.
    """

    def __init__(self, scores: ScoreCache, bounds: EdgeConstraints, parents: Sequence[Positions]) -> None:
        self.scores, self.bounds = scores, bounds
        self.gains = np.full(bounds.allowed.shape, -np.inf)
        self.edges = np.zeros(bounds.allowed.shape, dtype=np.bool_)
        self.family_scores = np.zeros(len(parents))
        self._set_parents(parents, range(len(parents)))

    def moved_to(self, parents: Sequence[Positions]) -> ScoredGraph:
        """The same at another graph; families that both graphs share are not scored again."""
        other = copy(self)
        other.gains, other.family_scores, other.edges = self.gains.copy(), self.family_scores.copy(), self.edges.copy()
        other._set_parents(parents, [child for child, one in enumerate(parents) if one != self.parents[child]])
        return other

    def _set_parents(self, parents: Sequence[Positions], changed: Iterable[int]) -> None:
        self.parents = list(parents)
        for child in changed:
            self.edges[:, child] = False
            self.edges[members(parents[child]), child] = True
        self.reaches = find_descendants(self.edges)
        self._refresh(changed)

    def _refresh(self, children: Iterable[int]) -> None:
        wanted = [(child, self.parents[child], self.bounds.candidates[child]) for child in children]
        self.scores.compute_toggles(wanted)
        for family in wanted:
            self.family_scores[family[0]], self.gains[:, family[0]] = self.scores.toggle_gains(*family)
        self.total = float(self.family_scores.sum())
        self.rounding = rounding(self.total)

    def options(self) -> np.ndarray:
        """The gain of every legal change: (change, parent, child), -inf for those that are not."""
        from juncture.kernels.structure.climbing import legal_gains

        options = np.empty((3, *self.gains.shape))
        bounds = self.bounds
        legal_gains(self.edges, self.reaches, bounds.allowed, bounds.required, self.gains, bounds.max_parents, options)
        return options

    def best(self, changed: np.ndarray, since: float, least: float) -> Move | None:
        """The legal change that gains most, the first of equal gains; None where there is none.

        Pairs that changed after the step `since` may only change for more than `least`.
        """
        from juncture.kernels.structure.climbing import best_change

        found, bounds = np.empty(3, np.int64), self.bounds
        graph = (self.edges, self.reaches, bounds.allowed, bounds.required, self.gains, bounds.max_parents)
        gain = float(best_change(*graph, changed, since, least, self.rounding, found))
        change, parent, child = found.tolist()
        return None if gain == -np.inf else Move(gain, CHANGES[change], parent, child)

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
            self.reaches = find_descendants(self.edges)
        self._refresh([child, parent] if move.change is Change.REVERSE else [child])


@dataclass(frozen=True, kw_only=True)
class ClimbingOptions(Constrained):
    """Options of the climbing searches: the score, and how a search goes on from a maximum."""

    score: Any = "bic"
    reinsert: bool = True
    tabu: int = 0
    restarts: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tabu", "restarts"):
            check_whole(getattr(self, name), name)


@dataclass(frozen=True, kw_only=True)
class HillClimbing(ClimbingOptions):
    """The best graph that hill climbing finds.

    Parameters
    ----------
    required, forbidden
        Edges that the graph must have, and edges that it must not have.
    tiers
        Lists of names: no edge leads from a later tier to an earlier one.
    max_parents
        The largest number of parents of a variable.
    score
        The name of a score, or a score such as `BDeu(10)`.
    reinsert
        Remove variables and insert them again at a maximum.
    tabu
        For how many steps a changed edge must not change again, and after how many steps without a better graph the
        tabu search ends; it starts from the graph of the search without it.
    restarts
        How often the best graph is perturbed, by as many random changes as there are variables.
    """

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        scores, bounds = scores_and_bounds(self, self.score, data)
        return graph_of(scores.names, self.search(scores, bounds, rng, progress))

    def search(
        self,
        scores: ScoreCache,
        bounds: EdgeConstraints,
        rng: np.random.Generator,
        progress: ProgressCallback | None = None,
    ) -> list[Positions]:
        """The parents of each in the best graph."""
        path = HillClimb(scores, bounds, 0, progress)
        try:
            self.climb(path, bounds.needed)
            self.continue_search(path, rng)
        except KeyboardInterrupt as stop:
            raise path.interrupted(stop) from stop
        return path.best

    def climb(self, path: HillClimb, start: Sequence[Positions]) -> None:
        """Climb from this graph, and insert variables again at the maximum."""
        path.climb(start)
        self._settle(path)

    def continue_search(self, path: HillClimb, rng: np.random.Generator) -> None:
        """From the best graph of the path: the tabu walk, then the restarts."""
        path.tabu = self.tabu
        if self.tabu:
            self.climb(path, path.best)
        for _ in range(self.restarts):
            apart = path.new_climb()
            try:
                self.climb(apart, perturb(path.top, rng))
            finally:
                path.take(apart)

    def _settle(self, path: HillClimb) -> None:
        """Take out variables, and where that does not help, adjacent pairs, until no reinsertion gains."""
        while self.reinsert:
            singles = [[index] for index in range(len(path.best))]
            path.reinsert(singles)
            pairs = [[parent, child] for child, parents in enumerate(path.best) for parent in members(parents)]
            if not path.reinsert(pairs):
                return


class HillClimb:
    """Several climbs, one after the other, and the best graph that they met."""

    def __init__(
        self,
        scores: ScoreCache,
        bounds: EdgeConstraints,
        tabu: int,
        progress: ProgressCallback | None,
        num_steps: int = 0,
    ) -> None:
        self.scores, self.bounds = scores, bounds
        self.tabu, self.progress, self.num_steps = tabu, progress, num_steps
        self.top = ScoredGraph(scores, bounds, bounds.needed)
        self.best: list[Positions] = list(bounds.needed)
        self.peak = -np.inf

    def new_climb(self) -> HillClimb:
        """Another path, which has met no graph."""
        return HillClimb(self.scores, self.bounds, self.tabu, self.progress, self.num_steps)

    def climb(self, start: Sequence[Positions]) -> None:
        state = self.top.moved_to(start)
        self._keep(state)
        changed = np.full(state.edges.shape, -np.inf)
        step = best_step = 0
        while (move := state.best(changed, step - self.tabu, self._lack(state))) is not None:
            if move.gain <= state.rounding and step - best_step >= self.tabu:
                break
            state.make(move)
            step += 1
            changed[move.parent, move.child] = changed[move.child, move.parent] = step
            best_step = step if self._keep(state) else best_step
        if self.top.parents != self.best:
            self.top = self.top.moved_to(self.best)

    def reinsert(self, groups: Sequence[Sequence[int]]) -> bool:
        """Take out one group after the other, until no reinsertion gains; return whether any gained."""
        start, number, idle = self.peak, 0, 0
        while idle < len(groups):
            before = self.peak
            self.climb(without(self.best, groups[number], self.bounds.needed))
            idle = 0 if self.peak > before else idle + 1
            number = (number + 1) % len(groups)
        return self.peak > start

    def _lack(self, state: ScoredGraph) -> float:
        """What the graph would have to gain, to be the best so far."""
        return self.peak + state.rounding - state.total

    def _keep(self, state: ScoredGraph) -> bool:
        """Whether the graph is the best so far, which is then kept."""
        is_better = self._lack(state) < 0
        if is_better:
            self.best, self.peak = list(state.parents), state.total
        self.num_steps += 1
        if self.progress is not None:
            self.progress(self.num_steps, self.peak)
        return is_better

    def take(self, other: HillClimb) -> None:
        """The better of both."""
        self.num_steps = other.num_steps
        if other.peak > self.peak + rounding(other.peak):
            self.best, self.peak, self.top = other.best, other.peak, other.top

    def interrupted(self, stop: KeyboardInterrupt) -> KeyboardInterrupt:
        """What to raise for Ctrl-C: the best graph, if there is one."""
        if self.peak == -np.inf:
            return stop
        return SearchInterrupted(
            graph_of(self.scores.names, self.best), f"the search was interrupted after step {self.num_steps}"
        )


def perturb(top: ScoredGraph, rng: np.random.Generator) -> list[Positions]:
    """The graph after as many random legal changes as there are variables, at least three.

    The kind of each change is drawn first: most legal changes are additions, which the next climb would only undo.
    """
    state = top.moved_to(top.parents)
    for _ in range(max(3, len(state.parents))):
        legal = [np.argwhere(gains > -np.inf) for gains in state.options()]
        kinds = [change for change in Change if len(legal[change])]
        if not kinds:
            break
        change = kinds[rng.integers(len(kinds))]
        parent, child = legal[change][rng.integers(len(legal[change]))].tolist()
        state.make(Move(0.0, change, parent, child))
    return state.parents
