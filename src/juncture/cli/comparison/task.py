"""`read_task`: which column of a table is predicted, as classes or as numbers, and from which other columns.

Identifiers, running numbers, dates and columns with a single value are left out, with a note that says why. Texts are
codes here; what is learned from the rows (scales, medians, categories) is learned inside the folds.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_kind
from juncture.base.values import number_of
from juncture.data.column_kinds import (
    Summary,
    are_classes,
    explain_left_out,
    holds_numbers,
)
from juncture.data.dataset import Dataset
from juncture.data.tables.labels import refuse_dates
from juncture.data.usable_columns import read_values
from juncture.errors import InvalidData, Unsupported, hint
from juncture.variables import Variable

KINDS = ("classes", "numbers")


@dataclass(frozen=True, eq=False, repr=False)
class PredictionTask:
    """What is predicted from what.

    Attributes
    ----------
    kind
        "classes" or "numbers".
    target
        The name of the column that is predicted.
    names
        The columns it is predicted from.
    texts
        The texts of each column, by their codes; None for a column of numbers.
    cells
        (row, column): numbers, and codes of texts; NaN where a cell is missing.
    outcomes
        (row,): the number of each row, or the code of its class.
    labels
        The classes; empty for numbers.
    notes
        Sentences: why the target is of this kind, and which columns and rows are left out.
    """

    kind: str
    target: str
    names: tuple[str, ...]
    texts: tuple[tuple[str, ...] | None, ...]
    cells: np.ndarray
    outcomes: np.ndarray
    labels: tuple[Any, ...]
    notes: tuple[str, ...]

    @property
    def has_classes(self) -> bool:
        """Whether classes are predicted."""
        return self.kind == "classes"

    def __repr__(self) -> str:
        size = f"{number_of(len(self.cells), 'row')}, {number_of(len(self.names), 'column')}"
        return f"PredictionTask({self.kind} of {self.target!r}; {size})"


def read_rows(
    rows: Any,
    target: Any,
    missing: Any = None,
    decimal: Any = ".",
    real: Iterable[str] = (),
    states: Iterable[str] = (),
) -> tuple[Dataset, list[str]]:
    """The rows, without the columns of dates or without values, and a note of each of these and of how cells are read.

    The kind of a target is found by its own rule.
    """
    if getattr(rows, "weights", None) is not None and isinstance(rows, Dataset):
        raise Unsupported("learners are compared on rows of equal weight; give the rows without weights")
    data, left_out = read_values(rows, (), missing=missing, decimal=decimal, real=real, states=states)
    if target in left_out:
        if left_out[target].endswith("dates"):
            raise refuse_dates(str(target))
        raise InvalidData(f"no row has a value of the target {target!r}, so nothing can be predicted")
    return data, [f"{why}; it is left out" for why in left_out.values()]


def read_task(
    data: Dataset,
    target: Any,
    kind: str | None = None,
    notes: Sequence[str] = (),
    *,
    keep: Iterable[str] = (),
    states: Iterable[str] = (),
) -> PredictionTask:
    """The task of predicting a column of a table from the others; the numbers of `states` are categories."""
    states = set(states)
    check_choice(kind, (None, *KINDS), "task")
    name = check_kind(target, str, "the target")
    if name not in data.columns:
        raise InvalidData(f"the rows have no column {name!r} to predict; {hint(name, data.columns)}")
    known = ~np.isnan(numbers_of(data, name))
    if not known.any():
        raise InvalidData(f"no row has a value of the target {name!r}, so nothing can be predicted")
    found, reason = (kind, "as asked") if kind is not None else guess_kind(Summary.of(data, name))
    sentences = [f"the target {name!r} is predicted as {found}: {reason}", *notes]
    if not known.all():
        sentences.append(f"{number_of(int((~known).sum()), 'row')} without a value of {name!r} left out")
    left_out = explain_left_out(data, {name, *keep, *states})
    sentences += [f"{why}; it is left out" for why in left_out.values()]
    kept = [variable for variable in data.variables if variable.name != name and variable.name not in left_out]
    if not kept:
        raise InvalidData(
            f"no column is left to predict {name!r} from: {'; '.join(sentences[1:]) or 'there is no other'}"
        )
    cells = np.column_stack([numbers_of(data, variable.name, states)[known] for variable in kept])
    outcomes, labels = read_outcomes(data, name, found, known)
    texts = tuple(None if has_numbers(variable, states) else tuple(map(str, variable.labels)) for variable in kept)
    return PredictionTask(
        found, name, tuple(variable.name for variable in kept), texts, cells, outcomes, labels, tuple(sentences)
    )


def guess_kind(column: Summary) -> tuple[str, str]:
    """Whether a column holds classes or numbers, and why."""
    if not holds_numbers(column):
        return "classes", "it holds text"
    if are_classes(column):
        return "classes", f"it holds {number_of(column.num_different, 'different whole number')}"
    whole = f"it holds {column.num_different:,} different whole numbers"
    return "numbers", whole if column.is_whole else "it holds numbers"


def has_numbers(variable: Variable, states: Container[str] = ()) -> bool:
    return variable.name not in states and holds_numbers(Summary(None if variable.is_real else variable.labels))


def numbers_of(data: Dataset, name: str, states: Container[str] = ()) -> np.ndarray:
    """The numbers of a column, or the codes of its texts; NaN where a cell is missing."""
    variable, column = data.variable(name), data.columns[name]
    if column.ndim > 1:
        raise InvalidData(f"the column {name!r} holds vectors; split it into columns of numbers")
    if variable.is_real:
        if np.isinf(column).any():
            raise InvalidData(f"the column {name!r} holds an infinite number; make it missing, or leave the column out")
        return column
    values = (
        np.array([*variable.labels, np.nan], float) if has_numbers(variable, states) else np.arange(variable.num_states)
    )
    return np.asarray(np.where(column >= 0, values[column], np.nan))


def read_outcomes(data: Dataset, name: str, kind: str, known: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The number of each row, or the code of its class, and the classes."""
    variable, values = data.variable(name), numbers_of(data, name)[known]
    if kind == "numbers":
        if not has_numbers(variable):
            raise InvalidData(f"the target {name!r} holds text, which is no number: predict it as classes")
        if np.ptp(values) == 0:
            raise InvalidData(f"the target {name!r} has the same value in all rows, so there is nothing to predict")
        return values, ()
    seen, codes = np.unique(values, return_inverse=True)
    if len(seen) < 2:
        raise InvalidData(f"the target {name!r} has the same value in all rows, so there is nothing to predict")
    if len(seen) > max(2, len(values) // 2):
        raise InvalidData(f"the target {name!r} has {len(seen)} classes in {len(values)} rows: too few rows for each")
    if has_numbers(variable):
        return codes, tuple(int(value) if value == np.floor(value) else float(value) for value in seen)
    return codes, tuple(variable.labels[int(code)] for code in seen)
