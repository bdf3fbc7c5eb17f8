"""`Gibbs`: a Markov chain that draws one variable after the other, given the states of all others.

The conditional distribution of a variable needs only the factors that hold it, so that a sweep costs a pass over the
factors, in models of any width. Draws of a chain depend on each other: the answers come with standard errors by the
effective sample size, and R-hat says whether the chains agree. Choose it for large models without strong dependencies.
Variables that are tied by zeros are drawn together (`blocks`); where several modes remain, prefer `SwendsenWang`, or
parallel tempering. Geman and Geman (1984), "Stochastic relaxation, Gibbs distributions, and the Bayesian restoration
of images".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_choice, is_iterable, shown
from juncture.errors import InvalidData
from juncture.inference.engines.factor_arrays import node_scope, offsets
from juncture.inference.sampling.markov_chains.blocks import (
    SCANS,
    UNIFORMS,
    BlockTransition,
    check_blocks,
    connecting_blocks,
    single_blocks,
)
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine
from juncture.inference.sampling.markov_chains.chains import Chain, Spread, Transition
from juncture.inference.sampling.markov_chains.pairs import (
    MANY_NODES,
    PairTransition,
    SpinTransition,
    is_uniform_grid,
    lay_out_pairs,
    takes_pairs,
)
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.pairwise import sweep_trees
from juncture.runtime.parallel import num_threads

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

AUTO, SINGLE, TREES = "auto", "single", "trees"


@dataclass(frozen=True)
class Gibbs(ChainEngine):
    """Gibbs sampling.

    Parameters
    ----------
    draws, chains, warmup
        The number of draws of each chain, the number of chains, and the sweeps of each chain before its first draw.
    thin
        The number of sweeps from one draw to the next.
    scan
        "cyclic" visits all blocks in their order, "random" as many blocks drawn at random, "chromatic" all blocks by
        colours, of which none has two blocks that share a factor. A pairwise model of many nodes is swept by colours,
        unless the scan is random.
    blocks
        "auto" draws single variables, and together those that zeros would keep in place; "single" draws single
        variables; "trees" draws sets of variables whose graph has no cycle, each set at once, in models of pairs; or
        lists of names, each drawn together, and all other variables alone.
    progress
        Called with the number of draws so far and R-hat.
    memory_limit
        In bytes.

    Examples
    --------
    >>> import juncture as jt
    >>> beliefs = jt.infer(jt.example("asia"), {"xray": "yes"}, method=jt.Gibbs(draws=500), rng=0)
    >>> round(beliefs["lung"]["yes"], 1), beliefs.exact, beliefs.diagnostics.r_hat < 1.05
    (0.5, False, True)
    """

    scan: str = "cyclic"
    blocks: Any = AUTO
    name: ClassVar[str] = "gibbs"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.scan, SCANS, "scan")
        object.__setattr__(self, "blocks", as_blocks(self.blocks))
        if self.blocks == TREES and self.scan == "random":
            raise InvalidData('blocks="trees" are drawn one set after the other; leave scan= out')

    def transition(self, model: Network, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
        if self.blocks in (AUTO, SINGLE) and self.scan != "random" and target.arrays.num_nodes >= MANY_NODES:
            if is_uniform_grid(model, target):
                return SpinTransition.of(model, target, kept_nodes), True
            if takes_pairs(model):
                uses_threads = self.chains < num_threads()
                return PairTransition(target, lay_out_pairs(model, target), kept_nodes, uses_threads), True
        if self.blocks == TREES:
            trees = TreeTransition(target, kept_nodes)
            return trees, check_blocks(target, trees.forests)
        blocks, is_irreducible = self.cover(model, target)
        return BlockTransition(target, blocks, kept_nodes, self.scan), is_irreducible

    def cover(self, model: Network, target: Target) -> tuple[tuple[tuple[int, ...], ...], bool | None]:
        """The blocks of nodes, and whether they connect the support."""
        if self.blocks in (AUTO, SINGLE):
            cover = connecting_blocks(target) if self.blocks == AUTO else single_blocks(target)
            return cover.blocks, cover.is_irreducible
        scope = node_scope(model)
        free = set(target.free.tolist())
        named = [tuple(scope.axis(model.variable(name).name) for name in block) for block in self.blocks]
        kept = [tuple(node for node in block if node in free) for block in named]
        covered = {node for block in kept for node in block}
        blocks = (*(block for block in kept if block), *((node,) for node in sorted(free - covered)))
        return blocks, check_blocks(target, blocks)


def as_blocks(blocks: Any) -> Any:
    """A word, or tuples of names."""
    if isinstance(blocks, str):
        return check_choice(blocks, (AUTO, SINGLE, TREES), "blocks")
    if not is_iterable(blocks) or any(isinstance(one, str) or not is_iterable(one) for one in blocks):
        raise InvalidData(f'blocks is "auto", "single", "trees" or a list of lists of names; got {shown(blocks)}')
    listed = tuple(tuple(block) for block in blocks)
    if any(not isinstance(name, str) for block in listed for name in block):
        raise InvalidData(f"a block is a list of names; got {shown(blocks)}")
    return listed


class Edge(NamedTuple):
    """A factor of two free nodes, as one of them sees it."""

    other: int
    table: int  # its place in `log_values`, given the fixed nodes
    stride: int  # of the node
    other_stride: int


def edges_of(target: Target) -> dict[int, list[Edge]]:
    """Free node → its edges; raises for a factor of more than two free nodes."""
    edges: dict[int, list[Edge]] = {int(node): [] for node in target.free}
    for factor in range(target.arrays.num_factors):
        nodes, strides = target.free_scope(factor)
        if len(nodes) > 2:
            raise InvalidData(
                f'blocks="trees" takes factors of two variables that are not observed; one has {len(nodes)}:'
                ' blocks="auto" takes any'
            )
        if len(nodes) == 2:
            table = int(target.bases[factor])
            (one, two), (stride, other_stride) = nodes.tolist(), strides.tolist()
            edges[one].append(Edge(two, table, stride, other_stride))
            edges[two].append(Edge(one, table, other_stride, stride))
    return edges


def part_forests(edges: dict[int, list[Edge]]) -> list[list[int]]:
    """Sets of nodes that induce forests: each node goes to the first set in which it closes no cycle."""
    trees: list[dict[int, int]] = []  # of each set, node → a node of the same tree; the root of a tree → itself
    for node, around in edges.items():
        neighbours = {edge.other for edge in around}
        tree = next((tree for tree in trees if joins_trees(tree, neighbours)), None)
        if tree is None:
            tree = {}
            trees.append(tree)
        tree.update({find_root(tree, other): node for other in neighbours if other in tree})
        tree[node] = node
    return [list(tree) for tree in trees]


def joins_trees(tree: dict[int, int], neighbours: set[int]) -> bool:
    """Whether the neighbours of a node are in different trees."""
    roots = [find_root(tree, other) for other in neighbours if other in tree]
    return len(roots) == len(set(roots))


def find_root(tree: dict[int, int], node: int) -> int:
    while tree[node] != node:
        tree[node] = tree[tree[node]]
        node = tree[node]
    return node


@dataclass(frozen=True, eq=False)
class TreeTransition:
    """Gibbs sampling of forests, one after the other, on a target whose factors have at most two free nodes."""

    target: Target
    kept_nodes: np.ndarray

    @cached_property
    def edges(self) -> dict[int, list[Edge]]:
        return edges_of(self.target)

    @cached_property
    def forests(self) -> tuple[tuple[int, ...], ...]:
        """The nodes of each forest, parents before their children."""
        return tuple(tuple(rooted(forest, self.edges)) for forest in part_forests(self.edges))

    @cached_property
    def layout(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]:
        """What `sweep_trees` takes: the forests, the edges to nodes outside, those to parents, and local logs."""
        nodes = [node for forest in self.forests for node in forest]
        places = {node: place for place, node in enumerate(nodes)}
        owner = {node: index for index, forest in enumerate(self.forests) for node in forest}
        above, outside, upward = [], [], []
        for node in nodes:
            inside = [edge for edge in self.edges[node] if owner[edge.other] == owner[node]]
            before = [edge for edge in inside if places[edge.other] < places[node]]
            above.append(places[before[0].other] if before else -1)
            upward.append(before)
            outside.append([edge for edge in self.edges[node] if owner[edge.other] != owner[node]])
        forests = (offsets([len(forest) for forest in self.forests]), as_integers(nodes), as_integers(above))
        counts = self.target.arrays.num_states[nodes]
        starts, _, *parents = flat_edges(upward)
        return (*forests, counts), flat_edges(outside), (starts, *parents), self.local_logs(nodes)

    def local_logs(self, nodes: Sequence[int]) -> np.ndarray:
        """(place, state): the evidence and the factors of each node alone; -inf beyond its states."""
        logs = np.full((len(nodes), int(self.target.arrays.num_states[list(nodes)].max(initial=1))), -np.inf)
        rows = {node: logs[place, : len(self.target.node_field(node))] for place, node in enumerate(nodes)}
        for node, row in rows.items():
            row[:] = self.target.node_field(node)
        for factor in range(self.target.arrays.num_factors):
            free, strides = self.target.free_scope(factor)
            if len(free) == 1:
                row = rows[int(free[0])]
                row += self.target.arrays.log_values[self.target.bases[factor] + strides[0] * np.arange(len(row))]
        return logs

    @property
    def work(self) -> float:
        num_states = float(self.target.arrays.num_states.max(initial=1))
        return 10.0 * num_states**2 * (len(self.target.free) + sum(map(len, self.edges.values()))) + 1.0

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        singles = tuple((int(node),) for node in self.target.free)
        return BlockTransition(self.target, singles, self.kept_nodes).start(rng, spread)

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        num_nodes = len(self.target.free)
        if not num_nodes:
            kept[:] = chain.codes[self.kept_nodes]
            return
        thin = num_sweeps // len(kept) if len(kept) else 1
        size = thin * max(1, UNIFORMS // (thin * num_nodes))
        for done in range(0, num_sweeps, size):
            step = min(size, num_sweeps - done)
            part = kept[done // thin : (done + step) // thin] if len(kept) else kept
            forests, contexts, parents, local = self.layout
            sweep_trees(
                forests, contexts, parents, self.target.arrays.log_values, local,
                chain.rng.random((step, num_nodes)), chain.codes, self.kept_nodes, part,
            )  # fmt: skip


def rooted(forest: Sequence[int], edges: dict[int, list[Edge]]) -> list[int]:
    """The nodes of a forest, each tree from its first node outwards."""
    inside, seen, order = set(forest), set(), []
    for root in forest:
        if root in seen:
            continue
        seen.add(root)
        order.append(root)
        for node in (waiting := [root]):
            for edge in edges[node]:
                if edge.other in inside and edge.other not in seen:
                    seen.add(edge.other)
                    order.append(edge.other)
                    waiting.append(edge.other)
    return order


def flat_edges(parts: Sequence[Sequence[Edge]]) -> tuple[np.ndarray, ...]:
    """Where the edges of each place start, their other nodes, their tables, and both strides of each."""
    flat = [edge for part in parts for edge in part]
    strides = as_integers([[edge.stride, edge.other_stride] for edge in flat]).reshape(len(flat), 2)
    return (
        offsets([len(part) for part in parts]),
        as_integers([edge.other for edge in flat]),
        as_integers([edge.table for edge in flat]),
        strides,
    )


def as_integers(values: Sequence[object]) -> np.ndarray:
    return np.array(values, dtype=np.int64)
