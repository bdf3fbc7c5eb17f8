"""`ParallelTempering`: Gibbs sampling of the target at several temperatures at once, whose states are exchanged.

Replica k draws from p(x) ∝ f(x)^β_k with 1 = β_0 > β_1 > …. Flat replicas cross between modes; an exchange of
neighbours, accepted with probability min(1, exp((β_k - β_l)(log f(x_l) - log f(x_k)))), brings their states down to
the target. Choose it where the target has several modes. Its cost is that of `Gibbs` times the number of replicas.
Geyer (1991); Hukushima and Nemoto (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.checks import check_count, check_number
from juncture.inference.sampling.markov_chains.block_transition import BlockTransition
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine
from juncture.inference.sampling.markov_chains.chains import Chain, Spread, Transition
from juncture.inference.sampling.markov_chains.support import connecting_blocks
from juncture.inference.sampling.markov_chains.targets import Target


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
    >>> beliefs = jt.infer(model, method=jt.ParallelTempering(draws=1000), rng=0)
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

    def transition(self, model: Any, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
        cover = connecting_blocks(target)
        moves = [BlockTransition(target, cover.blocks, kept_nodes, power=float(power)) for power in self.powers]
        return TemperedTransition(moves, kept_nodes), cover.is_irreducible


@dataclass(frozen=True, eq=False)
class TemperedTransition:
    """A sweep of each replica, then exchanges of neighbours, by turns of even and odd ones."""

    moves: list[BlockTransition]
    kept_nodes: np.ndarray

    @property
    def work(self) -> float:
        return len(self.moves) * (self.moves[0].work + 1.0e4)

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        """(replica, node)."""
        shifts = np.arange(len(self.moves)) / len(self.moves)
        return np.stack(
            [move.start(rng, spread.shifted(shift)) for move, shift in zip(self.moves, shifts, strict=True)]
        )

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        nothing = np.empty((0, self.num_kept), np.int64)
        for sweep in range(num_sweeps):
            for move, codes in zip(self.moves, chain.codes, strict=True):
                move.advance(Chain(codes, chain.rng, chain.keys), 1, nothing)
            self.exchange(chain.codes, (chain.num_sweeps + sweep) % 2, chain.rng)
            if len(kept) and (sweep + 1) % thin == 0:
                kept[sweep // thin] = chain.codes[0, self.kept_nodes]

    def exchange(self, codes: np.ndarray, first: int, rng: np.random.Generator) -> None:
        """Exchange the states of replicas `first` and the next, and so on by twos, or leave them."""
        logs = self.moves[0].target.log_joints(codes)
        uniforms = rng.random(len(self.moves))
        for lower in range(first, len(self.moves) - 1, 2):
            powers = self.moves[lower].power - self.moves[lower + 1].power
            gain = powers * (logs[lower + 1] - logs[lower])
            if gain >= 0.0 or uniforms[lower] < np.exp(gain):
                codes[[lower, lower + 1]] = codes[[lower + 1, lower]]
