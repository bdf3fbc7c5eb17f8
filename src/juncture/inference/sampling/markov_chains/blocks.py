"""`BlockTransition`: a sweep that draws blocks of nodes one after the other, given all others; and the blocks to take.

The blocks lie in flat arrays (`BlockLayout`), for the kernel that draws each block given all other nodes.

A Gibbs sampler of single nodes stays for ever where every change of one node meets a zero. Blocks help: two states
that differ in a block only are reached from each other. Whether they reach every state is decided on the support of the
target, where it is small enough to be listed. A component of nodes that share factors with zeros is checked by itself:
its possible joint states are listed, and those that agree outside a block are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from juncture.base.values import format_count
from juncture.errors import ImpossibleEvidence, TooLarge
from juncture.inference.engines.factor_arrays import offsets
from juncture.inference.sampling.markov_chains.chains import Chain, Spread
from juncture.inference.sampling.markov_chains.targets import Target, find_start, is_refuted
from juncture.kernels.sampling.blocks import GIBBS, sweep_blocks

SCANS = ("cyclic", "random", "chromatic")
UNIFORMS = 2**16  # drawn at once
MAX_CELLS = 2**18  # joint states of the nodes of a block, of which those are kept that are possible
MAX_STATES = 2**13  # possible joint states of a block
TABLE_CELLS = 2**12  # of a table of conditional probabilities for all codes of the other nodes
UNREACHABLE = 2.0  # above every uniform
MAX_FACTOR_STATES = 2**11  # possible states of a block that is the scope of a factor


@dataclass(frozen=True, eq=False)
class BlockTransition:
    """Gibbs sampling of blocks, or Metropolis steps of single nodes, on a target.

    Attributes
    ----------
    target
        The distribution.
    blocks
        The nodes of each block; together they hold every free node.
    kept_nodes
        The nodes whose codes are kept.
    scan
        "cyclic": all blocks in their order; "random": as many blocks, each drawn from all alike; "chromatic": all
        blocks by colours, of which none has two blocks that share a factor.
    rule
        `GIBBS` or `METROPOLIS`, of the kernel.
    power
        The target to this power is the stationary distribution.
    """

    target: Target
    blocks: tuple[tuple[int, ...], ...]
    kept_nodes: np.ndarray
    scan: str = "cyclic"
    rule: int = GIBBS
    power: float = 1.0

    @cached_property
    def plain_layout(self) -> BlockLayout:
        return BlockLayout(tuple(make_block(self.target, block) for block in self.blocks))

    @cached_property
    def layout(self) -> BlockLayout:
        """The layout, with a table of conditional probabilities for each block for which it is small."""
        if self.rule != GIBBS:
            return self.plain_layout
        return BlockLayout(tuple(tabulate(self.target, block, self.power) for block in self.plain_layout.blocks))

    @cached_property
    def order(self) -> np.ndarray:
        """The blocks of a sweep; those that have a single state are left out."""
        movable = np.array([index for index, block in enumerate(self.plain_layout.blocks) if len(block.digits) > 1])
        if self.scan == "chromatic" and len(movable):
            colours = colour_blocks([self.plain_layout.blocks[index] for index in movable])
            movable = movable[np.argsort(colours, kind="stable")]
        return movable.astype(np.int64)

    @property
    def work(self) -> float:
        return self.layout.work

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        if is_refuted(self.target) or any(len(block.digits) == 0 for block in self.plain_layout.blocks):
            raise ImpossibleEvidence("the evidence has probability zero")
        uniforms = spread.uniforms(self.target.arrays.num_nodes)
        codes = find_start(self.target, self.plain_layout.arrays, len(self.blocks), rng, uniforms)
        if codes is None:
            raise ImpossibleEvidence("the evidence has probability zero")
        return codes

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        if not len(self.order):
            kept[:] = chain.codes[self.kept_nodes]
            return
        thin = num_sweeps // len(kept) if len(kept) else 1
        size = thin * max(1, UNIFORMS // (thin * len(self.order)))
        for done in range(0, num_sweeps, size):
            step = min(size, num_sweeps - done)
            part = kept[done // thin : (done + step) // thin] if len(kept) else kept
            self.sweep(chain, step, part)

    def sweep(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        """So many sweeps by one call of the kernel."""
        of_blocks, of_entries, cumulative = self.layout.arrays
        logs, powers = self.target.arrays.log_values, np.full(1, self.power)
        orders, uniforms = self.order[np.newaxis], np.empty(0)
        if self.scan == "random":
            both = chain.rng.random((num_sweeps, 2, len(self.order)))
            orders = self.order[(both[:, 0] * len(self.order)).astype(np.int64)]
            uniforms = np.ascontiguousarray(both[:, 1])
        else:
            uniforms = chain.rng.random((num_sweeps, len(self.order)))
        sweep_blocks(
            of_blocks, of_entries, logs, cumulative, orders, powers, uniforms, chain.codes, self.kept_nodes, kept,
            self.rule,
        )  # fmt: skip

    def log_joint(self, codes: np.ndarray) -> float:
        """Log of the product of factors, to the power of this transition."""
        return self.power * self.target.log_joint(codes)


def colour_blocks(blocks: Sequence[Block]) -> np.ndarray:
    """(block,): the first colour that no block has that shares a node or a factor; in the order of the blocks."""
    owners: dict[int, list[int]] = {}
    for index, block in enumerate(blocks):
        for node in block.nodes.tolist():
            owners.setdefault(node, []).append(index)
    colours = np.full(len(blocks), -1, np.int64)
    for index, block in enumerate(blocks):
        others = {node for _, scope, _, _ in block.entries for node in scope.tolist()} | set(block.nodes.tolist())
        used = {int(colours[other]) for node in others for other in owners.get(node, ())}
        colours[index] = next(colour for colour in range(len(blocks) + 1) if colour not in used)
    return colours


@dataclass(frozen=True, eq=False)
class BlockLayout:
    """All blocks one after the other, as the kernel takes them."""

    blocks: tuple[Block, ...]

    @cached_property
    def arrays(self) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]:
        """Of the blocks, of their entries, and the running sums of those that are tables."""
        parts, entries = self.blocks, [entry for block in self.blocks for entry in block.entries]
        sums = [np.empty(0) if block.cumulative is None else block.cumulative.ravel() for block in parts]
        starts = offsets([len(one) for one in sums])
        firsts = [starts[index] if block.cumulative is not None else 0 for index, block in enumerate(parts)]
        shifts = np.repeat(np.array(firsts, np.int64), [len(block.entries) for block in parts])
        of_blocks = (
            offsets([len(block.nodes) for block in parts]),
            join([block.nodes for block in parts]),
            offsets([len(block.digits) for block in parts]),
            offsets([block.digits.size for block in parts]),
            join([block.digits.ravel() for block in parts]),
            np.concatenate([np.empty(0), *(block.local_logs for block in parts)]),
            offsets([len(block.entries) for block in parts]),
            np.array([block.cumulative is not None for block in parts], np.bool_),
        )
        of_entries = (
            np.array([start for start, _, _, _ in entries], np.int64) + shifts,
            offsets([len(scope) for _, scope, _, _ in entries]),
            join([scope for _, scope, _, _ in entries]),
            join([strides for _, _, strides, _ in entries]),
            offsets([len(steps) for _, _, _, steps in entries])[:-1],
            join([steps for _, _, _, steps in entries]),
        )
        return of_blocks, of_entries, np.concatenate([np.empty(0), *sums])

    @property
    def work(self) -> float:
        """Roughly the operations of a visit to each block."""
        return float(sum(10 + len(block.digits) * (1 + len(block.entries)) for block in self.blocks))


def join(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays of integers, one after the other."""
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Block:
    """Nodes that are drawn together: their joint states, and the factors that also depend on other nodes.

    Attributes
    ----------
    nodes
        The nodes.
    digits
        (state, node): the codes of each joint state that has positive weight by itself.
    local_logs
        (state,): the sum of the logs of all that depends on these nodes alone.
    entries
        Factors that depend on others too: (table start, other nodes, their strides, (state,) steps in the table).
    cumulative
        (codes of the other nodes, state): the running sums of the conditional probabilities, where that is small; the
        only entry then leads into it.
    """

    nodes: np.ndarray
    digits: np.ndarray
    local_logs: np.ndarray
    entries: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]]
    cumulative: np.ndarray | None = None


