"""`BlockTransition`: a sweep that draws blocks of nodes one after the other, given all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.errors import ImpossibleEvidence
from juncture.inference.sampling.markov_chains.block_layout import Block, BlockLayout, make_block, tabulate
from juncture.inference.sampling.markov_chains.chains import Chain, Spread
from juncture.inference.sampling.markov_chains.start_states import find_start, is_refuted
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.blocks import GIBBS, sweep_blocks

SCANS = ("cyclic", "random", "chromatic")
UNIFORMS = 2**16  # drawn at once


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
