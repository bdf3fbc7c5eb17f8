"""Trees: the best graph in which each variable has at most one parent (Chow and Liu 1968), or one besides a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData, UnknownVariable
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained, EdgeConstraints
from juncture.learning.structure.data import Rows, impossible_edges, names_of
from juncture.learning.structure.scores.available_rows import (
    AvailableGains,
    AvailableMixedGains,
    StreamedGains,
    available_gains,
)
from juncture.learning.structure.scores.local_scores import ScoreCache, map_tasks, rounding
from juncture.learning.structure.scores.scores import scores_and_bounds, takes_holes
from juncture.learning.structure.sets import Positions, graph_of, members
from juncture.numerics.iteration import ProgressCallback

OUTSIDE = -1
Available = AvailableGains | AvailableMixedGains | StreamedGains


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

    def run(self, data: Rows, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
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

    def run(self, data: Rows, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
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


def tree_scores(search: Constrained, score: Any, data: Rows) -> tuple[ScoreCache | Available, EdgeConstraints]:
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
