"""A run of weighted draws: blocks of fixed size, each from a generator of its own, summed up row by row of evidence."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from juncture.inference.sampling.importance_weights import TIE, effective_sample_size
from juncture.inference.sampling.table_draws import Batch, Source
from juncture.kernels.forward_sampling import tally_states
from juncture.runtime import parallel

BLOCK = 2**10  # draws of one generator: fixed, so that answers do not depend on the number of threads
WAVE = 16  # blocks between two looks at the clock


@dataclass(frozen=True, eq=False)
class Streams:
    """A generator for each row of evidence and block of draws, the same whenever it is asked for."""

    root: np.random.SeedSequence

    @classmethod
    def of(cls, rng: np.random.Generator | None) -> Streams:
        """A child of a generator; of fresh entropy without one."""
        generator = np.random.default_rng() if rng is None else rng
        return cls(generator.spawn(1)[0].bit_generator.seed_seq)  # type: ignore[arg-type]

    def generator(self, *keys: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.root.entropy, spawn_key=(*self.root.spawn_key, *keys)))


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over the draws of one row of evidence, in units of exp(log_scale) for a weight.

    They are over the draws in which the most numbers of the evidence are exact; all others have the weight 0.
    """

    log_scale: float
    total: float  # Σ w
    square: float  # Σ w²
    sums: np.ndarray  # (state of all nodes,): Σ w over the draws that have the state
    squares: np.ndarray
    log_weights: np.ndarray  # (draw,)
    num_exact: int = 0
    log_largest: float | None = None  # a weight that no draw exceeds, where one is known

    @classmethod
    def join(cls, blocks: Sequence[Tally], log_largest: float | None = None) -> Tally:
        """The sums of several blocks, in their order."""
        most = max((part.num_exact for part in blocks if not part.is_empty), default=0)
        parts = [part if part.num_exact == most else part.without_weights() for part in blocks]
        top = max(part.log_scale for part in parts)
        scales = [math.exp(part.log_scale - top) if part.log_scale > -math.inf else 0.0 for part in parts]
        pairs = list(zip(parts, scales, strict=True))
        return cls(
            log_scale=top,
            total=sum(part.total * scale for part, scale in pairs),
            square=sum(part.square * scale**2 for part, scale in pairs),
            sums=np.sum([part.sums * scale for part, scale in pairs], axis=0),
            squares=np.sum([part.squares * scale**2 for part, scale in pairs], axis=0),
            log_weights=np.concatenate([part.log_weights for part in parts]),
            num_exact=most,
            log_largest=log_largest,
        )

    def without_weights(self) -> Tally:
        """The same draws, none of which counts."""
        nothing = np.zeros_like(self.sums)
        return Tally(-math.inf, 0.0, 0.0, nothing, nothing, np.full(self.num_draws, -math.inf), self.num_exact)

    @property
    def num_draws(self) -> int:
        return len(self.log_weights)

    @property
    def is_empty(self) -> bool:
        """Whether no draw has a weight."""
        return self.log_scale == -math.inf

    @property
    def log_missed(self) -> float:
        """The logarithm of what one further draw may weigh, in units of Σ w, where the draws cannot tell; -inf else.

        States of a probability far below 1 / n are met by no draw. Where a draw may weigh more than n times the
        largest weight that was met, such states may have most of the evidence.
        """
        is_known = self.is_empty or self.log_largest is None
        if is_known or self.log_largest - self.log_scale <= math.log(self.num_draws) + TIE:  # type: ignore[operator]
            return -math.inf
        return self.log_largest - self.log_scale - math.log(self.total)  # type: ignore[operator]

    @property
    def missed_share(self) -> float:
        """The share of all weights that one further draw may have, where the draws cannot tell; 0 else."""
        return 1.0 / (1.0 + math.exp(-self.log_missed)) if self.log_missed > -math.inf else 0.0

    @property
    def effective_sample_size(self) -> float:
        return effective_sample_size(self.log_weights)

    @property
    def log_evidence(self) -> float:
        """The logarithm of the mean weight."""
        return -math.inf if self.is_empty else self.log_scale + math.log(self.total / self.num_draws)

    @property
    def log_evidence_error(self) -> float:
        """The standard error of `log_evidence`, by the delta method: that of the mean over the mean.

        Where a further draw may weigh more than all, as much is added as that draw would add.
        """
        if self.is_empty or self.num_draws < 2:
            return math.inf
        variation = self.square / self.total**2 - 1.0 / self.num_draws
        further = float(np.logaddexp(0.0, self.log_missed))
        return math.sqrt(max(variation, 0.0) * self.num_draws / (self.num_draws - 1) + further**2)


