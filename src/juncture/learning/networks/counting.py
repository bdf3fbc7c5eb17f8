"""All families of a network counted in one pass over the rows, on all cores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from juncture.data.dataset import Dataset
from juncture.kernels.tables.network_counts import count_rows, weigh_families
from juncture.variables import Scope

CHUNK = 2**18  # rows counted into one table: fixed, so that sums of weights do not depend on the number of cores
BLOCK = 2**12  # rows whose codes fit a core's cache


@dataclass(frozen=True, eq=False)
class FamilyLayout:
    """Where each family's cells lie in one array, and how codes lead there."""

    starts: np.ndarray
    nodes: np.ndarray
    strides: np.ndarray
    offsets: np.ndarray
    shapes: tuple[tuple[int, ...], ...]
    num_cells: int

    @classmethod
    def of(cls, scopes: Sequence[Scope], places: dict[str, int]) -> FamilyLayout:
        sizes = [scope.size for scope in scopes]
        strides = [stride for scope in scopes for stride in strides_of(scope.shape)]
        return cls(
            starts=np.cumsum([0, *(len(scope) for scope in scopes)], dtype=np.int64),
            nodes=np.array([places[name] for scope in scopes for name in scope.names], dtype=np.int64),
            strides=np.array(strides, dtype=np.int64),
            offsets=np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.empty(0, np.int64),
            shapes=tuple(scope.shape for scope in scopes),
            num_cells=sum(sizes),
        )

    def tables(self, cells: np.ndarray) -> list[np.ndarray]:
        """Each family's counts in its own shape."""
        ends = [*self.offsets[1:].tolist(), self.num_cells] if self.shapes else []
        parts = zip(self.offsets, ends, self.shapes, strict=True)
        return [cells[start:end].reshape(shape) for start, end, shape in parts]


def strides_of(shape: Sequence[int]) -> list[int]:
    return [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]


def count_families(data: Dataset, scopes: Sequence[Scope]) -> list[np.ndarray]:
    """The counts of each scope, whose columns must have no holes: in chunks of rows that are added in order."""
    names = sorted({name for scope in scopes for name in scope.names})
    layout = FamilyLayout.of(scopes, {name: place for place, name in enumerate(names)})
    columns = [data.columns[name] for name in names]
    chunks = [(start, min(start + CHUNK, len(data))) for start in range(0, len(data), CHUNK)]

    def count(chunk: tuple[int, int]) -> np.ndarray:
        return count_chunk(columns, data.weights, layout, *chunk)

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        parts = list(pool.map(count, chunks)) if len(chunks) > 1 else [count(chunk) for chunk in chunks]
    return layout.tables(sum(parts, np.zeros(layout.num_cells)))


def count_chunk(
    columns: Sequence[np.ndarray], weights: np.ndarray | None, layout: FamilyLayout, start: int, stop: int
) -> np.ndarray:
    """The cells of one chunk, a block of rows at a time."""
    cells = np.zeros(layout.num_cells, np.int64 if weights is None else np.float64)
    buffer = np.empty((len(columns), min(BLOCK, stop - start)), np.int64)
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        codes = buffer if last - first == buffer.shape[1] else np.empty((len(columns), last - first), np.int64)
        for place, column in enumerate(columns):
            codes[place] = column[first:last]
        how = (layout.starts, layout.nodes, layout.strides, layout.offsets, cells)
        if weights is None:
            count_rows(codes, *how)
        else:
            weigh_families(codes, np.array(weights[first:last]), *how)
    return cells
