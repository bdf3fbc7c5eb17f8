"""Weights of rows: finite numbers of at least 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.data.tables.columns import DescribeRow, describe_row
from juncture.errors import InvalidData
from juncture.parallel import map_blocks
from juncture.values import read_only


def as_weights(weights: Any, num_rows: int, describe: DescribeRow = describe_row) -> np.ndarray | None:
    """(row,): one weight a row, or None when every row weighs 1."""
    array = as_weight_columns(weights, num_rows, describe)
    if array is not None and array.ndim > 1:
        raise InvalidData(
            f"weights must be one number per row, {num_rows} in all; got an array of the shape {array.shape}"
        )
    return None if array is None else read_only(array + 0.0)  # no -0.0


def as_weight_columns(weights: Any, num_rows: int, describe: DescribeRow = describe_row) -> np.ndarray | None:
    """(row, *batch): a weight a row for each member of a batch, or None when every row weighs 1."""
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"weights must be numbers, one per row: {error}") from error
    if array.ndim == 0 or len(array) != num_rows:
        raise InvalidData(
            f"weights must be one number per row, {num_rows} in all; got an array of the shape {array.shape}"
        )
    if not all(map_blocks(lambda block: are_weights(array[block]), num_rows)):
        row = int(np.argmin((np.isfinite(array) & (array >= 0)).reshape(num_rows, -1).all(axis=1)))
        raise InvalidData(f"weights must be finite and at least 0; the weight of {describe(row)} is {array[row]}")
    return array


def are_weights(part: np.ndarray) -> bool:
    return bool(part.min(initial=0.0) >= 0 and part.max(initial=0.0) < np.inf)  # either is NaN if a weight is
