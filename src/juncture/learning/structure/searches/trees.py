"""Trees: the best graph in which each variable has at most one parent (Chow and Liu 1968), or one besides a class.

The gain of each edge does not depend on the other edges, so the best tree is a maximum branching. Where cells are
missing, each gain is computed from the rows in which its family is observed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.options import resolve
from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import InvalidData, TooLarge, UnknownVariable
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained, EdgeConstraints
from juncture.learning.structure.data import Cases, advise, impossible_edges, names_of, total_weight
from juncture.learning.structure.scores.discrete import (
    KINDS,
    CodedRows,
    DiscreteScores,
    OverCodedRows,
    check_some_observed,
)
from juncture.learning.structure.scores.local_scores import NOTHING, ScoreCache, edge_cost, map_tasks, rounding
from juncture.learning.structure.scores.scores import (
    SCORES,
    EdgePrior,
    as_local_scores,
    counting_rule,
    scores_and_bounds,
    takes_holes,
)
from juncture.learning.structure.scores.streamed_scores import score_cells
from juncture.learning.structure.sets import Positions, graph_of, members, set_of
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.learning.structure.streamed.sums import SummedRows
from juncture.numerics.iteration import ProgressCallback

OUTSIDE = -1


@dataclass(frozen=True, kw_only=True)
class ChowLiu(Constrained):
    """The tree with the best score; with the log-likelihood, the tree with the most mutual information along its edges.

    A score that penalises parameters, such as "bic", gives a forest: an edge that costs more than it gains is left out.
    Where cells are missing, each edge is judged by the rows in which both of its ends are observed, which is right if
    cells are missing completely at random.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score
        As in `HillClimbing`.
    root
        The variable without a parent. No score identifies the root; by default, without constraints, it is the first
        variable.
    """

    score: Any = "log-likelihood"
    root: str | None = None

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        scores, bounds = tree_scores(self, self.score, data)
        names = scores.names
        weights = find_gains(scores, bounds, [0] * len(names))
        check_one_parent(bounds, range(len(names)))
        if self.root is not None or bounds.is_free:
            root = index_named(self.root, names) if self.root is not None else 0
            check_no_parents(bounds, root, "is the root")
            weights[:, root : root + 1] = -np.inf
        return graph_of(names, add_one_parent(weights, bounds, [0] * len(names)))


@dataclass(frozen=True, kw_only=True)
class TreeAugmented(Constrained):
    """Tree-augmented naive Bayes (TAN): each feature has the class and at most one other feature as parents.

    The tree has the most mutual information given the class (Friedman, Geiger and Goldszmidt 1997); with the score
    "bic" it is a forest. Where cells are missing, each edge is judged by the rows in which its ends and the class are
    observed, which is right if cells are missing completely at random.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score
        As in `HillClimbing`.
    target
        The name of the class variable.
    """

    target: str
    score: Any = "log-likelihood"

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        scores, bounds = tree_scores(self, self.score, data)
        names = scores.names
        target = index_named(self.target, names)
        check_no_parents(bounds, target, "is the class, the parent of all others")
        under = bounds.allowed[target] & (bounds.max_parents > 0)
        common = [int(flag) << target for flag in under]
        features = [index for index in range(len(names)) if index != target]
        check_one_parent(bounds, features, besides=target)
        check_room(bounds, target, under)
        weights = find_gains(scores, bounds, common)
        weights[target] = weights[:, target] = -np.inf
        return graph_of(names, add_one_parent(weights, bounds, common))


def tree_scores(search: Constrained, score: Any, data: Cases) -> tuple[ScoreCache | Available, EdgeConstraints]:
    """The scores of families, or where cells are missing the gains of edges, and the constraints."""
    if data.is_complete or takes_holes(score):
        return scores_and_bounds(search, score, data)
    return available_gains(score, data), search.bounds(names_of(data), impossible_edges(data))


def find_gains(scores: ScoreCache | Available, bounds: EdgeConstraints, common: Sequence[Positions]) -> np.ndarray:
    """The gain of each child from one more parent: (parent, child), -inf where the edge is not allowed."""
    if isinstance(scores, Available):
        return gains_with_holes(scores, bounds, common)
    return edge_gains(scores, bounds, common)


def gains_with_holes(found: Available, bounds: EdgeConstraints, common: Sequence[Positions]) -> np.ndarray:
    """As `edge_gains`, from the rows in which the child and its parents are observed."""
    tasks = [
        (child, members(parents), members(bounds.candidates[child] & ~parents))
        for child, parents in enumerate(common)
        if parents.bit_count() < bounds.max_parents
    ]
    cells = sum(len(candidates) for _, _, candidates in tasks) * found.num_rows
    gains = np.full(bounds.allowed.shape, -np.inf)
    computed = map_tasks(lambda task: found.gains(*task), tasks, cells)
    for (child, _, candidates), values in zip(tasks, computed, strict=True):
        gains[candidates, child] = values
    return gains


def edge_gains(scores: ScoreCache, bounds: EdgeConstraints, common: Sequence[Positions]) -> np.ndarray:
    """The gains from the scores of families."""
    wanted = [(child, parents, bounds.candidates[child]) for child, parents in enumerate(common)]
    scores.compute_toggles(wanted)
    gains = np.full(bounds.allowed.shape, -np.inf)
    for child, parents, candidates in wanted:
        alone = scores.family(child, parents)
        if parents.bit_count() < bounds.max_parents and np.isfinite(alone):
            joining = members(candidates & ~parents)
            found = scores.toggle_scores(child, parents, candidates)[joining] - alone
            gains[joining, child] = np.where(np.abs(found) < rounding(alone), 0.0, found)
    return gains


def add_one_parent(weights: np.ndarray, bounds: EdgeConstraints, common: Sequence[Positions]) -> list[Positions]:
    """The parents of each variable with at most one more parent; required parents come first."""
    finite = np.where(np.isfinite(weights), weights, 0.0)
    enough = 1.0 + np.abs(finite).max(initial=0.0) * (len(weights) + 1)
    is_common = np.array([[one >> index & 1 for one in common] for index in range(len(common))], dtype=np.bool_)
    preferred = np.where(bounds.required & ~is_common, enough, weights)
    parents = maximum_branching(preferred)
    return [one | (0 if parent == OUTSIDE else 1 << parent) for one, parent in zip(common, parents, strict=True)]


def check_one_parent(bounds: EdgeConstraints, children: Sequence[int], besides: int | None = None) -> None:
    """Check that no child has two required parents, apart from the class."""
    required = bounds.required.copy()
    if besides is not None:
        required[besides] = False
    for child in children:
        if required[:, child].sum() > 1:
            first, second = (bounds.names[index] for index in np.flatnonzero(required[:, child])[:2])
            raise InvalidData(
                f"the edges {first!r} -> {bounds.names[child]!r} and {second!r} -> {bounds.names[child]!r} are both"
                " required, but in a tree each variable has at most one parent"
            )


def check_no_parents(bounds: EdgeConstraints, index: int, what: str) -> None:
    """Check that the root or the class has no required parent."""
    for parent in np.flatnonzero(bounds.required[:, index]):
        names = bounds.names
        raise InvalidData(
            f"the edge {names[parent]!r} -> {names[index]!r} is required, but {names[index]!r} {what}, and has no"
            " parent"
        )


def check_room(bounds: EdgeConstraints, target: int, under: np.ndarray) -> None:
    """A feature that has the class as its one allowed parent has no room for another."""
    for parent, child in np.argwhere(bounds.required & under):
        if parent != target and bounds.max_parents < 2:
            raise InvalidData(
                f"the edge {bounds.names[parent]!r} -> {bounds.names[child]!r} is required, but beside the class"
                f" {bounds.names[target]!r} max_parents={bounds.max_parents} leaves no room for it: allow 2"
            )


def index_named(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise UnknownVariable.among(name, names, where="the data")
    return names.index(name)


def maximum_branching(weights: np.ndarray) -> list[int]:
    """The parent of each node, `OUTSIDE` for roots, with the largest sum of `weights` (parent, child).

    An edge of weight -inf cannot be; one of weight 0 is as good as none, and is taken. Chu and Liu's way (1965):
    every node takes its best parent; a cycle is contracted to one node, whose edges have the cost of leaving it.
    """
    size = len(weights)
    with_root = np.full((size + 1, size + 1), -np.inf)
    with_root[:size, :size] = weights
    with_root[size, :size] = -penalty(weights)  # an outside root, a possible parent of every node, at a cost
    np.fill_diagonal(with_root, -np.inf)
    parents = arborescence(with_root, list(range(size)), size)
    return [OUTSIDE if parents[child] == size else parents[child] for child in range(size)]


def penalty(weights: np.ndarray) -> float:
    """What a root costs: nothing is added that would lower the sum, so that it only decides ties."""
    finite = weights[np.isfinite(weights)]
    return 1e-12 * max(1.0, float(np.abs(finite).max(initial=0.0)))


def arborescence(weights: np.ndarray, nodes: list[int], root: int) -> dict[int, int]:
    """The parent of each of the nodes, all of which the root reaches."""
    parents = {node: int(np.argmax(weights[:, node])) for node in nodes}
    cycle = find_cycle(parents, root)
    if not cycle:
        return parents
    whole = len(weights)
    merged, entry, leaving = contract(weights, np.array(cycle), parents)
    found = arborescence(merged, [*(node for node in nodes if node not in set(cycle)), whole], root)
    outside = {child: int(leaving[child]) if parent == whole else parent for child, parent in found.items()}
    broken = int(entry[outside.pop(whole)])
    return outside | {node: parents[node] for node in cycle} | {broken: found[whole]}


def contract(weights: np.ndarray, inside: np.ndarray, parents: dict[int, int]) -> tuple[np.ndarray, ...]:
    """The cycle as one more node: (weights, where an edge from each node enters it, where one to each leaves it)."""
    size = len(weights)
    kept = np.array([weights[parents[int(node)], node] for node in inside])
    into = weights[:, inside] - kept
    merged = np.full((size + 1, size + 1), -np.inf)
    merged[:size, :size] = weights
    merged[:size, size] = into.max(axis=1)
    merged[size, :size] = weights[inside].max(axis=0)
    merged[inside] = merged[:, inside] = -np.inf
    return merged, inside[into.argmax(axis=1)], inside[weights[inside].argmax(axis=0)]


def find_cycle(parents: dict[int, int], root: int) -> list[int]:
    """The nodes of one cycle, or none."""
    finished = {root}
    for start in parents:
        path: dict[int, None] = {}
        node = start
        while node not in finished and node not in path:
            path[node] = None
            node = parents[node]
        if node in path:
            nodes = list(path)
            return nodes[nodes.index(node) :]
        finished.update(path)
    return []


def available_gains(score: Any, data: Cases) -> AvailableGains | AvailableMixedGains | StreamedGains:
    """The gains under a score, of columns with states or real ones."""
    wanted, cost = resolve(score, SCORES, what="score"), 0.0
    while isinstance(wanted, EdgePrior):
        cost += edge_cost(len(data.variables), wanted.expected_parents)
        wanted = resolve(wanted.score, SCORES, what="score")
    if isinstance(data, SummedRows):
        raise TooLarge(f"gains of edges between numbers with holes need rows in memory; past it, {advise(data)}")
    if isinstance(data, Dataset) and any(variable.is_real for variable in data.variables):
        return AvailableMixedGains(data, wanted, cost)
    counting_rule(wanted, 1.0)  # refuses a score of real numbers
    check_some_observed(data)
    rows = data.sample if isinstance(data, StreamedRows) else data
    gains = AvailableGains(CodedRows.with_holes(rows), lambda total: counting_rule(wanted, total), cost)
    return StreamedGains(data, gains) if isinstance(data, StreamedRows) else gains


@dataclass(frozen=True, eq=False)
class AvailableGains(OverCodedRows):
    """What one more parent adds to the score of a child: with and without it, the same rows are scored.

    The gain in n of N rows is multiplied by N / n: with the log-likelihood it is N times the mutual information. It
    depends on no other edge, which is enough for trees; other searches compare families over different rows. An edge
    that adds more free parameters than n, as one of an identifier does, is left out: n rows cannot tell them.
    """

    rule: Callable[[float], tuple[str, float]]  # how a table is scored, given the number of rows
    edge_cost: float = 0.0

    def gains(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        return np.array([self._gain([child, *parents, candidate]) for candidate in candidates], dtype=float)

    def _gain(self, members: list[int]) -> float:
        codes, sizes = self.rows.codes[members], self.rows.sizes[members]
        is_whole = (codes >= 0).all(axis=0)
        weights = self.rows.weights[is_whole]
        total = float(weights.sum())
        added = (sizes[0] - 1) * (sizes[-1] - 1) * float(np.prod(sizes[1:-1], dtype=float))  # free parameters
        if total == 0.0 or added > max(total, len(weights)):  # weights may sum to 1
            return -np.inf
        names = tuple(self.names[one] for one in members)
        observed = CodedRows(names, np.ascontiguousarray(codes[:, is_whole]), weights, sizes)
        kind, amount = self.rule(total)
        *parents, last = range(1, len(members))
        scores = DiscreteScores(observed, KINDS.index(kind), amount).score_extensions(0, parents, [NOTHING, last])
        gain = scores[1] - scores[0]
        gain = 0.0 if abs(gain) < rounding(scores[0]) else gain
        return float(self.rows.weights.sum() / total * gain - self.edge_cost)


@dataclass(frozen=True, eq=False)
class AvailableMixedGains:
    """As `AvailableGains`, where some columns are real."""

    data: Dataset
    score: Any
    edge_cost: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.data.columns)

    @property
    def num_rows(self) -> int:
        return self.data.num_rows

    def gains(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        return np.array([self._gain([child, *parents, candidate]) for candidate in candidates], dtype=float)

    def _gain(self, members: list[int]) -> float:
        part = self.data.only(self.names[one] for one in members)
        is_whole = ~np.any([has_hole(column) for column in part.columns.values()], axis=0)
        whole, total = part.take(is_whole), total_weight(part)
        seen = total_weight(whole)
        if not seen:
            return -np.inf
        scores = ScoreCache(as_local_scores(self.score, whole))
        last = 1 << (len(members) - 1)
        without = scores.family(0, last - 2)  # the parents are at the positions from 1 on
        gain = scores.family(0, last - 2 | last) - without if np.isfinite(without) else -np.inf
        gain = 0.0 if abs(gain) < rounding(without) else gain
        return float(total / seen * gain - self.edge_cost)


class StreamedGains:
    """As `AvailableGains`: the gain of an edge, from the rows in which its family is observed."""

    def __init__(self, rows: StreamedRows, sample: AvailableGains) -> None:
        self.rows, self.sample = rows, sample
        self.names, self.num_rows = rows.names, sample.num_rows

    def gains(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        found = [self._gain(child, parents, one) for one in candidates]
        unknown = [one for one, gain in zip(candidates, found, strict=True) if gain is None]
        estimates = iter(self.sample.gains(child, parents, unknown) if unknown else ())
        return np.array([float(next(estimates)) if gain is None else gain for gain in found], dtype=float)

    def _gain(self, child: int, parents: Sequence[int], candidate: int) -> float | None:
        table = self.rows.table(set_of([child, *parents, candidate]))
        if table is None:
            return None
        sizes = self.rows.sizes
        total = float((table if isinstance(table, np.ndarray) else table.weights).sum())
        added = (sizes[child] - 1) * (sizes[candidate] - 1) * float(np.prod(sizes[list(parents)], dtype=float))
        if total == 0.0 or added > total:
            return -np.inf
        kind, amount = self.sample.rule(total)
        everyone, rule = set_of([child, *parents, candidate]), (KINDS.index(kind), amount)
        without = score_cells(self.rows, table, everyone, (*parents, child), *rule)
        gain = score_cells(self.rows, table, everyone, (candidate, *parents, child), *rule) - without
        gain = 0.0 if abs(gain) < rounding(without) else gain
        return float(self.rows.weight / total * gain - self.sample.edge_cost)


Available = AvailableGains | AvailableMixedGains | StreamedGains
