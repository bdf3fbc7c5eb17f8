"""Probabilities and expected utilities from one elimination: the semiring of pairs (p, u).

A pair holds Σ p(x) and Σ p(x) · u(x) over some assignments x. Pairs of disjoint assignments add up, and those of
independent parts multiply as (p, u) · (q, v) = (p q, p v + u q), which distributes over the sum. Pairs are kept as
complex numbers p + i u, which add up in the same way; their product is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.exact.elimination.buckets import plan_elimination
from juncture.inference.exact.elimination.semiring import Semiring, Table, eliminate_steps
from juncture.variables import Scope


def multiply_pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one, other = np.asarray(one), np.asarray(other)
    product = np.empty(np.broadcast_shapes(one.shape, other.shape), np.complex128)
    product.real = one.real * other.real
    product.imag = one.real * other.imag + one.imag * other.real
    return product


PAIRS = Semiring(np.add, multiply_pairs, 0j, 1 + 0j)


@dataclass(frozen=True, eq=False)
class WeightedTable:
    """For each joint state of a scope, p(state, evidence) and that probability times the expected utility."""

    scope: Scope
    weights: np.ndarray
    weighted_utilities: np.ndarray

    @property
    def utilities(self) -> np.ndarray:
        """The expected utility given each joint state; NaN where the state cannot occur."""
        quotient = np.full(self.weights.shape, np.nan)
        return np.divide(self.weighted_utilities, self.weights, out=quotient, where=self.weights > 0)


@dataclass(frozen=True, eq=False)
class Tables:
    """The variables of a decision network by position, and the numbers of its parts as tables of pairs."""

    variables: Scope
    chance: tuple[Table, ...]
    utilities: Mapping[str, Table]
    evidence: tuple[Table, ...]

    def table(self, scope: Iterable[str], values: np.ndarray) -> Table:
        """A table of probabilities, as pairs without utility."""
        return tuple(self.variables.axis(name) for name in scope), np.asarray(values, np.complex128)

    def sum_out(self, keep: Sequence[str], policies: Iterable[Table], utilities: Iterable[str]) -> WeightedTable:
        """All variables but `keep` summed out of the product of the tables, the policies and these utilities."""
        sizes = self.variables.shape
        ones = [((node,), np.full(size, 1 + 0j)) for node, size in enumerate(sizes)]
        worth = [self.utilities[name] for name in utilities]
        tables = [*self.chance, *policies, *worth, *self.evidence, *ones]
        kept = [self.variables.axis(name) for name in keep]
        plan = plan_elimination([scope for scope, _ in tables], sizes, keep=frozenset(kept), memory_limit=None)
        pairs = PAIRS.product(eliminate_steps(PAIRS, plan, tables), kept)
        return WeightedTable(Scope(self.variables[node] for node in kept), pairs.real, pairs.imag)


def evidence_tables(findings: Findings, variables: Scope) -> tuple[Table, ...]:
    """The likelihood of each finding."""
    found = []
    for name in findings.names:
        likelihood = np.exp(np.asarray(findings.log_likelihood(name)))[0]
        found.append(((variables.axis(name),), likelihood.astype(np.complex128)))
    return tuple(found)
