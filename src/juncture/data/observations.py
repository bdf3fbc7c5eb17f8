"""Entry point for data: rows of values, checked once; an error names the row."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData, Unsupported


def as_values(x: Any, event_shape: tuple[int, ...], *, name: str, batch_shape: tuple[int, ...] = ()) -> np.ndarray:
    """Numbers whose last axes are one observation each, and that broadcast against a batch."""
    try:
        values = np.ma.filled(np.ma.asarray(x, dtype=float), np.nan) if np.ma.isMaskedArray(x) else np.asarray(x)
        if values.dtype.kind in "cmM":
            raise TypeError("complex numbers have no order, and dates are no numbers")
        if values.dtype.kind not in "biuf":
            values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidData(f"{name} takes numbers; got {_short(x)}") from error
    # unsigned and short whole numbers would wrap around, and truth values have no minus
    values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)
    axes = len(event_shape)
    if axes and values.shape[max(values.ndim - axes, 0) :] != event_shape:
        raise InvalidData(f"one observation of {name} has the shape {event_shape}; got an array of {values.shape}")
    if batch_shape:
        _check_broadcasts(values.shape[: values.ndim - axes], batch_shape, name)
    return values


def _check_broadcasts(rows: tuple[int, ...], batch_shape: tuple[int, ...], name: str) -> None:
    try:
        np.broadcast_shapes(rows, batch_shape)
    except ValueError:
        raise InvalidData(
            f"values of the shape {rows} do not broadcast against the batch {batch_shape} of {name}; "
            "give (n, 1) for all n values under every member"
        ) from None


def as_rows(x: Any, event_shape: tuple[int, ...], *, name: str) -> np.ndarray:
    """(row, *batch, *event): one observation alone counts as one row."""
    values = as_values(x, event_shape, name=name)
    return values[None] if values.ndim == len(event_shape) else values


def check_no_missing(values: np.ndarray, *, name: str) -> None:
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InvalidData(f"{name} was given a missing value (NaN); a hole has no probability, leave it out")


def check_answer(answer: Any, member: object, what: str) -> Any:
    """The answer of a distribution; where its numbers leave the range of doubles and nothing is left, one sentence."""
    for part in answer if isinstance(answer, tuple) else (answer,):
        numbers = np.asarray(part)
        if numbers.dtype.kind == "f" and np.isnan(numbers).any():
            raise Unsupported(
                f"{what} of {member!r} cannot be found in doubles: its parameters or values are too near their ends,"
                " 5e-324 and 1.8e308; take other units"
            )
    return answer


def check_inside(values: np.ndarray, inside: np.ndarray, *, name: str, support: object, first_row: int = 0) -> None:
    """Raise for the first row that holds a value outside the support."""
    if inside.all():
        return
    index = tuple(int(axis[0]) for axis in np.nonzero(~inside))
    value = values[index]
    is_hole = np.ndim(value) == 0 and np.isnan(value)
    what = "is missing: leave the row out" if is_hole else f"does not fit: values must be {support}"
    raise InvalidData(f"row {first_row + index[0]} of the data of {name}, {_short(value)}, {what}")


def _short(value: object, length: int = 60) -> str:
    text = repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)
    return text if len(text) <= length else f"{text[: length - 1]}…"
