"""Clique trees of bounded size, one after the other: each is thinned to the interface that the next one starts from.

Factors enter in a breadth-first order of the nodes. A tree takes as many of them as its cliques allow; it is
calibrated, which gives its share of log Z, and thinned to the nodes that later factors have. The factors of the thinned
tree and the next factors of the model make the next tree. On the way back each tree is multiplied by the ratio between
what the next tree believes about the interface and what was handed to it, so that all trees know of all factors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.bounded.clique_tree import CliqueTree, Nodes, calibrate, plan_cliques
from juncture.inference.bounded.thinning import GROWTH, thin
from juncture.inference.exact.elimination import LogFactor
from juncture.runtime.memory import check_memory

BYTES_PER_CELL = 40  # of beliefs on the way and back, a message, and what a step makes of them
SHARE = 0.5  # of the largest clique of a tree: the largest of it thinned


@dataclass(frozen=True, eq=False)
class LinkedTrees:
    """Calibrated trees, the thinned trees between them, and the log of the sum of all."""

    trees: tuple[CliqueTree, ...]
    thinned: tuple[CliqueTree, ...]
    log_total: float
    loss: float | None  # of all removals; None where none was made, so that the total is exact


@dataclass(frozen=True)
class TreeLimits:
    """The entries of the largest clique, the bytes of all trees, and the time on the clock when trees have to end."""

    size: float
    memory_limit: float | None = None
    deadline: float | None = None

    def check(self, trees: Sequence[CliqueTree], num_waiting: int) -> None:
        """Raise `TooLarge` beyond the bytes or the time: half of the trees tell nothing of the rest."""
        cells = sum(tree.cells(clique) for tree in trees for clique in tree.nodes)
        remedy = "lower the size, or raise memory_limit"
        check_memory(BYTES_PER_CELL * cells, "bounded clique trees", remedy, self.memory_limit)
        if self.deadline is not None and num_waiting and time.monotonic() > self.deadline:
            raise TooLarge(
                f"bounded clique trees have {num_waiting:,} factors left at the end of the budget: raise the budget, or"
                " infer by method='loopy'"
            )


def build_trees(factors: Sequence[LogFactor], num_states: np.ndarray, limits: TreeLimits) -> LinkedTrees:
    """The trees of a product of factors; the last one knows of all factors, the others of those before them."""
    waiting = in_breadth_first_order(factors, len(num_states)) if factors else []
    trees: list[CliqueTree] = []
    thinned: list[CliqueTree] = []
    losses: list[float] = []
    size = find_size(waiting, num_states, limits.size)
    while waiting:
        carried, count = make_room(thinned[-1] if thinned else None, waiting, num_states, size, losses)
        trees.append(calibrate([*carried, *waiting[:count]], num_states))
        waiting = waiting[count:]
        limits.check(trees, len(waiting))
        if trees[-1].log_total == -np.inf:
            break
        if waiting:
            thinned.append(trees[-1].copy())
            losses += thin(thinned[-1], nodes_of(waiting), SHARE * size)
    total = float(sum(tree.log_total for tree in trees))
    return LinkedTrees(tuple(trees), tuple(thinned), total, sum(losses) if losses else None)


def find_size(factors: Sequence[LogFactor], num_states: np.ndarray, size: float) -> float:
    """The largest clique of a tree: the given size if one tree has room for all, else less, as thinning needs room."""
    is_whole = not factors or fits([factor.nodes for factor in factors], num_states, size)
    return size if is_whole else max(size / GROWTH, 2.0)


def fits(scopes: Sequence[Nodes], num_states: np.ndarray, size: float) -> bool:
    """Whether a clique tree of these scopes was found that has no clique of more than `size` cells."""
    return plan_cliques(scopes, num_states)[1].cost.largest_table <= size


def make_room(
    thinned: CliqueTree | None, waiting: Sequence[LogFactor], num_states: np.ndarray, size: float, losses: list[float]
) -> tuple[list[LogFactor], int]:
    """What the last tree hands on, thinned further until the next tree can take a factor, and how many it can."""
    scopes, needed = [factor.nodes for factor in waiting], nodes_of(waiting)
    while True:
        carried = [] if thinned is None else thinned.to_factors()
        count = longest_prefix([factor.nodes for factor in carried], scopes, num_states, size)
        joints = [] if thinned is None else [thinned.cells(c) for c, nodes in thinned.nodes.items() if len(nodes) > 1]
        if count or thinned is None or not joints:
            return carried, max(count, 1)  # a factor that is larger than the size has a clique of its own
        losses += thin(thinned, needed, max(joints) / 2)


def longest_prefix(carried: Sequence[Nodes], waiting: Sequence[Nodes], num_states: np.ndarray, size: float) -> int:
    """How many of the waiting scopes, in their order, fit into cliques of at most `size` cells with the carried."""
    low, high = 0, 1
    while high < len(waiting) and fits([*carried, *waiting[:high]], num_states, size):
        low, high = high, min(2 * high, len(waiting))
    if high == len(waiting) and fits([*carried, *waiting], num_states, size):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits([*carried, *waiting[:middle]], num_states, size) else (low, middle)
    return low


def pass_back(linked: LinkedTrees) -> list[CliqueTree]:
    """All trees, each multiplied by what the next believes about the interface, divided by what it was given."""
    found = list(linked.trees[-1:])
    for tree, thinned in zip(reversed(linked.trees[:-1]), reversed(linked.thinned), strict=True):
        later, believed = found[0], thinned.copy()
        for clique, nodes in thinned.nodes.items():
            believed.beliefs[clique] = later.marginal_of(nodes)
        pairs = zip(believed.to_factors(), thinned.to_factors(), strict=True)
        ratios = [LogFactor(new.nodes, log_ratio(new.logs, old.logs)) for new, old in pairs]
        found.insert(0, calibrate([*tree.to_factors(), *ratios], tree.num_states))
    return found


def log_ratio(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The log of a ratio, 1 where the denominator is 0: nothing is there to be changed."""
    return np.subtract(new, old, out=np.zeros_like(new), where=old > -np.inf)


def in_breadth_first_order(factors: Sequence[LogFactor], num_nodes: int) -> list[LogFactor]:
    """The factors by their first node in a breadth-first order from a node at the rim (Cuthill and McKee 1969)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pairs = np.array([(a, b) for factor in factors for a in factor.nodes for b in factor.nodes]).reshape(-1, 2)
    graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(num_nodes, num_nodes))
    steps = np.empty(num_nodes, dtype=np.int64)
    steps[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(num_nodes)
    return sorted(factors, key=lambda factor: sorted(steps[list(factor.nodes)].tolist()))


def nodes_of(factors: Sequence[LogFactor]) -> set[int]:
    return {node for factor in factors for node in factor.nodes}