def make_block(target: Target, nodes: Sequence[int]) -> Block:
    """The block of some free nodes."""
    digits = joint_states(target, nodes)
    local = sum((target.node_field(node)[digits[:, axis]] for axis, node in enumerate(nodes)), np.zeros(len(digits)))
    axes = {node: axis for axis, node in enumerate(nodes)}
    entries = []
    for factor in dict.fromkeys(int(one) for node in nodes for one in target.arrays.factors_of(node)):
        scope, strides = target.free_scope(factor)
        is_inside = np.array([int(node) in axes for node in scope])
        inside = zip(scope[is_inside].tolist(), strides[is_inside].tolist(), strict=True)
        steps = sum((digits[:, axes[node]] * stride for node, stride in inside), np.zeros(len(digits), np.int64))
        if is_inside.all():
            local = local + target.arrays.log_values[target.bases[factor] + steps]
        else:
            entries.append((int(target.bases[factor]), scope[~is_inside], strides[~is_inside], steps))
    is_possible = local > -np.inf
    entries = [(start, scope, strides, steps[is_possible]) for start, scope, strides, steps in entries]
    return Block(np.array(nodes, np.int64), digits[is_possible], local[is_possible], entries)


def joint_states(target: Target, nodes: Sequence[int]) -> np.ndarray:
    """(state, node): the codes of all joint states of some nodes that the evidence allows."""
    states = [target.states(node) for node in nodes]
    size = prod(len(one) for one in states)
    if size > MAX_CELLS:
        raise TooLarge(
            f"a block of {len(nodes)} variables has {format_count(size)} joint states; the limit is {MAX_CELLS:,}: give"
            " smaller blocks="
        )
    grids = np.meshgrid(*states, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=-1).astype(np.int64)


