"""Weighted draws: sources of draws with log weights, and a run of them summed up row by row of evidence.

A run has blocks of fixed size, each from a generator of its own, so that its sums do not depend on the number of
threads and its draws can be drawn again. A `Source` gives the draws of one row of evidence. `TableDraws` is the
compiled source: nodes with states from tables q(xᵢ | earlier nodes), with log weights from a sum of log tables.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

from juncture.inference.sampling.forward import ForwardSampler, row_major_strides
from juncture.inference.sampling.importance_weights import TIE, effective_sample_size
from juncture.kernels.forward_sampling import add_log_values, tally_states
from juncture.runtime import parallel

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

BLOCK = 2**10  # draws of one generator: fixed, so that answers do not depend on the number of threads
WAVE = 16  # blocks between two looks at the clock


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


class Source(Protocol):
    """Where weighted draws given one row of evidence come from: E weight · f(x) = Σ p(x, evidence) f(x)."""

    @property
    def log_largest(self) -> float | None:
        """The logarithm of a weight that no draw exceeds; None where none is known that is of use."""

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch: ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Some draws: states of the nodes, values of real variables, and the logarithms of their weights.

    A weight is a density of the evidence, of which some numbers may be exact functions: a draw weighs nothing beside
    one in which more of them are.
    """

    codes: np.ndarray  # (node, draw)
    log_weights: np.ndarray  # (draw,)
    reals: Mapping[str, np.ndarray] = field(default_factory=dict)  # (draw,)
    num_exact: np.ndarray | None = None  # (draw,): exact relations among the evidence; None if the same in all draws


def as_batch(
    model: Network, columns: Mapping[str, np.ndarray], log_weights: np.ndarray, num_exact: np.ndarray | None = None
) -> Batch:
    """Columns by name as a batch: codes of the variables with states, and the real columns."""
    states = [columns[one.name] for one in model.variables if not one.is_real]
    codes = np.array(states, np.int64).reshape(len(states), len(log_weights))
    reals = {one.name: np.asarray(columns[one.name], float) for one in model.variables if one.is_real}
    return Batch(codes, np.asarray(log_weights, float), reals, num_exact)


def join_batches(batches: Sequence[Batch]) -> Batch:
    """One batch after the other."""
    names = batches[0].reals
    return Batch(
        np.ascontiguousarray(np.concatenate([batch.codes for batch in batches], axis=1)),
        np.concatenate([batch.log_weights for batch in batches]),
        {name: np.concatenate([batch.reals[name] for batch in batches]) for name in names},
    )


@dataclass(frozen=True, eq=False)
class TableDraws:
    """A `Source` of tables: the nodes of `fixed` have known states, all others are drawn in order."""

    sampler: ForwardSampler
    weights: LogTables
    fixed: Mapping[int, int] = field(default_factory=dict)  # node → state
    log_constant: float = 0.0
    log_largest: float | None = None

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch:
        codes = np.zeros((len(self.sampler.num_states), num_draws), np.int64)
        for node, code in self.fixed.items():
            codes[node] = code
        uniforms = np.empty(codes.shape)
        for node in self.sampler.order:
            rng.random(out=uniforms[node])
        self.sampler.fill(codes, uniforms)
        log_weights = np.full(num_draws, self.log_constant)
        self.weights.add_to(log_weights, codes)
        return Batch(codes, log_weights)


@dataclass(frozen=True, eq=False)
class LogTables:
    """A sum of tables, each over some nodes, as flat arrays."""

    starts: np.ndarray
    nodes: np.ndarray
    strides: np.ndarray
    offsets: np.ndarray
    log_values: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[tuple[Sequence[int], np.ndarray]]) -> LogTables:
        """From scopes and tables of logarithms, with an axis for each node of the scope."""
        sizes = [table.size for _, table in parts]
        strides = [row_major_strides(table.shape) for _, table in parts]
        return cls(
            starts=np.cumsum([0, *(len(scope) for scope, _ in parts)], dtype=np.int64),
            nodes=np.array([node for scope, _ in parts for node in scope], np.int64),
            strides=np.concatenate([np.empty(0, np.int64), *strides]),
            offsets=np.cumsum([0, *sizes], dtype=np.int64)[:-1],
            log_values=np.concatenate([np.empty(0), *(np.ravel(table) for _, table in parts)]),
        )

    def add_to(self, totals: np.ndarray, codes: np.ndarray) -> None:
        """Add the sum at the codes (node, draw) to the totals (draw,)."""
        if len(self.offsets):
            add_log_values(codes, self.starts, self.nodes, self.strides, self.offsets, self.log_values, totals)
