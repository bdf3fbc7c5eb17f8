"""Structural EM (Friedman 1998): the best model so far completes the missing cells, and the structure is learned again.

Missing cells take every state with its posterior probability where a row has few ways to be completed, which gives the
expected counts; otherwise they are drawn from their joint posterior, several times each, which approximates these. The
graph whose fitted model has the best BIC, of the rows as they are, is kept.

Only families with incomplete columns change from step to step: they alone are fitted by EM and counted again (`holes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, TooLarge
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained, check_positive, check_whole
from juncture.learning.structure.data import Cases, advise, check_numbers, impossible_edges
from juncture.learning.structure.holes.completion import CompletedRows, complete, has_numbers
from juncture.learning.structure.holes.expected_scores import KeptCounts
from juncture.learning.structure.holes.observed_fit import ObservedFits
from juncture.learning.structure.scores.discrete import NodeAverage, ObservedScores, observed_scores
from juncture.learning.structure.scores.local_scores import ScoreCache, rounding
from juncture.learning.structure.searches.hill_climbing import HillClimb, HillClimbing
from juncture.learning.structure.searches.interruption import SearchInterrupted
from juncture.learning.structure.sets import find_descendants, graph_of, members, parents_of, set_of
from juncture.numerics.iteration import ProgressCallback

PATIENCE = 3  # steps without a better graph that end it: where completions are drawn, steps may miss
MOST_TRIED = 10  # changes of a graph that are fitted where climbing ends


@dataclass(frozen=True, kw_only=True)
class StructuralEM(Constrained):
    """Structural EM for rows with holes: complete the missing cells, climb on the completed rows, fit, and repeat.

    The first graph maximises the node-average score; where columns are real it has no edges. Complete rows need one
    climb.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score, tabu, restarts
        As in `HillClimbing`.
    completions
        How many times the missing cells of each row are drawn, where there are more than 64 ways to complete it, or a
        column is real. With fewer ways each counts with its posterior probability, and nothing is drawn.
    max_steps
        The largest number of repetitions.
    prior
        The pseudo-count of each cell when parameters are fitted; for a real column, so many rows of standard numbers.
    """

    score: Any = "bic"
    tabu: int = 0
    restarts: int = 0
    completions: int = 5
    max_steps: int = 10
    prior: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("tabu", 0), ("restarts", 0), ("completions", 1), ("max_steps", 1)):
            check_whole(getattr(self, name), name, least)
        check_positive(self.prior, "the prior of structural EM")

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        if data.is_complete:
            return self._search(self.score).run(data, rng=rng, progress=progress)
        if not isinstance(data, Dataset):
            raise TooLarge(
                "structural EM draws the missing cells of each row, and so needs rows in memory; past it,"
                f" {advise(data)}"
            )
        best: DirectedGraph | None = None
        step = 0
        try:
            data = standardize(data)
            fits = ObservedFits(data, self._priors(data))
            counts = KeptCounts(self.score, fits.rows, fits.incomplete)
            observed = None if has_numbers(data) else observed_scores(NodeAverage(), fits.rows)
            graph, rows, peak, since = self._first_graph(data, observed, rng), None, -np.inf, 0
            best = graph
            for step in range(1, self.max_steps + 1):
                fitted = fits.fit(graph, None if rows is None else rows.together)
                since = 0 if fitted.score > peak + rounding(fitted.score) else since + 1
                best, peak = (graph, fitted.score) if since == 0 else (best, peak)
                if progress is not None:
                    progress(step, peak)
                if since == PATIENCE or step == self.max_steps:
                    break
                rows = complete(fits, fitted.network, self.completions, rng)
                following = self._climb(counts, rows, graph, rng)
                if following == graph and since == 0:
                    found = self._improve(fits, observed, best, peak)
                    if found is None and rows.is_exact:
                        break  # the graph would be fitted again, and completed in the same way
                    following = found or following
                graph = following
        except KeyboardInterrupt as stop:
            if best is None:  # the climb to the first graph keeps its own
                raise
            raise SearchInterrupted(best, f"structural EM was interrupted in step {step}") from stop
        return best

    def _first_graph(self, data: Dataset, observed: ObservedScores | None, rng: np.random.Generator) -> DirectedGraph:
        """The best graph by the node-average score; where columns are real, the required edges alone."""
        names = tuple(data.columns)
        bounds = self.bounds(names, impossible_edges(data))
        if observed is not None:
            return graph_of(names, self._search(NodeAverage()).search(ScoreCache(observed), bounds, rng))
        return DirectedGraph(self.required, names)

    def _climb(
        self, counts: KeptCounts, rows: CompletedRows, graph: DirectedGraph, rng: np.random.Generator
    ) -> DirectedGraph:
        """The best graph by the expected counts, climbing from no edges and from the present graph.

        The second never ends below the present graph, so that with exact counts the score of the observed cells cannot
        fall; where neither ends above, the graph stays.
        """
        scores = ScoreCache(counts.scores(rows))
        bounds = self.bounds(scores.names, impossible_edges(counts.data))
        search, here = self._search(self.score), parents_of(graph)
        path = HillClimb(scores, bounds, 0, None)
        search.climb(path, here)
        apart = path.new_climb()
        search.climb(apart, bounds.needed)
        search.continue_search(apart, rng)
        path.take(apart)
        before = scores.total(here)
        return graph_of(scores.names, path.best) if path.peak > before + rounding(before) else graph

    def _improve(
        self, fits: ObservedFits, observed: ObservedScores | None, graph: DirectedGraph, peak: float
    ) -> DirectedGraph | None:
        """A graph with one edge more or less whose observed cells score more; None where there is none.

        Expected counts take a missing cell for what the graph says, and so favour it: a dependence that the graph has
        not looks weaker than it is. What a change gains in the rows in which its family is observed does not; changes
        that gain there are fitted, the largest first.
        """
        if observed is None:
            return None
        bounds, parents = self.bounds(observed.names), parents_of(graph)
        cost, sizes = 0.5 * log(max(fits.weight, 1.0)), observed.rows.sizes.astype(float)
        incomplete = set_of(observed.names.index(name) for name in fits.incomplete)
        edges = np.array([[bool(own >> one & 1) for own in parents] for one in range(len(parents))])
        reaches, changes = find_descendants(edges), []
        for child, own in enumerate(parents):
            for one in members(bounds.candidates[child]):
                others, is_there = own & ~(1 << one), bool(own >> one & 1)
                if not (own | 1 << child | 1 << one) & incomplete:
                    continue
                is_full = own.bit_count() >= bounds.max_parents or reaches[child, one]
                if bounds.required[one, child] if is_there else is_full:
                    continue
                given = members(others)
                more = float(np.prod(sizes[given])) * (sizes[one] - 1) * (sizes[child] - 1)
                gain = observed.gain(child, given, one) - cost * more
                changes.append((-gain if is_there else gain, child, own ^ 1 << one))
        for gain, child, own in sorted(changes, reverse=True)[:MOST_TRIED]:
            if gain <= 0.0:
                break
            changed = graph_of(observed.names, [*parents[:child], own, *parents[child + 1 :]])
            if fits.fit(changed).score > peak + rounding(peak):
                return changed
        return None

    def _priors(self, data: Dataset) -> Any:
        """The pseudo-count for tables, and as many rows of standard numbers for lines."""
        if not has_numbers(data):
            return self.prior
        line = NormalInverseGamma(0.0, self.prior, 1.0 + 0.5 * self.prior, 0.5 * self.prior)
        return {variable.name: line if variable.is_real else self.prior for variable in data.variables}

    def _search(self, score: Any) -> HillClimbing:
        constraints = {name: getattr(self, name) for name in Constrained.__dataclass_fields__}
        return HillClimbing(score=score, tabu=self.tabu, restarts=self.restarts, **constraints)


def standardize(data: Dataset) -> Dataset:
    """Real columns less their mean, in units of their deviation: the prior depends on units, a graph does not."""
    check_numbers(data)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    columns = dict(data.columns)
    for variable in data.variables:
        if variable.is_real:
            columns[variable.name] = standard_column(variable.name, columns[variable.name], weights)
    return Dataset.from_codes(data.variables, columns, data.weights)


def standard_column(name: str, column: np.ndarray, weights: np.ndarray) -> np.ndarray:
    known = ~np.isnan(column) & (weights > 0)
    if not known.any():
        raise InvalidData(f"no row has a value of {name!r}: leave the column out")
    mean = np.average(column[known], weights=weights[known])
    deviation = np.sqrt(np.average((column[known] - mean) ** 2, weights=weights[known]))
    if not deviation > 0:
        raise InvalidData(f"{name!r} has the same number in every row that has one: leave the column out")
    return np.asarray((column - mean) / deviation)