def tabulate(target: Target, block: Block, power: float = 1.0) -> Block:
    """The block with its conditional probabilities for all codes of the other nodes, where these are few.

    They are those of the target to this power.
    """
    others = list(dict.fromkeys(int(node) for _, scope, _, _ in block.entries for node in scope))
    shape = [int(target.arrays.num_states[node]) for node in others]
    if prod(shape) * len(block.digits) > TABLE_CELLS:
        return block
    codes = np.indices(shape).reshape(len(shape), prod(shape))
    logs = np.broadcast_to(block.local_logs, (prod(shape), len(block.digits))).copy()
    for start, scope, strides, steps in block.entries:
        places = start + sum(
            codes[others.index(int(node))] * stride for node, stride in zip(scope, strides, strict=True)
        )
        logs += target.arrays.log_values[places[:, np.newaxis] + steps]
    tops = logs.max(axis=1, keepdims=True)
    weights = np.exp(power * (logs - np.where(tops > -np.inf, tops, 0.0)))
    sums = np.cumsum(weights, axis=1)
    sums = sums / np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    sums = np.where((sums == 1.0) | (tops == -np.inf), UNREACHABLE, sums)
    strides = len(block.digits) * offsets_of(shape)
    entry = (0, np.array(others, np.int64), strides, np.zeros(0, np.int64))
    return Block(block.nodes, block.digits, block.local_logs, [entry], sums)


