"""`SparsePlan`: a junction tree whose cliques keep only the cells that can be non-zero.

Which these are is planned once from the zeros of the factors (`Supports`): first the joint states that each separator
can have by the factors below it, leaves first, then the cells of each clique that fit them and the separator above. So
every cell that is kept is part of a joint state that no factor forbids. The dense tables are never built.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Cost
from juncture.inference.exact.clique_search import CliqueTree, PlanningTooLong
from juncture.inference.exact.junction_tree.plan import CliquePlan
from juncture.kernels.junction_tree.layout import (
    CONSTANT,
    GATHER,
    INDEX,
    MARGINAL,
    MESSAGE,
    MOVE,
    NODE_CLIQUE,
    NUM_RUNS,
    OFFSET,
    PARENT,
    RUN,
    SEPARATOR,
    SIZE,
    STATES,
    lay_out,
)
from juncture.kernels.junction_tree.packing import assign_factors
from juncture.kernels.sparse_tree.layout import CODES, Factors, Layout, Tree
from juncture.kernels.sparse_tree.packing import pack_cells
from juncture.kernels.sparse_tree.supports import (
    FOUND,
    NOTHING,
    TOO_LONG,
    TOO_MANY,
    drop_unsupported,
    find_restrictive,
    find_separators,
    lay_out_cells,
)

MAX_KEYS = 62 * np.log(2.0)  # logarithm of a clique's joint states: beyond it a whole number does not hold their keys
MAX_STEPS = 2**30  # of the walk over joint states
STEPS_PER_SECOND = 1.5e7
OPERATIONS_PER_KEPT_CELL = 9
NO_INDICES = np.empty(0, np.int32)
BYTES_PER_ENTRY = 48  # of a message: old, new, ratio, back, where its cells start, its key


@dataclass(frozen=True, eq=False, repr=False)
class SparsePlan(CliquePlan):
    """The arrays that the kernels read; `kernels.sparse_tree` says how."""

    blocks: np.ndarray  # (entry + 1,): where the cells of each entry of all messages start
    runs: np.ndarray  # (run,): the first cell of each run of cells that read one message
    codes: np.ndarray  # the states of the nodes in the cells of the cliques where they are at home
    supports: Supports
    tree: Tree  # as the kernels walk it
    factors: Factors
    entries: np.ndarray  # the joint states of all separators, as keys
    entry_starts: np.ndarray  # (clique,)
    entry_stops: np.ndarray
    coded: list[bool] = field(default_factory=list)  # not empty once the codes are filled in

    @cached_property
    def layout(self) -> Layout:
        """What a run reads."""
        below = self.tree.child_starts, self.tree.children
        return Layout(self.table, self.blocks, self.indices, self.runs, self.node_table, self.codes, *below)

    def fill(self, values: np.ndarray, base: np.ndarray, mode: int) -> None:
        """Walk over all cells, as `pack_cells` does; the first walk fills in the codes of the nodes too."""
        if not self.num_cells:  # nothing is possible
            return
        homes = self.homes if not self.coded else (np.zeros(self.num_cliques + 1, np.int64), *self.homes[1:])
        pack_cells(
            self.tree, self.factors, self.supports.supported, self.supports.possible, self.entries, self.entry_starts,
            self.entry_stops, self.table, *self.held, values, mode, base, *homes, self.codes,
        )  # fmt: skip
        self.coded.append(True)

    @cached_property
    def held(self) -> tuple[np.ndarray, np.ndarray]:
        """The factors of each clique, as flat lists."""
        order = np.argsort(self.factor_cliques, kind="stable")
        return np.searchsorted(self.factor_cliques[order], np.arange(self.num_cliques + 1)), order

    @property
    def homes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each clique the axes of the nodes that are at home there, as flat lists, and where their codes start."""
        order = np.argsort(self.node_table[:, NODE_CLIQUE], kind="stable")
        cliques = self.node_table[order, NODE_CLIQUE]
        starts = np.searchsorted(cliques, np.arange(self.num_cliques + 1))
        axes = [
            int(np.flatnonzero(self.nodes[self.starts[clique] : self.starts[clique + 1]] == node)[0])
            for node, clique in zip(order, cliques, strict=True)
        ]
        return starts, np.array(axes, np.int64), self.node_table[order, CODES]

    def starts_of_blocks(self, clique: int) -> np.ndarray:
        """Where the cells of each entry of a clique's message start, counted from its first cell."""
        first, count, offset = self.table[clique, [MESSAGE, SEPARATOR, OFFSET]]
        return self.blocks[first : first + count + 1] - offset

    def reads(self, clique: int) -> np.ndarray:
        """The entry of a clique's message that each cell of its parent reads."""
        first, count, run, move = self.table[clique, [INDEX, NUM_RUNS, RUN, MOVE]]
        index = self.indices[first : first + count]
        if move == GATHER:
            return index
        starts = self.runs[run : run + count + 1]
        lengths = np.diff(starts)
        entries = np.repeat(index, lengths)
        return entries if move == CONSTANT else entries + np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)

    def __repr__(self) -> str:
        return f"SparsePlan({self.num_cliques} cliques, {self.num_cells} cells, {self.cost})"


