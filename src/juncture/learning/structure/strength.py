"""Edge strengths by bootstrap: the share of resampled data sets with the edge (Friedman et al. 1999)."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np

from juncture.base.checks import check_number
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator, as_seed
from juncture.base.values import Value, content_key, read_only
from juncture.data.dataset import Dataset
from juncture.data.sources.entries import as_lazy_source
from juncture.drawing.diagram import Diagram, Node, Stroke
from juncture.drawing.diagram import Edge as Line
from juncture.drawing.notebook import diagram_html
from juncture.errors import DeterministicRelationWarning
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import EdgeConstraints, check_whole
from juncture.learning.structure.data import cases_in_memory, impossible_edges
from juncture.learning.structure.graph_comparison import links
from juncture.learning.structure.learn import resolve_method, resolve_search
from juncture.learning.structure.searches.equivalence_classes import apply_constraints
from juncture.learning.structure.sets import find_paths
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.runtime.workers import map_runs
from juncture.variables import Variable

SHOWN = 5  # edges that the repr shows
WEAKEST = 0.1  # edge that a picture shows


class EdgeStrengths(Value):
    """The share of bootstrap samples in which each edge was learned.

    Attributes
    ----------
    names
        The variables, in the order of the rows and columns of the matrices.
    joined
        (i, j): the share of samples with an edge between two variables, in either direction.
    directed
        (i, j): the share of samples with the edge i -> j. An edge whose direction data cannot identify counts half for
        each direction.
    bounds
        The constraints under which the edges were learned.
    seed
        The seed of the samples: `rng=strengths.seed` repeats them.
    """

    names: tuple[str, ...]
    joined: np.ndarray
    directed: np.ndarray
    bounds: EdgeConstraints
    seed: int | None

    def __init__(self, names: tuple[str, ...], directed: Any, bounds: EdgeConstraints, seed: int | None = None) -> None:
        shares = np.asarray(directed, dtype=np.float64)
        self._set(seed=seed)
        self._set(names=names, joined=read_only(shares + shares.T), directed=read_only(shares), bounds=bounds)

    def __repr__(self) -> str:
        edges = self.strongest()
        shown = [f"{tail} -> {head} {strength:.2f}" for tail, head, strength, _ in edges[:SHOWN]]
        return f"EdgeStrengths({', '.join(shown)}{', …' if len(edges) > SHOWN else ''})"

    def to_diagram(self) -> Diagram:
        """What is drawn: each edge as wide as it is strong; dashed are those that are not in the average graph."""
        kept = {frozenset(edge) for edge in self.average().edges}
        lines = []
        for tail, head, strength, share in self.strongest():
            is_kept = frozenset((tail, head)) in kept
            if is_kept or strength >= WEAKEST:
                stroke = Stroke.of_strength(strength)._replace(dashed=not is_kept)
                note = f"strength {strength:.2f}, this direction {share:.2f}"
                lines.append(Line(tail, head, stroke=stroke, note=note))
        legend = [
            (f"strength {self.threshold():.2g} or more", Stroke.of_strength(1.0)),
            (f"weaker, {WEAKEST} or more", Stroke.of_strength(WEAKEST)._replace(dashed=True)),
        ]
        return Diagram(map(Node, self.names), lines, legend=legend)

    def _repr_html_(self) -> str:
        return diagram_html(repr(self), self.to_diagram())

    def _key(self) -> Hashable:
        limits = (self.bounds.allowed, self.bounds.required, self.bounds.max_parents)
        return content_key((self.names, self.directed, *limits))

    def threshold(self) -> float:
        """The strength from which an edge is significant: the best split of the strengths into 0 and 1.

        After Scutari and Nagarajan (2013): the distribution of strengths is nearest, in area, to one of zeros and ones.
        """
        strengths = np.sort(self.joined[np.triu_indices(len(self.names), 1)])
        if not len(strengths):
            return 0.5
        edges = np.concatenate([[0.0], strengths, [1.0]])
        heights = np.arange(len(strengths) + 1) / len(strengths)
        widths = np.diff(edges)
        areas = [float(np.sum(widths * np.abs(heights - height))) for height in heights]
        index = int(np.argmin(areas))
        return float(strengths[index]) if index < len(strengths) else 1.0

    def average(self, threshold: float | None = None) -> DirectedGraph:
        """The edges above the threshold, the strongest first, each in its stronger direction; none closes a cycle."""
        least = self.threshold() if threshold is None else check_number(threshold, "the threshold")
        least = max(least, 1e-9)
        edges = np.zeros(self.joined.shape, dtype=np.bool_)
        pairs = [(one, other) for one, other in np.argwhere(np.triu(self.joined, 1) >= least).tolist()]
        order = sorted(pairs, key=lambda pair: (not self._is_required(*pair), -self.joined[pair]))
        for one, other in order:
            first = (one, other) if self.directed[one, other] >= self.directed[other, one] else (other, one)
            for tail, head in (first, first[::-1]):
                if self._fits(edges, tail, head):
                    edges[tail, head] = True
                    break
        return DirectedGraph(((self.names[tail], self.names[head]) for tail, head in np.argwhere(edges)), self.names)

    def _is_required(self, one: int, other: int) -> bool:
        return bool(self.bounds.required[one, other] or self.bounds.required[other, one])

    def _fits(self, edges: np.ndarray, tail: int, head: int) -> bool:
        may = self.bounds.allowed[tail, head] and not self.bounds.required[head, tail]
        has_room = edges[:, head].sum() < self.bounds.max_parents
        return bool(may and has_room and not find_paths(edges)[head, tail])

    def strongest(self) -> list[tuple[str, str, float, float]]:
        """Each edge as (tail, head, strength, share of that direction), the strongest first."""
        found = []
        for one, other in np.argwhere(np.triu(self.joined, 1) > 0).tolist():
            tail, head = (one, other) if self.directed[one, other] >= self.directed[other, one] else (other, one)
            share = float(self.directed[tail, head] / self.joined[tail, head])
            found.append(
                (self.names[tail], self.names[head], round(float(self.joined[tail, head]), 9), round(share, 9))
            )
        return sorted(found, key=lambda edge: (-edge[2], edge[:2]))


@one_path
def strengths(
    data: Any,
    method: Any = "auto",
    *,
    draws: int = 200,
    variables: Iterable[Variable] | None = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    **options: Any,
) -> EdgeStrengths:
    """The share of bootstrap samples from which each edge is learned.

    Parameters
    ----------
    data, variables, weights, rng, progress, **options
        As in `learn_structure`; `progress` is called with the number of the sample and the share of samples done.
    method
        As in `learn_structure`; "auto" is hill climbing, and structural EM where rows have missing cells.
    draws
        The number of bootstrap samples, each of as many rows as the data, drawn with replacement by their weights. Of
        a source, whole weights count rows. A source past memory is refused.

    Returns
    -------
    EdgeStrengths
        The strength and the direction of each edge, and their average graph.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = jt.sample(jt.example("student"), 1000, rng=0)
    >>> jt.structure.strengths(rows, draws=10).average().is_equivalent(jt.example("student").graph)
    True
    """
    check_whole(draws, "draws", least=1)
    check_progress(progress)
    dataset = cases_in_memory(data, variables, weights, "drawing bootstrap samples")
    search = resolve_search(resolve_method(method, dataset, options, default="hill-climbing"), options)
    num_rows = len(dataset) if as_lazy_source(data) is None else count_rows(dataset)
    names = tuple(dataset.columns)
    bounds = search.bounds(names, impossible_edges(dataset))
    total, seed = np.zeros((len(names), len(names))), as_seed(rng)
    shares = map_runs(partial(run_sample, search, dataset, num_rows, bounds), as_generator(seed).spawn(draws))
    with warnings.catch_warnings():
        for number, share in enumerate(shares, start=1):
            warnings.simplefilter("ignore", DeterministicRelationWarning)  # once is enough
            total += share
            if progress is not None:
                progress(number, float(number) / draws)
    return EdgeStrengths(names, total / draws, bounds, seed)


def run_sample(
    search: Any, data: Dataset, num_rows: int, bounds: EdgeConstraints, rng: np.random.Generator
) -> np.ndarray:
    """The edges learned from one bootstrap sample."""
    return edge_directions(search.run(resample_rows(data, num_rows, rng), rng=rng), bounds)


def count_rows(data: Dataset) -> int:
    """The number of rows of a source, of which the distinct ones are here with their total weights."""
    weights = np.ones(len(data)) if data.weights is None else data.weights
    return round(float(weights.sum())) if (weights == np.rint(weights)).all() else len(data)


def resample_rows(data: Dataset, num_rows: int, rng: np.random.Generator) -> Dataset:
    """Rows drawn with replacement; where rows have weights, the same rows, weighed by how often they were drawn."""
    weights = np.ones(len(data)) if data.weights is None else data.weights
    times = rng.multinomial(num_rows, weights / weights.sum())
    if data.weights is None:
        return data.take(np.repeat(np.arange(len(data)), times))
    return Dataset.from_codes(data.variables, data.columns, times * (weights.sum() / num_rows))


def edge_directions(graph: Any, bounds: EdgeConstraints) -> np.ndarray:
    """1 for each edge of the graph's class, (tail, head); half and half where it has no direction."""
    indices = {name: index for index, name in enumerate(bounds.names)}
    if isinstance(graph, DirectedGraph):
        graph = apply_constraints(graph.essential_graph(), bounds) or graph
    shares = np.zeros((len(indices), len(indices)))
    for pair, edge in links(graph).items():
        one, other = (indices[name] for name in edge or sorted(pair))
        shares[one, other] = 1.0 if edge else 0.5
        shares[other, one] = 0.0 if edge else 0.5
    return shares
