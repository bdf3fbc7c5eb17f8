"""`ParallelTempering`: Gibbs sampling of the target at several temperatures at once, whose states are exchanged.

Replica k draws from p(x) ∝ f(x)^β_k with 1 = β_0 > β_1 > …. Flat replicas cross between modes; an exchange of
neighbours, accepted with probability min(1, exp((β_k - β_l)(log f(x_l) - log f(x_k)))), brings their states down to
the target. Choose it where the target has several modes. Its cost is that of `Gibbs` times the number of replicas.
Geyer (1991); Hukushima and Nemoto (1996).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.inference.engines.factor_arrays import offsets
from juncture.inference.sampling.markov_chains.blocks import (
    UNIFORMS,
    BlockTransition,
    connecting_blocks,
    factor_cells,
    join,
)
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine
from juncture.inference.sampling.markov_chains.chains import Chain, Spread, Transition
from juncture.inference.sampling.markov_chains.pairs import (
    MANY_NODES,
    PairTransition,
    lay_out_pairs,
    takes_pairs,
)
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.blocks import temper_blocks
from juncture.kernels.sampling.pairwise import temper_pairs
from juncture.networks.pairwise.model import PairwiseNetwork

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


@dataclass(frozen=True)
class ParallelTempering(ChainEngine):
    """Parallel tempering: Gibbs sampling at several temperatures, with exchanges.

    Parameters
    ----------
    draws, chains, warmup, thin, progress, memory_limit
        As in `Gibbs`; each chain has all replicas, and its draws are those of the target itself.
    replicas
        The number of temperatures.
    lowest
        The smallest power β, in (0, 1); the others are between it and 1 at equal ratios.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((4, 4), coupling=0.8)  # two modes
    >>> beliefs = jt.infer(model, method=jt.sampling.ParallelTempering(draws=1000), rng=0)
    >>> abs(beliefs["x0_0"][1] - 0.5) < 0.1
    True
    """

    replicas: int = 8
    lowest: float = 0.1
    name: ClassVar[str] = "parallel-tempering"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.replicas, "replicas", least=1)
        check_number(self.lowest, "lowest", above=0, below=1)

    @property
    def powers(self) -> np.ndarray:
        return self.lowest ** (np.arange(self.replicas) / max(1, self.replicas - 1))

    def transition(self, model: Network, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
        if target.arrays.num_nodes >= MANY_NODES and takes_pairs(model):
            pairs = PairTransition(target, lay_out_pairs(model, target), kept_nodes)
            return TemperedPairs(model, pairs, self.powers), True
        cover = connecting_blocks(target)
        return TemperedBlocks(BlockTransition(target, cover.blocks, kept_nodes), self.powers), cover.is_irreducible


def start_replicas(move: Transition, number: int, rng: np.random.Generator, spread: Spread) -> np.ndarray:
    """(replica, node): starts that are spread over the replicas."""
    return np.stack([move.start(rng, spread.shifted(replica / number)) for replica in range(number)])


class Replicas:
    """The work and the start of replicas of a move at several powers of the target."""

    move: Any
    powers: np.ndarray

    @property
    def work(self) -> float:
        return len(self.powers) * 1.5 * self.move.work

    @property
    def num_kept(self) -> int:
        return self.move.num_kept

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        return start_replicas(self.move, len(self.powers), rng, spread)


@dataclass(frozen=True, eq=False)
class TemperedBlocks(Replicas):
    """A sweep of each replica over the blocks of nodes, then exchanges of neighbours, by turns of even and odd ones."""

    move: BlockTransition
    powers: np.ndarray

    @cached_property
    def cumulatives(self) -> np.ndarray:
        """(replica, cell): the tables of conditional probabilities of the target to each power."""
        return np.stack([replace(self.move, power=float(power)).layout.arrays[2] for power in self.powers])

    @cached_property
    def energy(self) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
        """The logs of factors as `temper_blocks` takes them: by the cells of tables, and those of other blocks.

        A factor is counted where the last of its nodes in a sweep is drawn; those that no block changes, nowhere.
        """
        move, target, arrays = self.move, self.move.target, self.move.target.arrays
        blocks, last = move.layout.blocks, np.full(arrays.num_nodes, -1)
        for block in move.order:
            last[blocks[block].nodes] = block
        rank = np.full(len(blocks) + 1, -1)
        rank[move.order] = np.arange(len(move.order))
        owned = [np.zeros(0 if block.cumulative is None else block.cumulative.shape) for block in blocks]
        others, field = [], np.zeros_like(target.field)
        for node in np.flatnonzero(last >= 0).tolist():
            if blocks[last[node]].cumulative is None:
                field[arrays.state_starts[node] : arrays.state_starts[node + 1]] = target.node_field(node)
            else:
                digits = blocks[last[node]].digits[:, blocks[last[node]].nodes.tolist().index(node)]
                owned[last[node]] += target.node_field(node)[digits]
        for factor in range(len(arrays.table_starts)):
            scope = target.free_scope(factor)[0]
            owner = int(max(last[scope], key=lambda block: rank[block], default=-1))
            if owner >= 0 and blocks[owner].cumulative is not None:
                owned[owner] += factor_cells(target, blocks[owner], factor)
            elif owner >= 0:
                others.append(factor)
        parts = [slice(arrays.scope_starts[factor], arrays.scope_starts[factor + 1]) for factor in others]
        factors = (
            arrays.table_starts[others].astype(np.int64),
            offsets([part.stop - part.start for part in parts]),
            join([arrays.scopes[part] for part in parts]),
            join([arrays.strides[part] for part in parts]),
            arrays.state_starts,
        )
        cells = np.concatenate([np.empty(0), *(each.ravel() for each in owned)])
        return cells, factors, field if field.any() else np.empty(0)

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        move, count = self.move, len(self.powers)
        if not len(move.order):
            kept[:] = chain.codes[0, move.kept_nodes]
            return
        (of_blocks, of_entries, _), logs = move.layout.arrays, move.target.arrays.log_values
        owned, factors, field = self.energy
        thin = num_sweeps // len(kept) if len(kept) else 1
        size = thin * max(1, UNIFORMS // (thin * count * (len(move.order) + 1)))
        for done in range(0, num_sweeps, size):
            step = min(size, num_sweeps - done)
            uniforms = chain.rng.random((step, count, len(move.order) + 1))
            part = kept[done // thin : (done + step) // thin] if len(kept) else kept
            temper_blocks(
                of_blocks, of_entries, logs, self.cumulatives, owned, move.order, self.powers, uniforms, factors, field,
                chain.num_sweeps + done, chain.codes, move.kept_nodes, part,
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class TemperedPairs(Replicas):
    """A sweep of each replica of a large pairwise model by colours, then exchanges as in `TemperedBlocks`."""

    model: PairwiseNetwork
    move: PairTransition
    powers: np.ndarray

    @cached_property
    def factors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges, their tables and the logs of the states of nodes, in the order of the layout."""
        layout = self.move.layout
        edges = np.ascontiguousarray(layout.positions[self.model.edges])
        return edges, np.array(self.model.log_pairwise, order="C"), np.array(layout.unary[layout.order], order="C")

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        layout = self.move.layout
        fixed = (0, int(layout.colour_starts[-1])), layout.edges, layout.tables, layout.log_unary, layout.sigmoids
        places = layout.positions[self.move.kept_nodes]
        uniforms = chain.rng.random((num_sweeps, len(self.powers)))
        temper_pairs(
            *fixed, self.powers, chain.keys, chain.num_sweeps, chain.codes, self.factors, uniforms, places, kept
        )
