"""Weighted draws of nodes with states: x from tables q(xᵢ | earlier nodes), its log weight from a sum of log tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from juncture.inference.sampling.forward import ForwardSampler, row_major_strides
from juncture.kernels.forward_sampling import add_log_values


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
    model: Any, columns: Mapping[str, np.ndarray], log_weights: np.ndarray, num_exact: np.ndarray | None = None
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


class Source(Protocol):
    """Where weighted draws given one row of evidence come from: E weight · f(x) = Σ p(x, evidence) f(x)."""

    @property
    def log_largest(self) -> float | None:
        """The logarithm of a weight that no draw exceeds; None where none is known that is of use."""

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch: ...


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
