"""Weights of rows: numbers of at least 0 whose sum is at most 1e300, so that no total of rows overflows."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.values import read_only
from juncture.data.tables.columns import DescribeRow, describe_row
from juncture.errors import InvalidData
from juncture.runtime.parallel import map_blocks

MOST_WEIGHT = 1e300  # of all rows, or of a prior: sums, and the log-likelihoods that they weigh, stay among the doubles


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
    totals = map_blocks(lambda block: total_of(array[block]), num_rows)
    if any(total is None for total in totals):
        row = int(np.argmin((np.isfinite(array) & (array >= 0)).reshape(num_rows, -1).all(axis=1)))
        raise InvalidData(f"weights must be finite and at least 0; the weight of {describe(row)} is {array[row]}")
    check_total(sum(total for total in totals if total is not None), "the weights of the rows")
    return array


def total_of(part: np.ndarray) -> float | None:
    """The sum of the weights, of the member of a batch where it is largest; None where some are no weights."""
    if not (part.min(initial=0.0) >= 0 and part.max(initial=0.0) < np.inf):  # either is NaN if a weight is
        return None
    with np.errstate(over="ignore"):
        return float(part.sum(axis=0).max(initial=0.0))


def check_prior_counts(counts: np.ndarray, what: str = "the counts of the prior") -> np.ndarray:
    """Counts that a prior adds, whose sum stays among the doubles."""
    with np.errstate(over="ignore"):
        check_total(float(counts.sum()), what)
    return counts


def check_total(total: float, what: str) -> None:
    """Refuse a sum of weights that is beyond what can be added up and multiplied among doubles."""
    if not total <= MOST_WEIGHT:
        raise InvalidData(
            f"{what} add up to {total:g}; at most {MOST_WEIGHT:g} lets sums and log-likelihoods stay among the doubles:"
            " divide them all by one number"
        )
