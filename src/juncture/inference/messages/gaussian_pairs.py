"""The pairs of free variables of a Gaussian model, and the messages along them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from juncture.errors import Unsupported
from juncture.inference.exact.gaussian.precisions import PrecisionSystem
from juncture.numerics import LOG_TWO_PI


@dataclass(frozen=True, eq=False)
class GaussianPairs:
    """Directed edges between free variables: each pair one way, then each the other way."""

    names: tuple[str, ...]
    is_free: np.ndarray  # (variable,)
    diagonal: np.ndarray  # (variable,)
    senders: np.ndarray  # (edge,)
    receivers: np.ndarray  # (edge,)
    couplings: np.ndarray  # (edge,): the entries of Λ

    @classmethod
    def of(cls, system: PrecisionSystem, is_free: np.ndarray) -> GaussianPairs:
        is_pair = (system.first != system.second) & (system.entries != 0.0)
        kept = np.flatnonzero(is_pair & is_free[system.first] & is_free[system.second])
        first, second, entries = system.first[kept], system.second[kept], system.entries[kept]
        own = system.first == system.second
        diagonal = np.bincount(system.first[own], system.entries[own], len(system.names))
        both = np.concatenate([first, second]), np.concatenate([second, first]), np.concatenate([entries, entries])
        return cls(system.names, is_free, diagonal, *both)

    @property
    def num_pairs(self) -> int:
        return len(self.senders) // 2

    @cached_property
    def reverse(self) -> np.ndarray:
        """(edge,): the edge the other way."""
        edges = np.arange(2 * self.num_pairs)
        return np.asarray((edges + self.num_pairs) % max(1, 2 * self.num_pairs))

    @cached_property
    def matrix(self) -> Any:
        """(variable, edge): 1 where the variable receives the edge; it sums messages."""
        from scipy.sparse import csr_array

        size = len(self.receivers)
        return csr_array((np.ones(size), (self.receivers, np.arange(size))), shape=(len(self.names), size))

    @cached_property
    def depths(self) -> np.ndarray | None:
        """(variable,): the number of edges to the root of its tree; None if the pairs have a cycle."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order, connected_components

        num = len(self.names)
        graph = csr_array((np.ones(len(self.senders)), (self.senders, self.receivers)), shape=(num, num))
        num_trees, which = connected_components(graph, directed=False)
        if self.num_pairs != num - num_trees:
            return None
        depths = np.zeros(num, np.int64)
        for root in np.unique(which, return_index=True)[1]:
            order, parents = breadth_first_order(graph, root, directed=False)
            for node in order[1:]:
                depths[node] = depths[parents[node]] + 1
        return depths

    @property
    def is_forest(self) -> bool:
        return self.depths is not None

    def levels(self, step: int) -> Iterator[np.ndarray]:
        """The edges of a step, those that are sent at once together: in a forest level by level, to the roots first."""
        if self.depths is None:
            yield np.arange(len(self.senders))
            return
        down = self.depths[self.receivers] > self.depths[self.senders]
        edges = np.flatnonzero(down if step else ~down)
        edges = edges[np.argsort(self.depths[self.senders[edges]] * (1 if step else -1), kind="stable")]
        starts = np.flatnonzero(np.diff(self.depths[self.senders[edges]])) + 1
        yield from (part for part in np.split(edges, starts) if len(part))

    @cached_property
    def spectral_radius(self) -> float:
        """The largest eigenvalue of |I - D^-½ Λ D^-½| of the free variables; below 1 the model is walk-summable."""
        from scipy.sparse import csr_array

        num = len(self.names)
        scales = np.sqrt(np.abs(self.diagonal[self.senders] * self.diagonal[self.receivers]))
        entries = np.abs(self.couplings) / np.maximum(scales, np.finfo(float).tiny)
        matrix, vector, radius = (
            csr_array((entries, (self.senders, self.receivers)), shape=(num, num)),
            np.ones(num),
            0.0,
        )
        for _ in range(200):  # power iteration on I + |R|, so that no eigenvalue of the same size is negative
            vector = vector + matrix @ vector
            radius = float(np.abs(vector).max()) - 1.0
            vector = vector / np.abs(vector).max()
        return radius


