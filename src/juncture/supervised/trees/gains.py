"""Scores of one split of labelled rows, as the texts define them: information gain, split information, gain ratio."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_number
from juncture.data.tables.cells import unmask
from juncture.data.tables.table import as_column
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData
from juncture.supervised.trees.growth import MISSING, midpoints, node_impurities
from juncture.supervised.trees.training_rows import class_variable, declare_input, encode_target
from juncture.variables import Variable


def information_gain(
    values: Any, y: Any, threshold: float | None = None, *, weights: Any = None, missing: str = "fractions"
) -> float:
    """H(S) - Σ |S_v|/|S| H(S_v), in bits: how much the value of an input tells about the class.

    Parameters
    ----------
    values
        The value of each row; each different value is a child of the split. Values may be missing.
    y
        The class of each row.
    threshold
        Splits numbers in two, up to the threshold and above.
    weights
        A weight for each row.
    missing
        To which children a row goes whose value is missing: "fractions", "mode" or "class_mode", as in `TreeOptions`.

    Returns
    -------
    float

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.supervised.information_gain([23, 27, 32, 34, 35, 38], list("yynnyn"), 29.5), 6)
    0.459148
    """
    table = split_table(values, y, threshold, weights, missing)
    shares = table.sum(axis=1) / table.sum()
    return float(node_impurities(table.sum(axis=0), "gain") - shares @ node_impurities(table, "gain"))


def split_information(
    values: Any, threshold: float | None = None, *, weights: Any = None, missing: str = "fractions"
) -> float:
    """-Σ |S_v|/|S| log₂ |S_v|/|S|: the entropy in bits of the value itself.

    Parameters
    ----------
    values, threshold, weights
        As in `information_gain`.
    missing
        "fractions" or "mode", as in `information_gain`.

    Returns
    -------
    float

    Examples
    --------
    >>> import juncture as jt
    >>> jt.supervised.split_information(["a", "b", "c", "d"])
    2.0
    """
    number = len(as_column(unmask(values), "values"))
    check_choice(missing, ("fractions", "mode"), "missing")
    table = split_table(values, np.zeros(number, np.int64), threshold, weights, missing)
    return float(node_impurities(table.sum(axis=1), "gain"))


def gain_ratio(
    values: Any, y: Any, threshold: float | None = None, *, weights: Any = None, missing: str = "fractions"
) -> float:
    """The information gain over the split information; 0 where all rows have one value.

    Parameters
    ----------
    values, y, threshold, weights, missing
        As in `information_gain`.

    Returns
    -------
    float

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.supervised.gain_ratio([23, 27, 32, 34, 35, 38], list("yynnyn"), 29.5), 9)
    0.5
    """
    table = split_table(values, y, threshold, weights, missing)
    shares = table.sum(axis=1) / table.sum()
    gain = float(node_impurities(table.sum(axis=0), "gain") - shares @ node_impurities(table, "gain"))
    entropy = float(node_impurities(table.sum(axis=1), "gain"))
    return gain / entropy if entropy > 0 else 0.0


def candidate_thresholds(values: Any, y: Any) -> np.ndarray:
    """The middles of successive numbers whose rows are not all of one class: the best threshold is one of them.

    Parameters
    ----------
    values
        The number of each row; rows without one are left out.
    y
        The class of each row.

    Returns
    -------
    numpy.ndarray
        The thresholds, from the lowest.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.supervised.candidate_thresholds([23, 27, 34, 38, 35, 32], list("yynnyn")).tolist()
    [29.5, 34.5, 36.5]
    """
    numbers = as_column(unmask(values), "values").encode(Variable("values"))
    distinct, codes = np.unique(numbers, return_inverse=True)
    distinct = distinct[~np.isnan(distinct)]
    table = count_classes(codes, y, None)[: len(distinct)] > 0
    is_cut = (table[:-1] | table[1:]).sum(axis=1) > 1
    return midpoints(distinct[:-1], distinct[1:])[is_cut]


def split_table(values: Any, y: Any, threshold: float | None, weights: Any, missing: str) -> np.ndarray:
    """(child, class): the weight of the rows."""
    how = check_choice(missing, MISSING, "missing")
    column = as_column(unmask(values), "values")
    if not len(column):
        raise InvalidData("a split needs at least one row")
    if threshold is None:
        found = np.asarray(column.encode(declare_input(column, "values", is_category=True)), np.float64)
        codes = np.where(np.isnan(found), -1, found).astype(np.int64)
    else:
        numbers = column.encode(Variable("values"))
        codes = np.where(np.isnan(numbers), -1, numbers > check_number(threshold, "threshold")).astype(np.int64)
    if (codes < 0).all():
        raise InvalidData("values has holes only: a split needs at least one row whose value is known")
    holes, *children = count_classes(codes + 1, y, weights)
    table = np.array([child for child in children if child.any()])
    if not len(table):
        raise InvalidData("the rows whose value is known have no weight; some must count")
    sizes, labels = table.sum(axis=1), np.arange(len(holes))
    if how == "fractions":
        return np.asarray(table + np.outer(sizes / sizes.sum(), holes))
    chosen = np.full(len(holes), sizes.argmax())
    if how == "class_mode":
        chosen = np.where(table.max(axis=0) > 0, table.argmax(axis=0), chosen)
    table[chosen, labels] += holes
    return table


def count_classes(codes: np.ndarray, y: Any, weights: Any) -> np.ndarray:
    """(code, class): the weight of the rows."""
    column = as_column(unmask(y), "y")
    if len(column) != len(codes):
        raise InvalidData(f"y has {len(column)} rows, values has {len(codes)}: they must be as many")
    output = class_variable(column, "y")
    cells = codes * output.num_states + encode_target(column, output).astype(np.int64)
    size = (int(codes.max(initial=0)) + 1) * output.num_states
    table = np.bincount(cells, as_weights(weights, len(codes)), size).reshape(-1, output.num_states).astype(np.float64)
    if not table.any():
        raise InvalidData("all weights are zero; some row must count")
    return table
