"""Greedy equivalence search (Chickering 2002): insert edges between classes of equivalent graphs, then delete some.

With enough rows it finds the class of the true graph, if there is one; choose it over hill climbing when directions
matter. It goes on from insertions to deletions and back until neither gains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from juncture.data.dataset import Dataset
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.partially_directed import PartiallyDirectedGraph
from juncture.iteration import Watch
from juncture.learning.structure.constraints import Bounds, Constrained
from juncture.learning.structure.equivalence_classes import GraphClass, Step, completed, informed
from juncture.learning.structure.families import ScoreCache, rounding
from juncture.learning.structure.scores import families_of
from juncture.learning.structure.sets import Positions, members
from juncture.learning.structure.translation import graph_of, parents_of

Local: TypeAlias = tuple[int, int, Positions, tuple[Positions, ...]]
Options: TypeAlias = Callable[[GraphClass], Iterator[Step]]
Draw: TypeAlias = Callable[[GraphClass, Step], PartiallyDirectedGraph | None]


@dataclass(frozen=True, kw_only=True)
class GES(Constrained):
    """The class of graphs at the end of the search, as a CPDAG; with `directed` one graph of it."""

    score: Any = "bic"
    directed: bool = False

    def run(
        self, data: Dataset, *, rng: np.random.Generator, progress: Watch | None = None
    ) -> PartiallyDirectedGraph | DirectedGraph:
        scores = ScoreCache(families_of(self.score, data))
        search = EquivalenceSearch(scores, self.bounds(scores.names), progress)
        found = search.run()
        if self.directed:
            return found.member
        told = informed(found.essential, search.bounds)
        return found.essential if told is None else told


class EquivalenceSearch:
    """The steps of the search; what they gain is kept while the neighbourhood that it depends on is the same."""

    def __init__(self, scores: ScoreCache, bounds: Bounds, progress: Watch | None = None) -> None:
        self.scores, self.bounds, self.progress = scores, bounds, progress
        self.num_steps, self.total = 0, scores.total(bounds.needed)
        self._known: dict[Local, list[Step]] = {}
        scores.toggle_all([(child, 0, candidates) for child, candidates in enumerate(bounds.candidates)])

    def run(self) -> GraphClass:
        start = graph_of(self.bounds.names, self.bounds.needed)
        best = GraphClass(start.essential_graph(), start)
        while True:
            state = self._ascend(best, self._insertions, GraphClass.inserted)
            state = self._ascend(state, self._deletions, GraphClass.deleted)
            before, self.total = self._score(best), self._score(state)
            if self.total <= before + rounding(before):  # gains that do not add up: equivalent graphs score unlike
                return best
            best = state

    def _score(self, state: GraphClass) -> float:
        return self.scores.total(parents_of(state.member))

    def _ascend(self, state: GraphClass, options: Options, draw: Draw) -> GraphClass:
        """Take the step that gains most, again and again, until none gains."""
        while True:
            gains = sorted((step for step in options(state) if step.gain > rounding(self.total)), reverse=True)
            found = next(((step, new) for step in gains if (new := self._taken(state, step, draw))), None)
            if found is None:
                return state
            step, state = found
            self.num_steps += 1
            self.total += step.gain
            if self.progress is not None:
                self.progress(self.num_steps, self.total)

    def _taken(self, state: GraphClass, step: Step, draw: Draw) -> GraphClass | None:
        """Where the step leads; None where it may not be taken."""
        drawn = draw(state, step)
        return None if drawn is None else completed(drawn, self.bounds)

    def _insertions(self, state: GraphClass) -> Iterator[Step]:
        for head in range(len(self.bounds.names)):
            apart = self.bounds.candidates[head] & ~state.joined[head]
            around = state.around(head)
            for tail in members(apart):
                key = (tail, head, state.common(tail, head), around)
                if key not in self._known:
                    self._known[key] = list(self._scored_insertions(state, tail, head))
                yield from self._known[key]

    def _scored_insertions(self, state: GraphClass, tail: int, head: int) -> Iterator[Step]:
        common = state.common(tail, head)
        for others in state.cliques_with(common, state.neighbors[head] & ~state.joined[tail]):
            parents = common | others | state.parents[head]
            if parents.bit_count() < self.bounds.max_parents:
                gain = self._with(head, parents, tail) - self.scores.family(head, parents)
                yield Step(gain, tail, head, others)

    def _with(self, child: int, parents: Positions, new: int) -> float:
        """The score with one more parent; a set that many will be added to is scored for all at once."""
        return float(self.scores.toggled(child, parents, self.bounds.candidates[child])[new])

    def _deletions(self, state: GraphClass) -> Iterator[Step]:
        fixed = self.bounds.required | self.bounds.required.T
        for head in range(len(self.bounds.names)):
            for tail in members(state.parents[head] | state.neighbors[head]):
                if fixed[tail, head]:
                    continue
                common = state.common(tail, head)
                for kept in state.cliques_with(0, common):
                    parents = (kept | state.parents[head]) & ~(1 << tail)
                    gain = self.scores.family(head, parents) - self.scores.family(head, parents | 1 << tail)
                    yield Step(gain, tail, head, common & ~kept)