@dataclass(eq=False)
class PairMessages:
    """The messages of the rows in which the same variables are observed: precisions, and loadings for each row."""

    pairs: GaussianPairs
    own_loadings: np.ndarray  # (variable, row)
    values: np.ndarray  # (variable, row): of those observed
    log_values: np.ndarray  # (row,): log of the model at the values, the free variables at 0
    precisions: np.ndarray  # (edge,)
    loadings: np.ndarray  # (edge, row)
    steps: int = 0
    change: float = np.inf
    is_done: bool = field(default=False)

    @classmethod
    def start(
        cls, pairs: GaussianPairs, loadings: np.ndarray, values: np.ndarray, log_values: np.ndarray
    ) -> PairMessages:
        size = len(pairs.senders)
        return cls(pairs, loadings, values, log_values, np.zeros(size), np.zeros((size, loadings.shape[1])))

    def advance(self, damping: float, tolerance: float) -> None:
        """One step; in a forest two are enough, and damping is not needed."""
        kept = 0.0 if self.pairs.is_forest else damping
        self.change = max([0.0, *(self.send(edges, kept) for edges in self.pairs.levels(self.steps))])
        self.steps += 1
        self.is_done = self.steps == 2 if self.pairs.is_forest else self.change <= tolerance
        if self.is_done:
            self.change = 0.0 if self.pairs.is_forest else self.change
            self.check_precisions(self.totals[0][self.pairs.is_free])

    def send(self, edges: np.ndarray, damping: float) -> float:
        """Send along some edges; the largest change, relative to the scale of the receiver."""
        pairs, (totals, loadings) = self.pairs, self.totals
        senders, back = pairs.senders[edges], pairs.reverse[edges]
        precisions = totals[senders] - self.precisions[back]
        self.check_precisions(precisions)
        gains = -pairs.couplings[edges] / precisions
        new = gains * pairs.couplings[edges] * (1.0 - damping) + damping * self.precisions[edges]
        sent = gains[:, None] * (loadings[senders] - self.loadings[back])
        sent = sent * (1.0 - damping) + damping * self.loadings[edges]
        scale = np.abs(pairs.diagonal[pairs.receivers[edges]])
        change = np.abs(new - self.precisions[edges]) / scale
        moved = np.abs(sent - self.loadings[edges]) / np.sqrt(scale)[:, None]
        self.precisions[edges], self.loadings[edges] = new, sent
        return max(float(change.max(initial=0.0)), float(moved.max(initial=0.0)))

    @property
    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """The precision (variable,) and the loading (variable, row) of each variable with all that it has received."""
        matrix = self.pairs.matrix
        return self.pairs.diagonal + matrix @ self.precisions, self.own_loadings + matrix @ self.loadings

    def check_precisions(self, precisions: np.ndarray) -> None:
        if not (precisions > 0.0).all():
            raise Unsupported(
                f"Gaussian belief propagation diverges in step {self.steps + 1}: a precision is not positive; the"
                f" model is not walk-summable (its spectral radius is {self.pairs.spectral_radius:.4g}, not below 1):"
                " infer by method='exact'"
            )

    @cached_property
    def log_evidence(self) -> np.ndarray:
        """(row,): the Bethe approximation, exact in a forest."""
        pairs, free = self.pairs, self.pairs.is_free
        precisions, loadings = self.totals
        total = self.log_values + log_integral(precisions[free], loadings[free])
        half = np.arange(pairs.num_pairs)
        one, two = self.without(half), self.without(pairs.reverse[half])
        couplings = pairs.couplings[half]
        determinant = one[0] * two[0] - couplings**2
        quadratic = two[0][:, None] * one[1] ** 2 + one[0][:, None] * two[1] ** 2
        quadratic -= 2.0 * couplings[:, None] * one[1] * two[1]
        total += (0.5 * quadratic / determinant[:, None] + LOG_TWO_PI - 0.5 * np.log(determinant)[:, None]).sum(axis=0)
        return total - log_integral(precisions[pairs.senders], loadings[pairs.senders])

    def without(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The precision and the loading of the sender of each edge, without what the receiver sent."""
        (precisions, loadings), back = self.totals, self.pairs.reverse[edges]
        senders = self.pairs.senders[edges]
        return precisions[senders] - self.precisions[back], loadings[senders] - self.loadings[back]


def log_integral(precisions: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """(row,): Σ log ∫ exp(η x - ½ λ x²) dx over all variables."""
    logs = 0.5 * (loadings**2 / precisions[:, None] + LOG_TWO_PI - np.log(precisions)[:, None])
    return np.asarray(logs.sum(axis=0))