def offsets_of(shape: Sequence[int]) -> np.ndarray:
    """The strides of the axes of a table in C order."""
    return np.array([prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)


def factor_cells(target: Target, block: Block, factor: int) -> np.ndarray:
    """(codes of the other nodes, state): the logs of a factor that holds a node of a tabulated block, by its cells."""
    others, nodes = block.entries[0][1].tolist(), block.nodes.tolist()
    shape = [int(target.arrays.num_states[node]) for node in others]
    codes = np.indices(shape).reshape(len(shape), prod(shape))
    places = np.full((prod(shape), len(block.digits)), target.bases[factor])
    for node, stride in zip(*target.free_scope(factor), strict=True):
        if node in nodes:
            places += block.digits[:, nodes.index(node)] * stride
        else:
            places += (codes[others.index(node)] * stride)[:, np.newaxis]
    return np.asarray(target.arrays.log_values[places])


@dataclass(frozen=True)
class Cover:
    """Blocks that hold every free node, and whether a chain that draws them reaches every state: None if unknown."""

    blocks: tuple[tuple[int, ...], ...]
    is_irreducible: bool | None


def single_blocks(target: Target) -> Cover:
    """Each free node is a block."""
    blocks = tuple((int(node),) for node in target.free)
    return Cover(blocks, check_blocks(target, blocks))


def connecting_blocks(target: Target) -> Cover:
    """Single nodes where they suffice; else the scopes of factors with zeros, or a whole component."""
    joined: dict[tuple[int, ...], None] = {}
    verdicts: list[bool | None] = [True]
    for component in target.components:
        nodes = component_nodes(target, component)
        singles = [(node,) for node in nodes]
        verdict = is_connected(target, component, singles)
        if verdict is not True:
            scopes = [scope for scope in map(tuple, scopes_of(target, component)) if is_small(target, scope)]
            verdict = is_connected(target, component, [*scopes, *singles])
            if verdict is False and prod(int(target.num_allowed[node]) for node in nodes) <= MAX_STATES:
                scopes, verdict = [tuple(nodes)], True
            joined.update(dict.fromkeys(scope for scope in maximal(scopes) if len(scope) > 1))
        verdicts.append(verdict)
    covered = {node for block in joined for node in block}
    blocks = (*joined, *((int(node),) for node in target.free if node not in covered))
    return Cover(blocks, all_hold(verdicts))


def check_blocks(target: Target, blocks: Sequence[tuple[int, ...]]) -> bool | None:
    """Whether blocks that hold all free nodes connect the support; None if that is too large to be listed."""
    return all_hold([is_connected(target, component, blocks) for component in target.components])


def all_hold(verdicts: Sequence[bool | None]) -> bool | None:
    """False if one is, else None if one is, else True."""
    return False if False in verdicts else None if None in verdicts else True


def is_connected(target: Target, component: Sequence[int], blocks: Sequence[tuple[int, ...]]) -> bool | None:
    """Whether changes within blocks lead from each possible state of a component to every other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = component_nodes(target, component)
    if prod(int(target.num_allowed[node]) for node in nodes) > MAX_CELLS:
        return None
    states = support_of(target, component, nodes)
    if len(states) < 2:
        return True
    rows, columns, num_groups = [], [], 0
    for block in {tuple(nodes.index(node) for node in block if node in nodes) for block in blocks}:
        if not block:
            continue
        others = np.delete(states, block, axis=1)
        groups = np.unique(others, axis=0, return_inverse=True)[1].ravel() if others.shape[1] else np.zeros(len(states))
        rows.append(np.arange(len(states)))
        columns.append(len(states) + num_groups + groups.astype(np.int64))
        num_groups += int(groups.max()) + 1
    size = len(states) + num_groups
    pairs = (np.concatenate(rows), np.concatenate(columns))
    count, _ = connected_components(coo_array((np.ones(len(pairs[0])), pairs), shape=(size, size)), directed=False)
    return bool(count == 1)


def support_of(target: Target, component: Sequence[int], nodes: list[int]) -> np.ndarray:
    """(state, node): the joint states of a component at which none of its factors is zero."""
    states = joint_states(target, nodes)
    is_possible = np.ones(len(states), np.bool_)
    for factor in component:
        scope, strides = target.free_scope(factor)
        place = target.bases[factor] + states[:, [nodes.index(int(node)) for node in scope]] @ strides
        is_possible &= target.arrays.log_values[place] > -np.inf
    return states[is_possible]


def component_nodes(target: Target, component: Sequence[int]) -> list[int]:
    return sorted({int(node) for factor in component for node in target.free_scope(factor)[0]})


def scopes_of(target: Target, component: Sequence[int]) -> list[list[int]]:
    return [sorted(target.free_scope(factor)[0].tolist()) for factor in component]


def is_small(target: Target, scope: Sequence[int]) -> bool:
    return prod(int(target.num_allowed[node]) for node in scope) <= MAX_FACTOR_STATES


def maximal(scopes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The scopes that are part of no other scope."""
    distinct = sorted(set(scopes), key=len, reverse=True)
    kept: list[tuple[int, ...]] = []
    for scope in distinct:
        if not any(set(scope) <= set(other) for other in kept):
            kept.append(scope)
    return kept
