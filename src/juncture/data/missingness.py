"""`missingness`: the share of missing values of each variable, and the patterns of missing variables."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.entries import as_table
from juncture.data.findings import is_hole
from juncture.data.tables.columns import Column, DatasetColumn, NumericColumn
from juncture.values import Value

SHOWN = 8
BITS = 63  # of a whole number that is a key


class Missingness(Value):
    """The share of each variable that is missing, and the weight of the rows with each pattern of missing variables.

    >>> missingness({"a": [1, None, None], "b": [0, 1, None]})
    Missingness(3 rows, 1 complete, 3 patterns: a 67 %, b 33 %)
    """

    _fields = ("weight", "shares", "patterns")
    weight: float  # of all rows
    shares: dict[str, float]  # variable → the share of its weight that is missing
    patterns: dict[tuple[str, ...], float]  # the variables that are missing together → weight, the most frequent first

    def __init__(self, weight: float, shares: dict[str, float], patterns: dict[tuple[str, ...], float]) -> None:
        self._set(weight=weight, shares=dict(shares), patterns=dict(patterns))

    @property
    def never_observed(self) -> tuple[str, ...]:
        return tuple(name for name, share in self.shares.items() if share == 1.0)

    def __repr__(self) -> str:
        holes = sorted(((share, name) for name, share in self.shares.items() if share), reverse=True)
        listed = ", ".join(f"{name} {share:.0%}".replace("%", " %") for share, name in holes[:SHOWN])
        more = ", …" if len(holes) > SHOWN else ""
        complete = self.patterns.get((), 0.0)
        body = f": {listed}{more}" if listed else ""
        return f"Missingness({self.weight:g} rows, {complete:g} complete, {len(self.patterns)} patterns{body})"


def missingness(data: Any) -> Missingness:
    """Which values of a table are missing: the share of each variable, and the patterns of missing variables.

    Parameters
    ----------
    data
        What `Dataset` takes.

    Returns
    -------
    Missingness
        The shares, and how often each pattern occurs.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.missingness({"a": [0, None, 1], "b": [1, None, None]})
    Missingness(3 rows, 1 complete, 3 patterns: b 67 %, a 33 %)
    """
    table, weights = as_table(data), data.weights if isinstance(data, Dataset) else None
    weights = np.ones(len(table)) if weights is None else weights
    total = float(weights.sum())
    holes = {name: find_holes(table.column(name)) for name in table.cells}
    shares = {name: float(weights[mask].sum()) / total if total else 0.0 for name, mask in holes.items()}
    masks = np.stack(list(holes.values()), axis=1) if holes else np.zeros((len(table), 0), bool)
    first, group = number_patterns(masks)
    counts = np.bincount(group, weights, minlength=len(first))
    order = np.argsort(-counts, kind="stable")
    patterns = {tuple(compress(holes, masks[first[kind]])): float(counts[kind]) for kind in order}
    return Missingness(total, shares, patterns)


def find_holes(column: Column) -> np.ndarray:
    """(row,): where the column has a hole, whatever its states may be."""
    raw = column.raw if isinstance(column, DatasetColumn) else column
    return has_hole(raw.values if isinstance(raw, NumericColumn) else raw.codes)


def number_patterns(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of (row, variable) booleans: (the first row of each pattern, the pattern of each row).

    Patterns are sorted, the first variable first.
    """
    num_variables = masks.shape[1]
    if num_variables < BITS:
        keys = masks @ (1 << np.arange(num_variables)[::-1])
    else:
        bits = np.ascontiguousarray(np.packbits(masks, axis=1))
        keys = bits.view(f"V{bits.shape[1]}").reshape(-1)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def group_by_pattern(masks: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows of (row, variable) booleans grouped by their pattern: (the pattern, the indices of its rows), sorted."""
    first, group = number_patterns(masks)
    ends = np.cumsum(np.bincount(group, minlength=len(first)))
    indices = np.split(np.argsort(group, kind="stable"), ends[:-1])
    return [(masks[row], rows) for row, rows in zip(first, indices, strict=False)]  # np.split makes a part of no rows


def has_hole(column: np.ndarray) -> np.ndarray:
    """(row,): where a coded column has a hole; a vector with one has one."""
    holes = is_hole(column)
    return holes if holes.ndim == 1 else np.asarray(holes.any(axis=1))
