"""Parameters that are coupled linearly: θ = Bη, with one row of B for each cell of each factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import shown
from juncture.errors import InvalidData
from juncture.learning.undirected.log_tables import LogTables


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
