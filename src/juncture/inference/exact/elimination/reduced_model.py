"""A model where one row of evidence holds: observed variables cut out of the tables, likelihoods beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture import numerics
from juncture.data.findings import Findings
from juncture.inference.exact.elimination.buckets import LogFactor
from juncture.inference.exact.lowering import lower
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """The variables (a model's, then hidden ones), the codes of those observed, and tables over the others."""

    scope: Scope
    codes: dict[int, int]
    factors: tuple[LogFactor, ...]

    @classmethod
    def of(cls, model: Any, findings: Findings) -> ReducedModel:
        """The model given the findings of a single row."""
        found = {name: int(column[0]) for name, column in findings.codes.items()}
        lowered = lower(model, {name: model.variable(name).labels[code] for name, code in found.items()})
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        codes = {nodes[name]: code for name, code in found.items()}
        tables = [
            LogFactor(tuple(nodes[name] for name in factor.scope.names), factor.log_values)
            for factor in lowered.factors
        ]
        soft = [LogFactor((nodes[name],), numerics.log(table[0])) for name, table in findings.likelihoods.items()]
        return cls(lowered.scope, codes, tuple(cut(factor, codes) for factor in (*tables, *soft)))

    @cached_property
    def nodes(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.scope.names)}

    @property
    def observed(self) -> frozenset[int]:
        return frozenset(self.codes)

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        return [factor.nodes for factor in self.factors]

    def free(self, names: tuple[str, ...]) -> list[int]:
        """The nodes of these names but for those observed, in this order."""
        return [self.nodes[name] for name in names if self.nodes[name] not in self.codes]


def cut(factor: LogFactor, codes: Mapping[int, int]) -> LogFactor:
    """The factor where some nodes have these codes, over the others."""
    index: tuple[Any, ...] = tuple(codes.get(node, slice(None)) for node in factor.nodes)
    return LogFactor(tuple(node for node in factor.nodes if node not in codes), np.asarray(factor.logs[index]))


def distinct_rows(findings: Findings) -> tuple[list[Findings], np.ndarray]:
    """Each different row of findings once, and for each row which of them it is, (row,)."""
    columns = [column[:, np.newaxis] for column in findings.codes.values()]
    table = np.hstack([np.zeros((findings.num_rows, 1)), *columns, *findings.likelihoods.values()])
    _, first, which = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return [findings.row(int(row)) for row in first], which.reshape(-1)
