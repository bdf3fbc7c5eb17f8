"""Greedy equivalence search (Chickering 2002): insert edges between classes of equivalent graphs, then delete some.

With enough rows GES finds the class of the true graph, if there is one; choose GES over hill climbing when directions
matter. GES alternates insertions and deletions until neither gains, then turns edges (Hauser and Bühlmann 2012). At a
maximum, each variable loses its edges and is inserted again, as in hill climbing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

import numpy as np

from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.learning.structure.constraints import Constrained, EdgeConstraints
from juncture.learning.structure.data import Cases
from juncture.learning.structure.scores.local_scores import ScoreCache, rounding
from juncture.learning.structure.scores.scores import scores_and_bounds
from juncture.learning.structure.searches.equivalence_classes import (
    GraphClass,
    Operator,
    apply_constraints,
    complete_class,
)
from juncture.learning.structure.searches.interruption import SearchInterrupted
from juncture.learning.structure.sets import Positions, graph_of, members, parents_of, without
from juncture.numerics.iteration import ProgressCallback

Local: TypeAlias = tuple[int, int, Positions, tuple[Positions, ...]]
Options: TypeAlias = Callable[[GraphClass], Iterator[Operator]]
Draw: TypeAlias = Callable[[GraphClass, Operator], PartiallyDirectedGraph | None]


class EquivalenceSearch:
    """The steps of the search; gains are cached while the neighbourhoods that they depend on stay the same."""

    def __init__(self, scores: ScoreCache, bounds: EdgeConstraints, progress: ProgressCallback | None = None) -> None:
        self.scores, self.bounds, self.progress = scores, bounds, progress
        self.num_steps, self.peak = 0, -inf
        self.best: GraphClass | None = None
        self._known: dict[Local, list[Operator]] = {}
        self._gaining: dict[tuple[Positions, ...], list[Operator]] = {}
        scores.compute_toggles([(child, 0, candidates) for child, candidates in enumerate(bounds.candidates)])

    def climb(self, parents: Sequence[Positions], turning: bool) -> GraphClass:
        """From a graph: alternate insertions and deletions until neither gains, then turn edges; repeat."""
        start = graph_of(self.bounds.names, parents)
        best = GraphClass(start.essential_graph(), start)
        while True:
            state = self._ascend(best, self._insertions, GraphClass.insert)
            state = self._ascend(state, self._deletions, GraphClass.delete)
            if turning and not self._gains(best, state):
                state = self._ascend(best, self._turns, GraphClass.turn)
            if not self._gains(best, state):
                return best
            best = state

    def settle(self, best: GraphClass, turning: bool) -> GraphClass:
        """Take out one variable after the other and climb again, until all have been tried in vain."""
        number, idle, peak = 0, 0, self.score(best)
        while idle < len(self.bounds.names):
            state = self.climb(without(parents_of(best.member), [number], self.bounds.needed), turning)
            idle += 1
            if self.score(state) > peak + rounding(peak):
                best, peak, idle = state, self.score(state), 0
            number = (number + 1) % len(self.bounds.names)
        return best

    def _gains(self, best: GraphClass, state: GraphClass) -> bool:
        before = self.score(best)
        return self.score(state) > before + rounding(before)

    def score(self, state: GraphClass) -> float:
        return self.scores.total(parents_of(state.member))

    def _ascend(self, state: GraphClass, options: Options, draw: Draw) -> GraphClass:
        """Take the step that gains most, again and again, until none gains."""
        total = self.score(state)
        while True:
            least = rounding(total)
            steps = sorted((step for step in options(state) if step.gain > least), reverse=True)
            found = next((new for step in steps if (new := self._apply(state, step, draw, total + least))), None)
            if found is None:
                return state
            state, total = found, self.score(found)
            self.num_steps += 1
            if total > self.peak:
                self.best, self.peak = state, total
            if self.progress is not None:
                self.progress(self.num_steps, self.peak)

    def _apply(self, state: GraphClass, step: Operator, draw: Draw, least: float) -> GraphClass | None:
        """The class after the operator; None where the operator is not valid, or the new class scores no more.

        Where equivalent graphs have different scores, the gain belongs to other graphs than those that represent the
        classes: following the gain alone could cycle.
        """
        drawn = draw(state, step)
        found = None if drawn is None else complete_class(drawn, self.bounds)
        return found if found is not None and self.score(found) > least else None

    def _insertions(self, state: GraphClass) -> Iterator[Operator]:
        """The insertions that gain, cached while the adjacencies of the head and its neighbours stay the same."""
        for head in range(len(self.bounds.names)):
            near = state.neighbors[head]
            key = (
                head,
                state.parents[head],
                near,
                state.adjacent[head],
                *(state.adjacent[one] for one in members(near)),
            )
            if key not in self._gaining:
                self._gaining[key] = [step for step in self._into(state, head) if step.gain > 0]
            yield from self._gaining[key]

    def _into(self, state: GraphClass, head: int) -> Iterator[Operator]:
        around = state.around(head)
        for tail in members(self.bounds.candidates[head] & ~state.adjacent[head]):
            key = (tail, head, state.common(tail, head), around)
            if key not in self._known:
                self._known[key] = list(self._scored_insertions(state, tail, head))
            yield from self._known[key]

    def _scored_insertions(self, state: GraphClass, tail: int, head: int) -> Iterator[Operator]:
        common = state.common(tail, head)
        for others in state.cliques_with(common, state.neighbors[head] & ~state.adjacent[tail]):
            parents = common | others | state.parents[head]
            if parents.bit_count() < self.bounds.max_parents:
                gain = self._with(head, parents, tail) - self.scores.family(head, parents)
                yield Operator(gain, tail, head, others)

    def _with(self, child: int, parents: Positions, new: int) -> float:
        """The score with one more parent; a set that many will be added to is scored for all at once."""
        return float(self.scores.toggle_scores(child, parents, self.bounds.candidates[child])[new])

    def _deletions(self, state: GraphClass) -> Iterator[Operator]:
        fixed = self.bounds.required | self.bounds.required.T
        for head in range(len(self.bounds.names)):
            for tail in members(state.parents[head] | state.neighbors[head]):
                if fixed[tail, head]:
                    continue
                common = state.common(tail, head)
                for kept in state.cliques_with(0, common):
                    parents = (kept | state.parents[head]) & ~(1 << tail)
                    gain = self.scores.family(head, parents) - self.scores.family(head, parents | 1 << tail)
                    yield Operator(gain, tail, head, common & ~kept)

    def _turns(self, state: GraphClass) -> Iterator[Operator]:
        """Every edge the other way round: both ways where it is plain, then with another that makes it a collider."""
        for head in range(len(self.bounds.names)):
            for tail in members((state.children[head] | state.neighbors[head]) & self.bounds.candidates[head]):
                near, common = state.neighbors[head] & ~(1 << tail), state.common(tail, head)
                is_plain = bool(state.neighbors[head] >> tail & 1)
                first = 0 if is_plain else common
                for more in state.cliques_with(first, near & ~first):
                    others = first | more
                    if not is_plain or others & ~common:
                        yield Operator(self._turning_gain(state, tail, head, others), tail, head, others)

    def _turning_gain(self, state: GraphClass, tail: int, head: int, others: Positions) -> float:
        """The gain of the head from the tail, less the loss of the tail without the head."""
        parents = state.parents[head] | others
        left = (state.parents[tail] | others & state.neighbors[tail]) & ~(1 << head)
        score = self.scores.family
        gained = score(head, parents | 1 << tail) - score(head, parents)
        return gained + score(tail, left) - score(tail, left | 1 << head)


@dataclass(frozen=True, kw_only=True)
class GES(Constrained):
    """The class of graphs at the end of the search, as a CPDAG; with `directed` one graph of it.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score
        As in `HillClimbing`.
    directed
        Return one directed graph of the class.
    turning
        Also turn edges. Without `turning` and `reinsert`, edges are only inserted and deleted, as in Chickering (2002).
    reinsert
        Remove variables and insert them again at a maximum.
    """

    score: Any = "bic"
    directed: bool = False
    turning: bool = True
    reinsert: bool = True

    def run(
        self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None
    ) -> PartiallyDirectedGraph | DirectedGraph:
        scores, bounds = scores_and_bounds(self, self.score, data)
        try:
            return self._as_result(self.search(scores, bounds, progress), bounds)
        except SearchInterrupted as stop:
            raise SearchInterrupted(self._as_result(stop.graph, bounds), stop.text) from stop

    def _as_result(self, found: GraphClass, bounds: EdgeConstraints) -> PartiallyDirectedGraph | DirectedGraph:
        if self.directed:
            return found.member
        constrained = apply_constraints(found.essential, bounds)
        return found.essential if constrained is None else constrained

    def search(
        self, scores: ScoreCache, bounds: EdgeConstraints, progress: ProgressCallback | None = None
    ) -> GraphClass:
        """The class at the end, and a graph of it; Ctrl-C comes with the class of the best score so far."""
        search = EquivalenceSearch(scores, bounds, progress)
        try:
            found = search.climb(bounds.needed, self.turning)
            return search.settle(found, self.turning) if self.reinsert else found
        except KeyboardInterrupt as stop:
            if search.best is None:
                raise
            raise SearchInterrupted(search.best, f"GES was interrupted after step {search.num_steps}") from stop
