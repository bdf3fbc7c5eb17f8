"""`missingness`: the share of missing values of each variable, and the patterns of missing variables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import Value, number_of
from juncture.data.dataset import Dataset, as_table
from juncture.data.findings import is_hole
from juncture.data.tables.columns import Column, DatasetColumn, NumericColumn

if TYPE_CHECKING:
    from juncture.drawing.grids import Grid

SHOWN = 8
MAX_PATTERNS, MAX_COLUMNS = 20, 16  # in a picture
HOLE, KNOWN = "?", "·"  # of a variable in a pattern, in a text
BITS = 63  # of a whole number that is a key


class Missingness(Value):
    """The share of each variable that is missing, and the weight of the rows with each pattern of missing variables.

    >>> missingness({"a": [1, None, None], "b": [0, 1, None]})
    Missingness(3 rows, 1 complete, 3 patterns: a 66.7%, b 33.3%)
    """

    weight: float  # of all rows
    shares: dict[str, float]  # variable → the share of its weight that is missing
    patterns: dict[tuple[str, ...], float]  # the variables that are missing together → weight, the most frequent first

    def __init__(self, weight: float, shares: dict[str, float], patterns: dict[tuple[str, ...], float]) -> None:
        self._set(weight=weight, shares=dict(shares), patterns=dict(patterns))

    @property
    def never_observed(self) -> tuple[str, ...]:
        return tuple(name for name, share in self.shares.items() if share == 1.0)

    def __repr__(self) -> str:
        from juncture.drawing.text import format_percentage

        holes = sorted(((share, name) for name, share in self.shares.items() if share), reverse=True)
        listed = ", ".join(f"{name} {format_percentage(share)}" for share, name in holes[:SHOWN])
        more = ", …" if len(holes) > SHOWN else ""
        complete = self.patterns.get((), 0.0)
        body = f": {listed}{more}" if listed else ""
        num = number_of(len(self.patterns), "pattern")
        return f"Missingness({format_weight(self.weight)} rows, {format_weight(complete)} complete, {num}{body})"

    def to_diagram(self) -> Grid:
        """A row for each of the most frequent patterns, with a square for each variable that is missing in it."""
        from juncture.drawing.grids import Grid, GridCell
        from juncture.drawing.text import format_percentage

        names = sorted(self._with_holes(), key=lambda name: -self.shares[name])
        shown, kept = names[:MAX_COLUMNS], list(self.patterns.items())[:MAX_PATTERNS]
        rows = [
            (
                GridCell(format_weight(weight), weight / self.weight if self.weight else 0.0),
                *(GridCell(is_filled=name in pattern) for name in shown),
            )
            for pattern, weight in kept
        ]
        if shown:
            rows.append((GridCell("missing"), *(GridCell(format_percentage(self.shares[name])) for name in shown)))
        return Grid(("rows", *shown), tuple(rows), tuple(self._notes(len(kept), len(shown))))

    def _notes(self, num_patterns: int, num_columns: int) -> Iterator[str]:
        """What a picture or a table does not show."""
        if num_patterns < len(self.patterns):
            yield f"the {num_patterns} most frequent of {len(self.patterns):,} patterns"
        names = self._with_holes()
        if num_columns < len(names):
            yield f"the {num_columns} of {len(names):,} variables with holes that have most of them"
        if len(names) < len(self.shares):
            yield f"{number_of(len(self.shares) - len(names), 'variable')} without holes"

    def _with_holes(self) -> list[str]:
        return [name for name, share in self.shares.items() if share]

    def __str__(self) -> str:
        """A line per pattern: how many rows, and a mark below each variable that is missing in it."""
        grid = self.to_diagram()
        lines = [grid.heads, *([HOLE if cell.is_filled else cell.shown or KNOWN for cell in row] for row in grid.nodes)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([repr(self), *rows, *grid.notes])

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html

        return diagram_html(repr(self), self.to_diagram())


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
    >>> jt.evaluation.missingness({"a": [0, None, 1], "b": [1, None, None]})
    Missingness(3 rows, 1 complete, 3 patterns: b 66.7%, a 33.3%)
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


def format_weight(weight: float) -> str:
    """A number of rows, with separators of thousands.

    >>> format_weight(1500000.0), format_weight(2.25)
    ('1,500,000', '2.25')
    """
    return f"{weight:,.0f}" if float(weight).is_integer() else f"{weight:,.6g}"


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
        keys = np.zeros(len(masks), np.int64)
        for column in masks.T:
            keys = 2 * keys + column
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