def plan_possible_cells(
    supports: Supports,
    scopes: Sequence[Sequence[int]],
    tree: CliqueTree,
    all_cells: float,
    max_cells: float,
    deadline: float | None = None,
) -> SparsePlan | None:
    """The plan for the possible cells of each clique, given the number of all cells.

    None if they are more than `max_cells`, or the search for them takes too long; `PlanningTooLong` if it is the
    deadline that it does not meet.
    """
    log_sizes = np.log(supports.num_states)[tree.nodes]
    if len(tree.parents) and np.add.reduceat(log_sizes, tree.starts[:-1]).max() > MAX_KEYS:
        return None
    tree = attach_to_smallest(tree, np.log(np.maximum(supports.counts, 1)))
    walked, factors = walk_of(supports, tree), factors_of(supports)
    sets = (walked, factors, supports.supported, supports.possible)
    table = np.zeros((len(tree.parents), 10), np.int64)
    max_steps = steps_until(deadline)
    status, entries, starts, stops = find_separators(*sets, int(max_cells), max_steps)
    if status == FOUND:
        max_steps = steps_until(deadline)
        status, blocks, indices, runs = lay_out_cells(*sets, entries, starts, stops, table, int(max_cells), max_steps)
    if status == TOO_LONG and max_steps < MAX_STEPS:
        raise PlanningTooLong(
            "planning exact inference takes longer than the budget leaves; raise it, or plan ahead with jt.compile"
        )
    if status in (TOO_MANY, TOO_LONG):
        return None
    if status == NOTHING:
        table[:, PARENT], blocks, indices, runs = tree.parents, np.zeros(1, np.int64), NO_INDICES, NO_INDICES
    node_table, codes = lay_out_codes(supports.num_states, table, walked.starts, walked.nodes)
    scope_starts, scope_nodes = flatten(scopes)
    return SparsePlan(
        num_states=supports.num_states,
        scope_starts=scope_starts,
        scope_nodes=scope_nodes,
        factor_cliques=walked.factor_cliques,
        starts=walked.starts,
        nodes=walked.nodes,
        shared=walked.shared,
        table=table,
        indices=indices,
        node_table=node_table,
        num_cells=int(table[:, SIZE].sum()),
        num_entries=len(blocks) - 1,
        num_marginals=int(supports.num_states.sum()),
        cost=cost_of(tree.cost.width, table, len(blocks), indices.nbytes + runs.nbytes + codes.nbytes, all_cells),
        blocks=blocks,
        runs=runs,
        codes=codes,
        supports=supports,
        tree=walked,
        factors=factors,
        entries=entries,
        entry_starts=starts,
        entry_stops=stops,
    )


def steps_until(deadline: float | None) -> int:
    """How many steps of a walk over joint states may be taken."""
    return (
        MAX_STEPS if deadline is None else int(np.clip((deadline - time.monotonic()) * STEPS_PER_SECOND, 0, MAX_STEPS))
    )


def walk_of(supports: Supports, tree: CliqueTree) -> Tree:
    """The clique tree as `kernels.sparse_tree` walks it."""
    nodes, shared = lay_out(tree.starts, tree.nodes, tree.parents, len(supports.num_states))
    children: list[list[int]] = [[] for _ in tree.parents]
    for clique, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            children[parent].append(clique)
    firsts, lasts = visit(children, tree.parents)
    cliques = assign_factors(tree.order, tree.node_cliques, *flatten(supports.scopes))
    return Tree(tree.starts, nodes, shared, tree.parents, *flatten(children), cliques, firsts, lasts)


