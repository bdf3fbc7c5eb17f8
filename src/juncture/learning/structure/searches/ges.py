"""Greedy equivalence search (Chickering 2002): insert edges between classes of equivalent graphs, then delete some.

With enough rows it finds the class of the true graph, if there is one; choose it over hill climbing when directions
matter. It goes on from insertions to deletions and back until neither gains, then turns edges (Hauser and Bühlmann
2012). From a peak, variables lose their edges and find their place anew, as in hill climbing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.iteration import Watch
from juncture.learning.structure.constraints import Bounds, Constrained
from juncture.learning.structure.scores.local_scores import ScoreCache
from juncture.learning.structure.scores.scores import families_of
from juncture.learning.structure.searches.equivalence_classes import GraphClass, informed
from juncture.learning.structure.searches.equivalence_search import EquivalenceSearch


@dataclass(frozen=True, kw_only=True)
class GES(Constrained):
    """The class of graphs at the end of the search, as a CPDAG; with `directed` one graph of it.

    Without `turning` and `reinsert` edges are inserted and deleted only, as in the first paper.
    """

    score: Any = "bic"
    directed: bool = False
    turning: bool = True
    reinsert: bool = True

    def run(
        self, data: Dataset, *, rng: np.random.Generator, progress: Watch | None = None
    ) -> PartiallyDirectedGraph | DirectedGraph:
        scores = ScoreCache(families_of(self.score, data))
        bounds = self.bounds(scores.names)
        found = self.search(scores, bounds, progress)
        if self.directed:
            return found.member
        told = informed(found.essential, bounds)
        return found.essential if told is None else told

    def search(self, scores: ScoreCache, bounds: Bounds, progress: Watch | None = None) -> GraphClass:
        """The class at the end, and a graph of it."""
        search = EquivalenceSearch(scores, bounds, progress)
        found = search.climb(bounds.needed, self.turning)
        return search.settle(found, self.turning) if self.reinsert else found