def tally(batch: Batch, state_starts: np.ndarray, log_weights: np.ndarray | None = None) -> Tally:
    """The sums over a block of draws, with their own weights or with others in their place."""
    logs, most = keep_most_exact(batch, batch.log_weights if log_weights is None else log_weights)
    top = float(logs.max(initial=-math.inf))
    sums, squares = np.zeros(state_starts[-1]), np.zeros(state_starts[-1])
    if top == -math.inf:
        return Tally(top, 0.0, 0.0, sums, squares, logs, most)
    weights = np.exp(logs - top)
    tally_states(batch.codes, weights, state_starts, sums, squares)
    return Tally(top, float(weights.sum()), float((weights**2).sum()), sums, squares, logs, most)


def keep_most_exact(batch: Batch, log_weights: np.ndarray) -> tuple[np.ndarray, int]:
    """The weights of the draws with the most exact relations among those that have one, 0 elsewhere; and how many."""
    if batch.num_exact is None:
        return log_weights, 0
    most = int(batch.num_exact[log_weights > -math.inf].max(initial=0))
    return np.where(batch.num_exact == most, log_weights, -math.inf), most


@dataclass(frozen=True, eq=False)
class WeightedRun:
    """Draws for each row of evidence, which can be drawn again: the generators are the same."""

    sources: Sequence[Source]  # (row,)
    state_starts: np.ndarray  # (node + 1,)
    streams: Streams
    num_draws: int
    is_threaded: bool = True  # whether sources are compiled code, and free of users' functions
    replaced: Sequence[np.ndarray] = field(default_factory=tuple)  # (row,) of (draw,): log weights to take instead

    def batch(self, row: int, block: int) -> Batch:
        size = min(BLOCK, self.num_draws - block * BLOCK)
        return self.sources[row].draw(size, self.streams.generator(row, block))

    def batches(self, row: int) -> Iterator[Batch]:
        """All draws of a row, block by block, with the weights that count."""
        for block in range(self.num_blocks):
            batch = self.batch(row, block)
            yield Batch(batch.codes, self.weights_of(row, block, batch), batch.reals)

    def weights_of(self, row: int, block: int, batch: Batch) -> np.ndarray:
        if not self.replaced:
            return batch.log_weights
        return self.replaced[row][block * BLOCK : block * BLOCK + len(batch.log_weights)]

    @property
    def num_blocks(self) -> int:
        return math.ceil(self.num_draws / BLOCK)

    def tally(self, row: int, block: int) -> Tally:
        batch = self.batch(row, block)
        return tally(batch, self.state_starts, self.weights_of(row, block, batch))

    def tallies(self, budget: float | None = None) -> tuple[list[Tally], int]:
        """The sums of each row, and how many draws they have: fewer than asked for where the time has run out."""
        deadline = math.inf if budget is None else time.monotonic() + budget
        wave = self.num_blocks if budget is None else max(1, WAVE // max(len(self.sources), 1))
        parts: list[list[Tally]] = [[] for _ in self.sources]
        for start in count(0, wave):
            blocks = range(start, min(start + wave, self.num_blocks))
            self.add_blocks(parts, blocks)
            if blocks.stop >= self.num_blocks or time.monotonic() >= deadline:
                break
        done = min(blocks.stop * BLOCK, self.num_draws)
        pairs = zip(parts, self.sources, strict=True)
        return [Tally.join(part, source.log_largest) for part, source in pairs], done

    def add_blocks(self, parts: list[list[Tally]], blocks: range) -> None:
        pairs = [(row, block) for row in range(len(self.sources)) for block in blocks]
        found = parallel.map(lambda pair: self.tally(*pair), pairs, is_worth_threads=self.is_threaded)
        for (row, _), part in zip(pairs, found, strict=True):
            parts[row].append(part)
