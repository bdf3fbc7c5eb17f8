"""`TableProposal`: q(x) = Π q(xᵢ | earlier nodes) as tables, for the product of factors given one row of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.sampling.forward import ForwardSampler
from juncture.inference.sampling.table_draws import LogTables, TableDraws
from juncture.numerics import stable

LogTable = tuple[tuple[int, ...], np.ndarray]  # a scope, and logarithms with an axis for each node of it


@dataclass(frozen=True, eq=False)
class TargetTables:
    """p(x, evidence) as a product of factors over the nodes that are not observed."""

    num_states: np.ndarray  # (node,)
    factors: Sequence[LogTable]
    fixed: Mapping[int, int]  # node → state
    log_constant: float

    @classmethod
    def of(cls, arrays: FactorArrays, row: Findings) -> TargetTables:
        """The factors of a model reduced by one row of evidence; likelihoods are factors of one node."""
        nodes = {variable.name: node for node, variable in enumerate(row.variables)}
        fixed = {nodes[name]: int(codes[0]) for name, codes in row.codes.items()}
        parts = [(tuple(arrays.scope(f).tolist()), arrays.log_table(f)) for f in range(arrays.num_factors)]
        parts += [((nodes[name],), stable.log(values[0])) for name, values in row.likelihoods.items()]
        reduced = [reduce_table(scope, table, fixed) for scope, table in parts]
        constant = float(sum(table for scope, table in reduced if not scope))
        return cls(arrays.num_states, [part for part in reduced if part[0]], fixed, constant)

    @property
    def free(self) -> list[int]:
        """The nodes that are to be drawn."""
        return [node for node in range(len(self.num_states)) if node not in self.fixed]


def reduce_table(scope: Sequence[int], table: np.ndarray, fixed: Mapping[int, int]) -> LogTable:
    """A table at the states of some nodes, which leave its scope."""
    index = tuple(fixed.get(node, slice(None)) for node in scope)
    return tuple(node for node in scope if node not in fixed), np.asarray(table[index])


@dataclass(frozen=True, eq=False)
class TableProposal:
    """Tables to draw each free node from, given nodes before it in the order."""

    target: TargetTables
    order: Sequence[int]
    scopes: Mapping[int, tuple[int, ...]]  # node → the nodes that it is drawn given, then itself
    tables: Mapping[int, np.ndarray]  # probabilities, which sum to 1 over the last axis

    def source(self) -> TableDraws:
        """What draws from the tables, with the log weight log p(x, evidence) - log q(x)."""
        shape = self.target.num_states
        scopes = [self.scopes.get(node, ()) for node in range(len(shape))]
        tables = [self.tables.get(node, np.empty(0)) for node in range(len(shape))]
        sampler = ForwardSampler.from_tables(shape.tolist(), self.order, scopes, tables)
        return TableDraws(sampler, LogTables.of(self.log_ratios()), self.target.fixed, self.target.log_constant)

    def log_ratios(self) -> list[LogTable]:
        """Log tables whose sum is the log weight: -log q of each node, with the factors that lie in its scope."""
        ratios = {node: negative_log(table) for node, table in self.tables.items()}
        turns = {node: turn for turn, node in enumerate(self.order)}
        others: list[LogTable] = []
        for scope, log_table in self.target.factors:
            last = max(scope, key=turns.__getitem__)
            if set(scope) <= set(self.scopes[last]):
                ratios[last] = ratios[last] + align(scope, log_table, self.scopes[last])
            else:
                others.append((scope, log_table))
        own = [(self.scopes[node], table) for node, table in ratios.items() if (table != 0.0).any()]
        return [*own, *others]


def negative_log(table: np.ndarray) -> np.ndarray:
    """-log q; 0 where q is 0, which is never drawn."""
    return np.where(table > 0.0, -stable.log(np.where(table > 0.0, table, 1.0)), 0.0)


def align(scope: Sequence[int], table: np.ndarray, wider: Sequence[int]) -> np.ndarray:
    """A table with an axis for each node of a wider scope, of length 1 for those that it does not have."""
    kept = [node for node in wider if node in scope]
    moved = np.transpose(table, [scope.index(node) for node in kept])
    sizes = iter(moved.shape)
    return moved.reshape([next(sizes) if node in scope else 1 for node in wider])
