"""What `X`, `y`, `lengths` and `sample_weight` are where rows are steps of sequences: everything in one stack."""

from __future__ import annotations

from collections.abc import Sequence as AnySequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples

from juncture.base.checks import check_array
from juncture.data.sequence_steps import as_array, num_axes
from juncture.data.sequences import UNKNOWN, Sequence, Sequences, as_offsets
from juncture.data.tables.cells import unmask
from juncture.data.tables.columns import Column
from juncture.data.tables.foreign import open_frame, unwrap_frame
from juncture.data.tables.labels import as_variable, sorting_key
from juncture.data.tables.table import as_column
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, UnknownState
from juncture.estimators.reading import as_plain_column
from juncture.variables import Variable


@dataclass(frozen=True, eq=False)
class Stack:
    """Sequences one after the other, as they were given: a table of steps, and where each sequence ends."""

    rows: Any  # (step, column): an array, a frame, or what scikit-learn takes for one
    offsets: np.ndarray | None  # (num + 1,), or None where all rows are one sequence
    labels: Any  # (step,), or None without labels
    weights: Any  # one a sequence or one a step, or None
    is_list: bool

    def sequences(self, observations: np.ndarray, states: Variable) -> Sequences:
        """The sequences of what is observed; `states` says which codes the labels have."""
        offsets = np.array([0, len(observations)]) if self.offsets is None else self.offsets
        weights = sequence_weights(self.weights, offsets)
        codes = None if self.labels is None else label_codes(self.labels, states)
        return Sequences(np.ascontiguousarray(observations), offsets, weights, codes)

    def split(self, answer: np.ndarray) -> Any:
        """An answer for each step as the question was put: for a list of sequences, a list."""
        return answer if self.offsets is None or not self.is_list else np.split(answer, self.offsets[1:-1])


def as_stack(X: Any, y: Any = None, lengths: Any = None, weights: Any = None, columns: int | None = None) -> Stack:
    """A list of arrays, frames or `Sequence`s is many sequences; all else is a table, which `lengths` may cut.

    `columns` is how many the model has, where it is known.
    """
    if isinstance(X, Sequence):
        return stack_list([X], y if y is None else [y], lengths, weights, is_list=False)
    if is_many(X, lengths, columns):
        return stack_list(list(X), y, lengths, weights, is_list=True)
    offsets = None if lengths is None else as_offsets(lengths, _num_samples(X), True)
    labels = None if y is None else step_labels(y, _num_samples(X))
    return Stack(unmask(X), offsets, labels, weights, is_list=False)


def step_labels(y: Any, num_steps: int) -> np.ndarray:
    """(step,): the label of each step."""
    labels = as_plain_column(y)
    if len(labels) != num_steps:
        is_cut = labels.dtype.kind in "iu" and labels.sum() == num_steps
        remedy = (
            f": for the lengths of sequences write lengths={labels.tolist()}" if is_cut else ": they must be as many"
        )
        raise InvalidData(f"y has {len(labels)} labels, X has {num_steps} steps{remedy}")
    return labels


def stack_list(parts: list[Any], y: Any, lengths: Any, weights: Any, *, is_list: bool) -> Stack:
    if lengths is not None:
        raise InvalidData("`lengths` cuts one table into sequences; a list of sequences has its own lengths")
    if weights is None and any(isinstance(part, Sequence) for part in parts):
        weights = [getattr(part, "weight", 1.0) for part in parts]
    sizes = [len(getattr(part, "observations", part)) for part in parts]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    labels = [getattr(part, "states", None) for part in parts] if y is None else y
    return Stack(concatenate_tables(parts), offsets, concatenate_labels(labels, sizes), weights, is_list)


def concatenate_labels(given: Any, sizes: list[int]) -> np.ndarray | None:
    """The label of each step; sequences without labels have None."""
    if len(given) != len(sizes):
        raise InvalidData(f"y has labels for {len(given)} sequences, X has {len(sizes)}: give one list of labels each")
    if all(labels is None for labels in given):
        return None
    columns = []
    for position, (labels, size) in enumerate(zip(given, sizes, strict=True)):
        column = np.full(size, None) if labels is None else np.asarray(unwrap_frame(labels)).astype(object)
        if column.shape != (size,):
            raise InvalidData(f"sequence {position} has {size} steps, but labels of the shape {column.shape}")
        columns.append(column)
    return np.concatenate(columns)


# --- labels -----------------------------------------------------------------------------------------------------------


def state_variable(states: Any, labels: Any, *, default: int) -> Variable:
    """The states: so many, the ones named, or those that occur as labels; without any of these, `default`."""
    if states is None and labels is not None:
        known = [label for label in find_labels(labels) if label != UNKNOWN]
        check_classification_targets(known or [0])
        states = known or None
    return as_variable("state", default if states is None else states)


def find_labels(column: Any) -> list[Any]:
    """The labels in a column, sorted; 3.0 is 3: so are whole numbers held among holes."""
    return sorted(map(whole_or_same, as_column(column, "y").levels.labels), key=sorting_key)


