"""The logarithms of all tables of an undirected model as one vector, and the coordinates in which they are learned.

θ is the vector of all cells of all factors, one after the other. A zero of a given factor stays zero: its θ is -inf.
The coordinates are the free cells themselves, or the parameters η of a linear coupling, θ = Bη, with one row of B for
each cell of each factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from juncture.base.checks import shown
from juncture.base.values import read_only
from juncture.errors import InvalidData
from juncture.factors.factor import Factor
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable


@dataclass(frozen=True, eq=False)
class LogTables:
    """The factors of a model in one vector."""

    template: FactorProduct

    @cached_property
    def starts(self) -> np.ndarray:
        """The position of the first cell of each factor, and the number of all cells."""
        return np.cumsum([0, *(part.scope.size for part in self.template.factors)], dtype=np.int64)

    @property
    def num_cells(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def given(self) -> np.ndarray:
        """The logarithms of the tables of the template, each less its largest."""
        return self.join([part.log_values - part.log_values.max() for part in self.template.factors])

    @cached_property
    def is_possible(self) -> np.ndarray:
        """(cell,): False where the template has a zero."""
        return self.given > -np.inf

    @cached_property
    def factors_of(self) -> dict[str, list[int]]:
        """The numbers of the factors of each variable."""
        found: dict[str, list[int]] = {name: [] for name in self.template.variables.names}
        for number, part in enumerate(self.template.factors):
            for name in part.scope.names:
                found[name].append(number)
        return found

    def join(self, tables: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.empty(0), *(np.reshape(table, -1) for table in tables)])

    def split(self, cells: np.ndarray) -> list[np.ndarray]:
        """The table of each factor, in its shape."""
        spans = zip(self.starts, self.starts[1:], self.template.factors, strict=False)
        return [cells[start:stop].reshape(part.scope.shape) for start, stop, part in spans]

    def model(self, logs: np.ndarray) -> Any:
        """The model with these tables; each is divided by its largest entry, which changes no probability."""
        return self.exact_model(logs - np.repeat(self.tops(logs), np.diff(self.starts)))

    def exact_model(self, logs: np.ndarray) -> Any:
        """The model with exactly these tables."""
        factors = self.template.factors
        if stable.doubles_hold(logs):
            tables = self.split(read_only(np.exp(logs)))
            made = [Factor.trusted(part.scope, table) for part, table in zip(factors, tables, strict=True)]
        else:
            made = [Factor.from_logs(f.scope, table) for f, table in zip(factors, self.split(logs), strict=True)]
        return type(self.template).trusted(self.template, made)

    def tops(self, logs: np.ndarray) -> np.ndarray:
        """The largest entry of each table, which must not be all zeros."""
        return np.maximum.reduceat(logs, self.starts[:-1])

    def log_scale(self, logs: np.ndarray) -> float:
        """The logarithm of what `model` divides out."""
        return float(self.tops(logs).sum())


class Coordinates(Protocol):
    """What an ascent moves: a vector of numbers without constraints, and the tables that it stands for."""

    @property
    def start(self) -> np.ndarray: ...

    def logs(self, vector: np.ndarray) -> np.ndarray:
        """θ (cell,)."""

    def gradient(self, cells: np.ndarray) -> np.ndarray:
        """The gradient in the coordinates, from that in θ."""


@dataclass(frozen=True, eq=False)
class FreeCells:
    """Each cell for itself; the others stay at -inf."""

    first: np.ndarray  # (cell,): θ at the start
    is_free: np.ndarray  # (cell,)

    @property
    def start(self) -> np.ndarray:
        return self.first[self.is_free]

    def logs(self, vector: np.ndarray) -> np.ndarray:
        found = np.full(len(self.is_free), -np.inf)
        found[self.is_free] = vector
        return found

    def gradient(self, cells: np.ndarray) -> np.ndarray:
        return cells[self.is_free]


@dataclass(frozen=True, eq=False)
class CoupledCells:
    """θ = Bη where the template has no zero, from η = 0; the objective stays concave, with the gradient Bᵀ∇θ."""

    matrix: Any  # (cell, parameter), an array or a sparse matrix
    is_possible: np.ndarray

    @property
    def start(self) -> np.ndarray:
        return np.zeros(self.matrix.shape[1])

    def logs(self, vector: np.ndarray) -> np.ndarray:
        return np.where(self.is_possible, np.asarray(self.matrix @ vector), -np.inf)

    def gradient(self, cells: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix.T @ np.where(self.is_possible, cells, 0.0))


def coupled_cells(coupling: Any, tables: LogTables) -> CoupledCells:
    """The matrix that users give, checked."""
    from scipy.sparse import issparse

    rule = f"a coupling is a matrix with {tables.num_cells:,} rows, one for each cell of each factor in their order"
    try:
        matrix = coupling.tocsr().astype(float) if issparse(coupling) else np.asarray(coupling, dtype=float)
    except (TypeError, ValueError):
        raise InvalidData(f"{rule}; got {shown(coupling)}") from None
    if matrix.ndim != 2 or matrix.shape[0] != tables.num_cells or not matrix.shape[1]:
        raise InvalidData(f"{rule}, and a column for each parameter; got the shape {matrix.shape}")
    if not np.isfinite(matrix.data if issparse(matrix) else matrix).all():
        raise InvalidData("a coupling has finite numbers only")
    return CoupledCells(matrix, tables.is_possible)
