"""Answers as diagrams: distributions of many rows or steps, and assignments as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, product
from math import exp
from typing import Any

import numpy as np

from juncture.drawing.grids import Grid, GridCell
from juncture.drawing.shares import ShareDiagram, Shares
from juncture.drawing.text import format_percentage, format_value
from juncture.factors.printed_tables import MAX_HTML_COLUMNS, MAX_HTML_ROWS, format_omitted
from juncture.variables import Scope

MAX_SHOWN_ROWS = 60
MAX_VARIABLES, MAX_LABELS = 20, 1000


def table_shares(scope: Scope, values: np.ndarray) -> Shares:
    """The tables of many rows or steps, (row, state, …), as shares of their joint states, the first of very many."""
    states = islice(product(*(variable.labels for variable in scope)), MAX_LABELS)
    labels = tuple(", ".join(map(str, each)) for each in states)
    return Shares(", ".join(scope.names), labels, values.reshape(len(values), scope.size)[:, :MAX_LABELS])


def steps_diagram(*parts: Shares, index: Any = None) -> ShareDiagram:
    return ShareDiagram(parts, index)


def rows_diagram(parts: Iterable[Shares], num_rows: int, index: Any = None, num_parts: int = 1) -> ShareDiagram:
    """The distributions of the first rows; of `num_parts` variables some may be left out."""
    shown = tuple(
        Shares(part.title, part.labels, part.values[:MAX_SHOWN_ROWS]) for part in islice(parts, MAX_VARIABLES)
    )
    cuts = [f"the first {MAX_SHOWN_ROWS} of {num_rows:,} rows"] if num_rows > MAX_SHOWN_ROWS else []
    cuts += [f"the first {len(shown)} of {num_parts:,} variables"] if len(shown) < num_parts else []
    return ShareDiagram(shown, index, "row", ", ".join(cuts))


def assignment_grid(assignment: Mapping[str, Any]) -> Grid:
    """A row for each variable with its state."""
    rows = (
        (GridCell(name), GridCell(format_value(state))) for name, state in islice(assignment.items(), MAX_HTML_ROWS)
    )
    return Grid(("variable", "state"), tuple(rows), notes_of(format_omitted(len(assignment))))


def ranked_grid(
    assignments: Sequence[Mapping[str, Any]], log_probs: Sequence[float], *, is_density: bool = False
) -> Grid:
    """A row for each of the best assignments with its probability; what differs from the best one is marked.

    Variables in which they differ come first.
    """
    best = assignments[0]
    differing = [name for name in best if any(each[name] != best[name] for each in assignments[:MAX_HTML_ROWS])]
    names = list(dict.fromkeys(chain(differing, best)))[:MAX_HTML_COLUMNS]
    rows = (
        (
            GridCell(str(rank + 1)),
            probability_cell(log_prob, is_density=is_density),
            *(GridCell(format_value(each[name]), is_marked=each[name] != best[name]) for name in names),
        )
        for rank, (each, log_prob) in enumerate(zip(assignments[:MAX_HTML_ROWS], log_probs, strict=False))
    )
    notes = notes_of(format_omitted(len(assignments), len(best)))
    return Grid(("rank", "density" if is_density else "probability", *names), tuple(rows), notes)


def probability_cell(log_prob: float, *, is_density: bool = False) -> GridCell:
    """A probability with its bar, or the logarithm of a density; nothing for NaN."""
    if np.isnan(log_prob):
        return GridCell("", None)
    if is_density or log_prob > 0:
        return GridCell(f"log density {log_prob:.4g}")
    return GridCell(format_percentage(exp(log_prob)), exp(log_prob))


def rows_grid(
    columns: Mapping[str, Sequence[Any]], log_probs: np.ndarray, num_columns: int, *, is_density: bool = False
) -> Grid:
    """A row for each row of evidence: the probability, or density, of its best assignment, and the states."""
    rows = (
        (
            GridCell(str(row)),
            probability_cell(log_prob, is_density=is_density),
            *(GridCell("" if state is None else format_value(state)) for state in states),
        )
        for row, (log_prob, *states) in enumerate(
            zip(log_probs[:MAX_HTML_ROWS].tolist(), *columns.values(), strict=False)
        )
    )
    heads = ("row", "density" if is_density else "probability", *columns)
    return Grid(heads, tuple(rows), notes_of(format_omitted(len(log_probs), num_columns)))


def notes_of(note: str) -> tuple[str, ...]:
    return (note,) if note else ()


def path_shares(title: str, labels: Sequence[object], codes: np.ndarray) -> Shares:
    """The states of a path as distributions that are certain: (step, state)."""
    return Shares(title, tuple(map(str, labels)), (codes[:, None] == np.arange(len(labels))).astype(float))