def whole_or_same(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label


def label_codes(labels: Any, states: Variable) -> np.ndarray:
    """The code of each label; None, NaN and, unless it is a state, -1 are unknown."""
    column: Column = as_column(labels, "y")
    levels = column.levels if states.find(UNKNOWN) is not None else column.levels.where(lambda each: each != UNKNOWN)
    try:
        return levels.encode(states).astype(np.int64)
    except UnknownState as error:
        raise InvalidData(f"y has a label that is no state: {error}") from error


# --- weights --------------------------------------------------------------------------------------------------------


def sequence_weights(weights: Any, offsets: np.ndarray) -> np.ndarray:
    """(num,): one weight a sequence; one a step will do where the steps of a sequence agree."""
    num, num_steps = len(offsets) - 1, int(offsets[-1])
    if weights is None:
        return np.ones(num)
    given = check_array(weights, "sample_weight")
    if given.shape == (num,):
        return check_weights(given, num)
    if given.shape != (num_steps,):
        raise InvalidData(
            f"sample_weight has one weight for each of the {num} sequences, or for each of the {num_steps} steps;"
            f" got the shape {given.shape}"
        )
    steps = check_weights(given, num_steps)
    filled = offsets[:-1][np.diff(offsets) > 0]
    if np.diff(steps)[np.setdiff1d(np.arange(1, num_steps), filled) - 1].any():
        raise InvalidData("the steps of one sequence have one weight together; a step has none of its own")
    return np.where(np.diff(offsets) > 0, steps[np.minimum(offsets[:-1], num_steps - 1)], 1.0)


def check_weights(weights: np.ndarray, size: int) -> np.ndarray:
    array = np.asarray(as_weights(weights, size))
    if not array.any():
        raise InvalidData("all sample weights are zero; some sequence must count")
    return array


def is_many(X: Any, lengths: Any, num_columns: int | None) -> bool:
    """Whether X is a list of sequences; `num_columns` are those of the model, as far as they are known."""
    is_list = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1)
    if not is_list or not len(X):
        return False
    if all(isinstance(item, list | tuple) and num_axes(item) == 1 for item in X):
        return are_sequences({len(item) for item in X}, len(X), lengths, num_columns)
    return all(num_axes(item) >= 2 or (num_axes(item) == 1 and not isinstance(item, list | tuple)) for item in X)


def are_sequences(widths: set[int], number: int, lengths: Any, num_columns: int | None) -> bool:
    """Whether lists of values with these lengths are sequences, and not the rows of a table."""
    is_even = len(widths) == 1
    if lengths is not None or (num_columns or 1) > 1:
        if not is_even:
            raise InvalidData(f"all rows of a table have as many values; got rows of {sorted(widths)[:8]}")
        return False
    if is_even and num_columns is None and max(widths) > 1:
        width = max(widths)
        raise InvalidData(
            f"{number} lists of {width} values each may be {number} sequences, or one table of {width} columns: for"
            f" sequences write [jt.Sequence(x) for x in X], for a table give an array, or lengths=[{number}]"
        )
    return widths != {1}


def concatenate_tables(parts: AnySequence[Any]) -> Any:
    """All steps in one table; frames of one library stay a frame, so that their columns keep their names."""
    found = [open_frame(part) for part in parts]
    frames = [frame for frame in found if frame is not None]
    if len(frames) == len(found):
        frames = align_columns(frames)
        if len({frame.implementation for frame in frames}) == 1:
            return nw.concat(frames).to_native()
        parts = [frame.to_native() for frame in frames]
    tables = [as_table_of_steps(getattr(part, "observations", part), position) for position, part in enumerate(parts)]
    filled = [table for table in tables if len(table)] or tables[:1]
    if len({table.shape[1] for table in filled}) > 1:
        widths = ", ".join(str(table.shape[1]) for table in filled[:8])
        raise InvalidData(f"all sequences have the same number of columns; got {widths}")
    return np.concatenate(filled)


def align_columns(frames: list[nw.DataFrame[Any]]) -> list[nw.DataFrame[Any]]:
    """The frames with the columns of the first, in its order; numbers of different types as floats."""
    names = frames[0].columns
    for position, frame in enumerate(frames):
        odd = set(names) ^ set(frame.columns)
        if odd:
            raise InvalidData(
                f"all sequences have the same columns; sequence {position} and sequence 0 do not: one of them lacks"
                f" {min(odd, key=str)!r}"
            )
    kinds = {name: {frame.schema[name] for frame in frames} for name in names}
    mixed = [name for name, own in kinds.items() if len(own) > 1 and all(kind.is_numeric() for kind in own)]
    ordered = [frame.select(names) for frame in frames]
    return [frame.with_columns(nw.col(*mixed).cast(nw.Float64)) for frame in ordered] if mixed else ordered


def as_table_of_steps(part: Any, position: int) -> np.ndarray:
    """(step, column): an array of values is one column."""
    given = unwrap_frame(part)
    array = given if isinstance(given, np.ndarray) else as_array(given, f" of sequence {position}")
    array = array.astype(object) if array.dtype.kind in "US" else array
    return array[:, None] if array.ndim == 1 else array
