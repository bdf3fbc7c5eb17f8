"""`ChainSet`: Markov chains that run side by side, are kept after each round, and go on where they stopped.

A chain owns a child generator, and what it draws depends on its number of sweeps alone: not on the number of threads,
nor on how the sweeps are cut into rounds. A budget of seconds is looked at between rounds, so that all chains have the
same number of draws when it ends.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from juncture.base.values import number_of
from juncture.data.tables.columns import code_type
from juncture.numerics.iteration import ProgressCallback
from juncture.runtime import parallel
from juncture.runtime.memory import check_memory
from juncture.runtime.workers import has_workers, map_runs

ROUND_WORK = 2.0e7  # operations of a round of one chain: about a tenth of a second
FAR_WORK = 1.0e9  # the same where chains go to other processes and come back
FIRST_ROUND = 8  # draws: so that a short budget is kept
THREAD_WORK = 1.0e5  # operations of a part, from which threads are worth their start


@runtime_checkable
class Watcher(Protocol):
    """A callback that sees all draws so far, before it is called with their number and R-hat."""

    def watch(self, draws: np.ndarray, /) -> Any: ...
    def __call__(self, step: int, value: float, /) -> None: ...


@dataclass(frozen=True)
class Spread:
    """Uniform numbers for the start of a chain, spread over the chains: those of the first, shifted by a part of 1.

    Of four chains two start at each state of a node with two states, and for every chain another starts at the other
    state of each of them: chains that stay in one of several modes do not all fall into the same one.
    """

    keys: tuple[int, ...]
    shift: float

    @classmethod
    def of(cls, rng: np.random.Generator, shift: float = 0.0) -> Spread:
        return cls(tuple(rng.integers(0, 2**32, 4).tolist()), shift)

    def uniforms(self, count: int) -> np.ndarray:
        return np.asarray((np.random.default_rng(self.keys).random(count) + self.shift) % 1.0)

    def words(self, shape: tuple[int, ...]) -> np.ndarray:
        """Random bits, 64 to a number; shifts that differ by one half give opposite bits."""
        turn, part = divmod(self.shift % 1.0, 0.5)
        rng = np.random.default_rng((*self.keys, round(2**32 * part)))
        bits = rng.integers(0, 2**64, shape, dtype=np.uint64)
        return ~bits if turn else bits

    def shifted(self, shift: float) -> Spread:
        return Spread(self.keys, self.shift + shift)


@dataclass
class Chain:
    """Where a chain is: its state, its generator, the keys of its random streams, and how many sweeps it made."""

    codes: np.ndarray
    rng: np.random.Generator
    keys: np.ndarray
    num_sweeps: int = 0

    @classmethod
    def start(
        cls,
        transition: Transition,
        rng: np.random.Generator,
        codes: np.ndarray | None = None,
        spread: Spread | None = None,
    ) -> Chain:
        """A chain at the codes, or at a start of the transition."""
        keys = rng.integers(0, 2**64, 2, dtype=np.uint64)
        return cls(transition.start(rng, spread or Spread.of(rng)) if codes is None else codes, rng, keys)

    def copy(self) -> Chain:
        return Chain(self.codes.copy(), copy.deepcopy(self.rng), self.keys, self.num_sweeps)


class Transition(Protocol):
    """A Markov kernel whose stationary distribution is the target."""

    @property
    def work(self) -> float:
        """Roughly the operations of one sweep."""

    @property
    def num_kept(self) -> int:
        """How many numbers of a state are kept."""

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        """A state of positive probability: where it is free, that of the uniforms of the spread."""

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        """Move a chain by some sweeps; keep the states at equal distances, as many as `kept` (draw, node) has rows."""


@dataclass
class ChainSet:
    """Chains for each of several targets (rows of evidence), and what they drew so far.

    Attributes
    ----------
    transitions
        One for each row.
    chains
        Those of the first row, then those of the second, and so on.
    num_chains, thin
        The chains of a row; the number of sweeps from one draw to the next.
    num_warmup
        How many sweeps the chains made before their first draw.
    parts
        (row, chain, draw, node) of each round.
    """

    transitions: Sequence[Transition]
    chains: list[Chain]
    num_chains: int
    thin: int
    dtype: Any
    num_warmup: int = 0
    parts: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def start(
        cls,
        transitions: Sequence[Transition],
        num_chains: int,
        thin: int,
        num_states: int,
        rng: np.random.Generator,
        starts: np.ndarray | None = None,
    ) -> ChainSet:
        """Chains at the starts (chain, node) that are given, or at those of the transitions, spread on purpose.

        Each has a child of the generator.
        """
        rows = rng.spawn(len(transitions))
        spreads = [Spread.of(row) for row in rows]
        shifts = [one.shifted(chain / num_chains) for one in spreads for chain in range(num_chains)]
        children = [child for row in rows for child in row.spawn(num_chains)]
        owners = [transition for transition in transitions for _ in range(num_chains)]
        given = [None] * len(owners) if starts is None else list(starts)
        chains = [Chain.start(*each) for each in zip(owners, children, given, shifts, strict=True)]
        return cls(transitions, chains, num_chains, thin, code_type(num_states))

    @property
    def num_draws(self) -> int:
        return sum(part.shape[2] for part in self.parts)

    @property
    def draws(self) -> np.ndarray:
        """(row, chain, draw, node)."""
        empty = np.empty((len(self.transitions), self.num_chains, 0, self.num_kept), self.dtype)
        return np.concatenate([empty, *self.parts], axis=2) if len(self.parts) != 1 else self.parts[0]

    @property
    def num_kept(self) -> int:
        return self.transitions[0].num_kept if self.transitions else 0

    @property
    def work(self) -> float:
        """The operations of a sweep of the costliest row."""
        return max((transition.work for transition in self.transitions), default=1.0)

    def sweeps_of_round(self) -> int:
        return max(1, int((FAR_WORK if has_workers() else ROUND_WORK) / self.work))

    def warm_up(self, num_sweeps: int, deadline: float = np.inf) -> None:
        """Sweeps whose states are not kept."""
        done, size = 0, self.sweeps_of_round()
        while done < num_sweeps and time.perf_counter() < deadline:
            step = min(size, num_sweeps - done)
            self.run_round(step, 0)
            done += step
            self.num_warmup += step

    def extend(
        self, num_draws: int, deadline: float = np.inf, progress: ProgressCallback | None = None, limit: Any = None
    ) -> None:
        """So many further draws of each chain; fewer where the deadline passes, but some."""
        self.check_memory(num_draws, limit)
        done, size = 0, min(FIRST_ROUND, num_draws) if deadline < np.inf else num_draws
        most = max(1, self.sweeps_of_round() // self.thin)
        while done < num_draws and (done == 0 or time.perf_counter() < deadline):
            step = min(size, most, num_draws - done)
            self.parts.append(self.run_round(step * self.thin, step))
            done, size = done + step, 4 * size
            if progress is not None:
                self.report(progress)

    def report(self, progress: ProgressCallback) -> None:
        """Call with the number of draws and R-hat; a callback with a method `watch` first sees all draws so far."""
        from juncture.inference.sampling.markov_chains.chain_answers import worst_r_hat

        draws = self.draws
        if isinstance(progress, Watcher):
            progress.watch(draws)
        progress(self.num_draws, worst_r_hat(draws))

    def run_round(self, num_sweeps: int, num_draws: int) -> np.ndarray:
        """Move every chain; an interruption leaves all of them where they were."""
        parts = [(chain, self.transitions[index // self.num_chains]) for index, chain in enumerate(self.chains)]
        move = partial(move_chain, num_sweeps, num_draws, self.dtype)
        is_long = self.work * num_sweeps > THREAD_WORK
        if has_workers() and is_long:
            moved = list(map_runs(move, parts))
        else:
            moved = parallel.map(move, parts, is_worth_threads=is_long)
        kept = [codes for _, codes in moved]
        shape = (len(self.transitions), self.num_chains, num_draws, self.num_kept)
        self.chains = [chain for chain, _ in moved]
        return np.array(kept, self.dtype).reshape(shape)

    def check_memory(self, num_draws: int, limit: Any) -> None:
        size = np.dtype(self.dtype).itemsize * len(self.chains) * num_draws * self.num_kept
        check_memory(
            2.0 * size,
            f"{number_of(num_draws, 'draw')} of {number_of(self.num_kept, 'variable')} in"
            f" {number_of(len(self.chains), 'chain')}",
            "ask for fewer draws=, or for some targets=",
            limit,
        )


def move_chain(num_sweeps: int, num_draws: int, dtype: Any, part: tuple[Chain, Transition]) -> tuple[Chain, np.ndarray]:
    """A copy of a chain after so many sweeps, and the codes of its draws."""
    chain, transition = part[0].copy(), part[1]
    kept = np.empty((num_draws, transition.num_kept), np.int64)
    transition.advance(chain, num_sweeps, kept)
    chain.num_sweeps += num_sweeps
    return chain, kept.astype(dtype)
