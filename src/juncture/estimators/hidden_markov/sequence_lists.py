"""Lists of sequences as one table of steps, and which lists are lists of sequences.

A list of arrays, frames or `Sequence`s is a list of sequences. A plain list of lists may also be a table, as
scikit-learn reads it. Rows of one value are a column; lists of different lengths are sequences; a fitted model knows
its number of columns. Every other list is refused as ambiguous.
"""

from __future__ import annotations

from collections.abc import Sequence as AnySequence
from typing import Any

import narwhals as nw
import numpy as np

from juncture.data.sequences.steps import as_array, num_axes, unwrap_frame
from juncture.errors import InvalidData


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
    frames = [nw.from_native(part, eager_only=True, pass_through=True) for part in parts]
    if all(isinstance(frame, nw.DataFrame) for frame in frames):
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
