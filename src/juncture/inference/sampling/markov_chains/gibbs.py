"""`Gibbs`: a Markov chain that draws one variable after the other, given the states of all others.

The conditional distribution of a variable needs only the factors that hold it, so that a sweep costs a pass over the
factors, in models of any width. Draws of a chain depend on each other: the answers come with standard errors by the
effective sample size, and R-hat says whether the chains agree. Choose it for large models without strong dependencies.
Variables that are tied by zeros are drawn together (`blocks`); where several modes remain, prefer `SwendsenWang`, or
parallel tempering. Geman and Geman (1984), "Stochastic relaxation, Gibbs distributions, and the Bayesian restoration
of images".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.checks import check_choice, is_iterable, shown
from juncture.errors import InvalidData
from juncture.inference.factor_arrays import node_scope
from juncture.inference.sampling.markov_chains.block_transition import SCANS, BlockTransition
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine
from juncture.inference.sampling.markov_chains.chains import Transition
from juncture.inference.sampling.markov_chains.pair_transition import (
    MANY_NODES,
    PairTransition,
    lay_out_pairs,
    takes_pairs,
)
from juncture.inference.sampling.markov_chains.spin_transition import SpinTransition, is_uniform_grid
from juncture.inference.sampling.markov_chains.support import check_blocks, connecting_blocks, single_blocks
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.inference.sampling.markov_chains.tree_transition import TreeTransition
from juncture.parallel import num_threads

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

    def transition(self, model: Any, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
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

    def cover(self, model: Any, target: Target) -> tuple[tuple[tuple[int, ...], ...], bool | None]:
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
