"""The default search: hill climbing, and where they are quick greedy equivalence search and restarts; the best graph.

Each search ends at maxima where another does not. Among changes with equal gains, as an edge and its reverse have under
most scores, hill climbing takes the first in the order of the columns, which may lead to a lower maximum; greedy
equivalence search moves between whole equivalence classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.values import Value
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.data import Cases
from juncture.learning.structure.scores.local_scores import rounding
from juncture.learning.structure.scores.scores import scores_and_bounds
from juncture.learning.structure.searches.ges import GES
from juncture.learning.structure.searches.hill_climbing import ClimbingOptions, HillClimb, HillClimbing
from juncture.learning.structure.sets import Positions, graph_of, parents_of
from juncture.numerics.iteration import ProgressCallback

if TYPE_CHECKING:
    from juncture.drawing.diagram import Drawing


class SearchResult(Value):
    """A learned graph, the search that found it, and the score that each search reached.

    Attributes
    ----------
    graph
        The learned graph.
    method
        The name of the search. For a `CombinedSearch` it is "hill-climbing", "ges" (GES followed by hill climbing),
        "restarts", or "further walks" (`tabu` and `restarts` that were asked for).
    scores
        The score that each search of a `CombinedSearch` reached, by its name; empty for other searches.
    seed
        The seed of what was drawn at random, such as starts: `rng=result.seed` repeats the search. None where nothing
        was. It is not compared.
    """

    _fields = ("graph", "method", "_scores")
    graph: Any
    method: str
    _scores: tuple[tuple[str, float], ...]
    seed: ClassVar[int | None] = None

    def with_seed(self, seed: int | None) -> SearchResult:
        """The same result, of a search with this seed."""
        result = SearchResult(self.graph, self.method, self.scores)
        result._set(seed=seed)
        return result

    def __init__(self, graph: Any, method: str, scores: Mapping[str, float] | None = None) -> None:
        self._set(graph=graph, method=method, _scores=tuple((scores or {}).items()))

    @property
    def scores(self) -> dict[str, float]:
        return dict(self._scores)

    def to_diagram(self) -> Drawing:
        """The learned graph."""
        drawn: Drawing = self.graph.to_diagram()
        return drawn

    def _repr_html_(self) -> str:
        """The graph, and the score that each search reached."""
        from juncture.drawing.notebook import diagram_html, html_table

        rows = ((name, f"{score:.6g}", "best" if name == self.method else "") for name, score in self._scores)
        table = html_table(["search", "score", ""], rows, num_labels=1) if self._scores else ""
        return diagram_html(repr(self), self.to_diagram()) + table

    def __repr__(self) -> str:
        reached = ", ".join(f"{name} {score:.6g}" for name, score in self._scores)
        return f"SearchResult({self.graph!r}, by {self.method}{f'; {reached}' if reached else ''})"


MAX_REINSERTED = 64  # variables up to which GES with reinsertion, and restarts, are quick
MAX_VARIABLES = 256  # variables up to which GES is quick without reinsertion
NUM_RESTARTS = 3  # of every search among so few variables
MAX_PARENTS = 8  # GES tries all subsets of cliques, and a family may be a clique
MAX_EDGES = 2  # edges for each variable, beyond which GES takes long
FEW_VARIABLES = 10  # variables up to which GES is quick with any number of edges


@dataclass(frozen=True, kw_only=True)
class CombinedSearch(ClimbingOptions):
    """The best graph of hill climbing, of GES followed by hill climbing, and of a few restarts from the better one.

    GES does not run where it would take long: above 256 variables, and where the climb ends with more than 8 parents
    or, above 10 variables, with more than two edges for each variable. Above 64 variables and under constraints GES
    does not reinsert; above 64 variables only the `restarts` asked for are made. Without `tabu` and `restarts` the
    result does not depend on `rng`.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score, reinsert
        As in `HillClimbing`.
    tabu, restarts
        As in `HillClimbing`; they continue from the best graph of the searches above.
    """

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        return self.compare(data, rng=rng, progress=progress).graph

    def compare(
        self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None
    ) -> SearchResult:
        """The best graph, the search that found it, and the score of each search; of equal scores the first."""
        scores, bounds = scores_and_bounds(self, self.score, data)
        path = HillClimb(scores, bounds, 0, None if progress is None else Continued(progress))
        try:
            reached = dict(self._peaks(path, rng))
        except KeyboardInterrupt as stop:
            raise path.interrupted(stop) from stop
        best = reached["hill-climbing"]
        method = "hill-climbing"
        for name, peak in reached.items():
            if peak > best + rounding(best):
                best, method = peak, name
        return SearchResult(graph_of(scores.names, path.best), method, reached)

    def _peaks(self, path: HillClimb, rng: np.random.Generator) -> Iterator[tuple[str, float]]:
        """Each search in turn, with the score that it reached; the path keeps the best graph."""
        climbing = HillClimbing(reinsert=self.reinsert)
        climbing.climb(path, path.bounds.needed)
        yield "hill-climbing", path.peak
        is_small = len(path.best) <= MAX_REINSERTED
        if is_quick(path.best):
            reinserts = self.reinsert and is_small and path.bounds.is_free
            found = GES(reinsert=reinserts).search(path.scores, path.bounds, path.progress)
            other = path.new_climb()
            try:
                climbing.climb(other, parents_of(found.member))
            finally:
                path.take(other)
            yield "ges", other.peak
        if is_small:
            replace(climbing, restarts=NUM_RESTARTS).continue_search(path, np.random.default_rng(0))
            yield "restarts", path.peak
        if self.tabu or self.restarts:
            replace(climbing, tabu=self.tabu, restarts=self.restarts).continue_search(path, rng)
            yield "further walks", path.peak


def is_quick(climbed: Sequence[Positions]) -> bool:
    """Whether GES is quick, judged by the graph of the climb."""
    num_parents = [parents.bit_count() for parents in climbed]
    is_sparse = len(climbed) <= FEW_VARIABLES or sum(num_parents) <= MAX_EDGES * len(climbed)
    return is_sparse and len(climbed) <= MAX_VARIABLES and max(num_parents) <= MAX_PARENTS


class Continued:
    """A progress callback for several searches in turn: the steps are counted through, with the best score so far."""

    def __init__(self, progress: ProgressCallback) -> None:
        self.progress, self.num_steps, self.peak = progress, 0, -inf

    def __call__(self, step: int, value: float) -> None:
        self.num_steps += 1
        self.peak = max(self.peak, value)
        self.progress(self.num_steps, self.peak)
