"""Parts of rows to train and to test on: hold-out in several parts, and folds of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_iterable
from juncture.base.options import as_generator
from juncture.errors import InvalidData, MissingExtra

Split = tuple[np.ndarray, np.ndarray]


def hold_out(
    num_rows: int, shares: Sequence[float] = (0.4, 0.3, 0.3), *, stratify: Any = None, rng: Any = None
) -> tuple[np.ndarray, ...]:
    """Rows in disjoint parts, such as to train, to validate and to test.

    Parameters
    ----------
    num_rows
        The number of rows.
    shares
        Of each part; they add up to 1.
    stratify
        The class of each row, where all parts should have the same shares of the classes.
    rng
        The seed, or a generator; fresh by default.

    Returns
    -------
    tuple of numpy.ndarray
        The rows of each part, sorted.

    Examples
    --------
    >>> [len(part) for part in hold_out(100)]
    [40, 30, 30]
    """
    number, generator = check_count(num_rows, "num_rows", least=1), as_generator(rng)
    sizes = check_array(shares, "the shares", ndim=1)
    if not len(sizes) or not (sizes > 0).all() or abs(sizes.sum() - 1) > 1e-9:
        raise InvalidData(f"shares of parts are positive and add up to 1; got {sizes.tolist()}")
    order = generator.permutation(number)
    if stratify is not None:
        order = order[np.argsort(spread_classes(stratify, number, order), kind="stable")]
    ends = np.rint(np.cumsum(sizes) * number).astype(int)
    ends[-1] = number
    return tuple(np.sort(part) for part in np.split(order, ends[:-1]))


def spread_classes(classes: Any, number: int, order: np.ndarray) -> np.ndarray:
    """For rows in an order, where in its class each stands, from 0 to 1: sorting by it mixes the classes evenly."""
    _, codes = np.unique(as_column(classes, number, "stratify"), return_inverse=True)
    places = np.empty(number)
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes[order] == code)
        places[own] = (np.arange(len(own)) + 0.5) / len(own)
    return places


def make_folds(
    num_rows: int,
    k: int | None = 5,
    *,
    repeats: int = 1,
    stratify: Any = None,
    groups: Any = None,
    order: str = "random",
    rng: Any = None,
) -> list[Split]:
    """The training and the test rows of each fold, by scikit-learn; the same for every learner that is compared.

    Parameters
    ----------
    num_rows
        The number of rows.
    k
        The number of folds; None leaves out one row at a time.
    repeats
        How often rows are divided anew.
    stratify
        The class of each row, where all folds should have the same shares of the classes.
    groups
        The group of each row, where the rows of a group must stay together.
    order
        "random", or "time" where rows are in the order of time: each fold is tested on rows after those it learned
        from.
    rng
        The seed, or a generator; fresh by default.

    Returns
    -------
    list
        Pairs of training and test rows: the folds of the first repeat, then those of the second, and so on.

    Examples
    --------
    >>> [test.tolist() for train, test in make_folds(5, 2, order="time")]
    [[3], [4]]
    """
    number = check_count(num_rows, "num_rows", least=2)
    check_choice(order, ("random", "time"), "order")
    times = check_count(repeats, "repeats", least=1)
    parts = number if k is None else check_count(k, "k", least=2)
    if parts > number:
        raise InvalidData(f"there are {number} rows for {parts} folds; take fewer folds")
    if order == "time" and (times > 1 or stratify is not None or groups is not None):
        raise InvalidData("folds in the order of time are not repeated, stratified or grouped")
    seeds = as_generator(rng).integers(2**31, size=times).tolist()
    splits: list[Split] = []
    for seed in seeds:
        splits += list(split_once(number, parts, stratify, groups, order, seed))
    return splits


def split_once(number: int, parts: int, stratify: Any, groups: Any, order: str, seed: int) -> list[Split]:
    """The folds of one division, by the class of scikit-learn that divides so."""
    selection = load_selection()
    rows = np.zeros((number, 1))
    classes = None if stratify is None else as_column(stratify, number, "stratify")
    together = None if groups is None else as_column(groups, number, "groups")
    options = {"n_splits": parts, "shuffle": True, "random_state": seed}
    if order == "time":
        divide = selection.TimeSeriesSplit(n_splits=parts)
    elif together is not None:
        kind = selection.GroupKFold if classes is None else selection.StratifiedGroupKFold
        divide = kind(**options)
    else:
        divide = (selection.KFold if classes is None else selection.StratifiedKFold)(**options)
    try:
        return list(divide.split(rows, classes, together))
    except ValueError as error:
        raise InvalidData(f"these rows cannot be divided so: {error}") from error


def as_column(values: Any, number: int, what: str) -> np.ndarray:
    """One label a row, as an array of text or numbers."""
    plain = values.to_numpy() if hasattr(values, "to_numpy") else values
    column = np.array(check_iterable(plain, what), dtype=object)
    if column.shape != (number,) or any(label is None for label in column):
        raise InvalidData(f"{what} has a label for each of the {number} rows, without holes; got shape {column.shape}")
    return np.unique(column.astype(str), return_inverse=True)[1]


def load_selection() -> Any:
    """`sklearn.model_selection`, or the sentence that says how to install it."""
    try:
        from sklearn import model_selection
    except ModuleNotFoundError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    return model_selection