def visit(children: Sequence[Sequence[int]], parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first, last): clique d lies below clique c, or is it, just when first[c] <= first[d] <= last[c]."""
    sizes = np.ones(len(parents), np.int64)
    for clique in range(len(parents) - 1, -1, -1):
        if parents[clique] >= 0:
            sizes[parents[clique]] += sizes[clique]
    firsts, free = np.zeros(len(parents), np.int64), 0
    for clique, parent in enumerate(parents):
        if parent < 0:
            firsts[clique], free = free, free + sizes[clique]
        starts = firsts[clique] + 1 + np.cumsum([0, *(sizes[child] for child in children[clique])])
        firsts[list(children[clique])] = starts[:-1]
    return firsts, firsts + sizes - 1


def factors_of(supports: Supports) -> Factors:
    """The factors as `kernels.sparse_tree` reads them."""
    readers: list[list[int]] = [[] for _ in supports.num_states]
    for factor, scope in enumerate(supports.scopes):
        for node in scope:
            readers[node].append(factor)
    return Factors(
        supports.num_states, supports.state_starts, *flatten(supports.scopes), supports.value_starts,
        supports.restrictive, *flatten(readers),
    )  # fmt: skip


def lay_out_codes(
    num_states: np.ndarray, table: np.ndarray, starts: np.ndarray, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(node table, room for the codes): every node is at home in the smallest clique that has it."""
    node_table = np.zeros((len(num_states), 6), np.int64)
    cliques = np.repeat(np.arange(len(table)), np.diff(starts))
    by_size = np.lexsort((-cliques, -table[cliques, SIZE]))  # the smallest last, of equals the first
    node_table[nodes[by_size], NODE_CLIQUE] = cliques[by_size]
    sizes = table[node_table[:, NODE_CLIQUE], SIZE] if len(table) else np.zeros(0, np.int64)
    node_table[:, CODES] = np.cumsum(sizes) - sizes
    node_table[:, STATES] = num_states
    node_table[:, MARGINAL] = np.cumsum(num_states) - num_states
    return node_table, np.empty(int(sizes.sum()), np.int32)


def cost_of(width: int, table: np.ndarray, num_entries: int, index_bytes: int, all_cells: float) -> Cost:
    cells = float(table[:, SIZE].sum())
    size = 8.0 * cells + index_bytes + BYTES_PER_ENTRY * num_entries
    largest = float(table[:, SIZE].max(initial=0))
    return Cost(width, largest, size, OPERATIONS_PER_KEPT_CELL * cells, min(1.0, cells / all_cells))


def attach_to_smallest(tree: CliqueTree, log_sizes: np.ndarray) -> CliqueTree:
    """The same cliques, each below the smallest sibling that has its separator if that is smaller than its parent.

    `log_sizes` (node,) are the logarithms of the nodes' numbers of states.
    """
    cliques = [frozenset(tree.nodes[a:b].tolist()) for a, b in zip(tree.starts, tree.starts[1:], strict=False)]
    sizes = [float(sum(log_sizes[node] for node in clique)) for clique in cliques]
    parents = tree.parents.tolist()
    children: list[list[int]] = [[] for _ in cliques]
    for clique, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(clique)
    order = [clique for clique, parent in enumerate(parents) if parent < 0]
    for clique in order:  # grows as its members are looked at
        hosts = find_hosts(clique, children[clique], cliques, sizes)
        for child, host in hosts.items():
            parents[child] = host
            children[host].append(child)
        children[clique] = [child for child in children[clique] if child not in hosts]
        order += children[clique]
    return renumber(tree, parents, order)


def find_hosts(
    parent: int, children: Sequence[int], cliques: Sequence[frozenset[int]], sizes: Sequence[float]
) -> dict[int, int]:
    """Child → the smallest of its siblings that has its separator and is smaller than the parent."""
    separators = {child: cliques[child] & cliques[parent] for child in children}
    small = sorted(
        (child for child in children if sizes[child] < sizes[parent]), key=lambda child: (sizes[child], child)
    )
    ranks = {child: rank for rank, child in enumerate(small)}
    having: dict[int, set[int]] = defaultdict(set)
    for child in small:
        for node in separators[child]:
            having[node].add(child)
    hosts = {}
    for child, separator in separators.items():
        able = set.intersection(*(having[node] for node in separator)) - {child} if separator else set()
        able = {other for other in able if can_host(separator, separators[other], ranks, child, other)}
        if able:
            hosts[child] = min(able, key=ranks.__getitem__)
    return hosts


def can_host(inner: frozenset[int], outer: frozenset[int], ranks: dict[int, int], child: int, other: int) -> bool:
    """Whether a child may hang on another: of those with equal separators only on one of lower rank."""
    return inner < outer or ranks[other] < ranks.get(child, len(ranks))


def renumber(tree: CliqueTree, parents: Sequence[int], order: Sequence[int]) -> CliqueTree:
    """The tree with new parents, its cliques in the given order."""
    numbers = np.empty(len(order), np.int64)
    numbers[list(order)] = np.arange(len(order))
    pieces = [tree.nodes[tree.starts[clique] : tree.starts[clique + 1]] for clique in order]
    above = [int(numbers[parents[clique]]) if parents[clique] >= 0 else -1 for clique in order]
    return replace(
        tree,
        starts=np.cumsum([0, *map(len, pieces)], dtype=np.int64),
        nodes=np.concatenate([np.empty(0, np.int64), *pieces]),
        parents=np.array(above, np.int64),
        node_cliques=numbers[tree.node_cliques] if len(order) else tree.node_cliques,
    )


@dataclass(frozen=True, eq=False)
class Supports:
    """The possible states, and the entries of the factors over the nodes that have several."""

    num_states: np.ndarray  # (node,)
    state_starts: np.ndarray  # (node + 1,)
    possible: np.ndarray  # (all states,)
    counts: np.ndarray  # (node,): how many states are possible
    scopes: list[list[int]]  # (factor,)
    slices: list[tuple[int | slice, ...]]  # (factor,): where the entries lie in a table of the factor's whole scope
    value_starts: np.ndarray  # (factor + 1,)
    supported: np.ndarray  # (all entries,)
    positive: np.ndarray  # (all entries of the factors' whole scopes,)

    def cover(self, factors: Sequence[Factor]) -> bool:
        """Whether other factors of the same scopes are zero wherever these are."""
        return not (flat_masks([are_positive(factor) for factor in factors]) & ~self.positive).any()

    def take(self, tables: Sequence[np.ndarray]) -> np.ndarray:
        """The entries of tables over the whole scopes, one table after the other."""
        pairs = zip(tables, self.slices, strict=True)
        return np.concatenate([np.empty(0), *(table[index].reshape(-1) for table, index in pairs)])

    @cached_property
    def restrictive(self) -> np.ndarray:
        """(factor,): whether it forbids a joint state of states that are possible alone."""
        found = np.empty(len(self.scopes), np.bool_)
        find_restrictive(
            self.state_starts, *flatten(self.scopes), self.value_starts, self.supported, self.possible, found
        )
        return found


def find_supports(factors: Sequence[Factor], scopes: Sequence[Sequence[int]], shape: Sequence[int]) -> Supports:
    num_states = np.array(shape, dtype=np.int64)
    state_starts = np.concatenate([[0], np.cumsum(num_states)])
    masks = [are_positive(factor) for factor in factors]
    positive = flat_masks(masks)
    supported = positive.copy()
    ends = np.cumsum([0, *(mask.size for mask in masks)])
    possible = np.ones(state_starts[-1], np.bool_)
    drop_unsupported(num_states, state_starts, *flatten(scopes), ends, supported, possible)
    counts = np.add.reduceat(possible, state_starts[:-1], dtype=np.int64) if len(num_states) else num_states
    only = [int(possible[a:b].argmax()) for a, b in pairwise(state_starts)]
    slices = [slice_of(scope, counts, only) for scope in scopes]
    pairs = zip(scopes, slices, strict=True)
    left = [[node for node, part in zip(scope, index, strict=True) if part == slice(None)] for scope, index in pairs]
    parts = zip(masks, ends, ends[1:], slices, strict=False)
    kept = [supported[start:stop].reshape(mask.shape)[index].reshape(-1) for mask, start, stop, index in parts]
    return Supports(
        num_states, state_starts, possible, counts, left, slices, np.cumsum([0, *map(len, kept)]),
        flat_masks(kept), positive,
    )  # fmt: skip


def are_positive(factor: Factor) -> np.ndarray:
    return np.asarray(factor.log_values > -np.inf if factor.holds_logs else factor.values > 0.0)


def flat_masks(masks: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, np.bool_), *(mask.reshape(-1) for mask in masks)])


def slice_of(scope: Sequence[int], counts: np.ndarray, only: Sequence[int]) -> tuple[int | slice, ...]:
    """Where a factor's entries lie that have the known states; the first node of a scope that is all known stays."""
    index = [only[node] if counts[node] == 1 else slice(None) for node in scope]
    return tuple([slice(None), *index[1:]] if scope and slice(None) not in index else index)


def has_zeros(factors: Sequence[Factor], least: float) -> bool:
    """Whether at least this part of all entries is zero."""
    masks = [are_positive(factor) for factor in factors]
    total = sum(mask.size for mask in masks)
    return sum(int(mask.size) - int(np.count_nonzero(mask)) for mask in masks) > least * total


def flatten(lists: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(starts, members): list i is members[starts[i]:starts[i + 1]]."""
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return starts, np.array([member for members in lists for member in members], dtype=np.int64)
