"""How a tree grows: the options of the search, the search itself, level by level, and the impurities of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from juncture.base.checks import check_choice, check_count, check_number, is_one_of
from juncture.base.options import Options
from juncture.errors import InvalidData
from juncture.kernels.decision_trees import (
    CLASS_MODE,
    ENTROPY,
    FRACTIONS,
    GAIN_RATIO,
    GINI,
    MODE,
    VARIANCE,
    find_splits,
    send_rows,
)
from juncture.supervised.trees.training_rows import TrainingRows

CRITERIA = {"gain": ENTROPY, "gain_ratio": GAIN_RATIO, "gini": GINI}
MISSING = {"fractions": FRACTIONS, "mode": MODE, "class_mode": CLASS_MODE}
MANY_VALUES = 0.3  # of the rows: the gain of so many categories is large, and says nothing of what is usual
MOST_LOGS = 2**16  # whole weights whose logarithms are kept
ORDERS = 4_000_000  # entries of the table of columns to look at, (node, column)


TARGETS = ("class", "number")


@dataclass(frozen=True)
class TreeOptions(Options):
    """How a tree grows: from the root down (Quinlan), each node split by its best input, until it is pure.

    A category splits a node into one child for each category that occurs; a number splits it in two, at the middle of
    two successive values of different classes. Of equally good splits the first input and the lowest threshold win. A
    split without gain is made too, as the first of the two that learn an exclusive or.

    Parameters
    ----------
    target
        "class", or "number" for a regression tree.
    criterion
        What makes a split the best: "gain" (information gain, in bits; the default), "gain_ratio" (the gain over the
        entropy of the split, of inputs whose gain is at least the average, numbers at the threshold of largest gain, as
        C4.5 does) or "gini"; "variance" for regression.
    missing
        Where a row goes whose value is missing: "fractions" sends it to all children, in proportion to their weights;
        "mode" to the child with the most rows; "class_mode" to that with the most rows of its class (in training; in
        prediction, where the class is unknown, as "mode"). Gains are those of the children with these rows.
    max_depth
        The largest number of tests on a path.
    min_samples_split
        The least weight of the rows of a node that is split.
    min_samples_leaf
        The least weight that at least two children of a split have.
    min_gain
        The least gain of a split, in bits for "gain" and "gain_ratio".
    confidence
        A split is made only where a χ² test rejects with this confidence that children and classes are independent:
        0.95 is the test at the level 0.05. Without a number there is no test.
    max_features
        The number of inputs that are looked at in each node, drawn at random: a whole number, "sqrt" of the number of
        inputs, or None for all.
    categories
        Names or positions of columns of numbers that are categories, or "all".
    """

    target: str = "class"
    criterion: str | None = None
    missing: str = "fractions"
    max_depth: int | None = None
    min_samples_split: float = 0.0
    min_samples_leaf: float = 0.0
    min_gain: float = 0.0
    confidence: float | None = None
    max_features: int | str | None = None
    categories: Any = None

    def __post_init__(self) -> None:
        check_choice(self.target, TARGETS, "target")
        check_choice(self.chosen_criterion, ("variance",) if self.is_real else tuple(CRITERIA), "the criterion")
        check_choice(self.missing, ("fractions", "mode") if self.is_real else tuple(MISSING), "missing")
        if self.max_depth is not None:
            check_count(self.max_depth, "max_depth")
        for name in ("min_samples_split", "min_samples_leaf", "min_gain"):
            check_number(getattr(self, name), name, least=0.0)
        if self.confidence is not None:
            if self.is_real:
                raise InvalidData("confidence is of a χ² test of classes; a regression tree has none: use min_gain")
            check_number(self.confidence, "confidence", above=0.0, below=1.0)
        if self.max_features is not None and not is_one_of(self.max_features, ("sqrt",)):
            check_count(self.max_features, "max_features, if it is not 'sqrt',", least=1)

    @property
    def is_real(self) -> bool:
        return self.target == "number"

    @property
    def chosen_criterion(self) -> str:
        """The criterion; of those that are not given the default of the target."""
        return ("variance" if self.is_real else "gain") if self.criterion is None else self.criterion

    def limits(self, unit: float) -> np.ndarray:
        """The least weights, and the least gain, which is a variance where targets are numbers in units of `unit`."""
        return np.array([self.min_samples_split, self.min_samples_leaf, self.min_gain / unit**2], np.float64)

    def num_drawn(self, num_inputs: int) -> int:
        """How many inputs a node looks at."""
        if self.max_features is None:
            return num_inputs
        return min(max(1, int(num_inputs**0.5)) if self.max_features == "sqrt" else int(self.max_features), num_inputs)

    def critical_values(self, rows: TrainingRows) -> np.ndarray:
        """The χ² that a split must reach, by its degrees of freedom; empty without a test."""
        if self.confidence is None:
            return np.empty(0)
        from scipy.special import chdtri

        states = max(2, int(np.where(rows.is_real, 2, rows.num_values).max()))
        return chdtri(np.arange((states - 1) * (rows.num_statistics - 1) + 1.0), 1.0 - self.confidence)


class Level(NamedTuple):
    """The nodes of one depth: the branch that leads to each, and its entries, from one start to the next."""

    branches: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    weights: np.ndarray


class Nodes(NamedTuple):
    """The nodes of a tree in the order of their levels."""

    split: np.ndarray
    threshold: np.ndarray
    num_children: np.ndarray
    branch: np.ndarray
    statistics: np.ndarray


def grow(rows: TrainingRows, options: TreeOptions, rng: np.random.Generator) -> Nodes:
    """Split the nodes of one level after the other, as long as a node can be split."""
    fixed = rows.codes, rows.num_values, rows.is_real, rows.target
    criterion = VARIANCE if rows.output.is_real else CRITERIA[options.chosen_criterion]
    num_drawn = options.num_drawn(len(rows.inputs))
    codes = np.array([criterion, MISSING[options.missing], num_drawn, rows.num_statistics], np.int64)
    limits = np.append(options.limits(rows.unit), MANY_VALUES * rows.weights.sum())
    critical = options.critical_values(rows)
    logs = weighted_logs(int(min(MOST_LOGS, rows.weights.sum() + 1.0)))
    level = Level(np.zeros(1, np.int64), np.array([0, len(rows.target)]), np.arange(len(rows.target)), rows.weights)
    levels: list[Nodes] = []
    while len(level.branches):
        codes[2] = 0 if len(levels) == options.max_depth else num_drawn
        totals, choices = search_level(fixed, level, codes, limits, (critical, logs), rng)
        levels.append(describe_level(rows, level, totals, choices))
        level = next_level(fixed, level, choices, codes)
    return Nodes(*(np.concatenate(parts) for parts in zip(*levels, strict=True)))


@lru_cache(maxsize=4)
def weighted_logs(number: int) -> np.ndarray:
    """w log₂ w of the first whole numbers w, from 0 on."""
    weights = np.arange(number, dtype=np.float64)
    return weights * np.log2(np.maximum(weights, 1.0))


def search_level(
    fixed: tuple[np.ndarray, ...],
    level: Level,
    options: np.ndarray,
    limits: np.ndarray,
    tables: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(the statistics of each node, its choice of a split)."""
    number, num_columns = len(level.branches), len(fixed[0])
    totals, choices = np.empty((number, options[3])), np.zeros((number, 5), np.int64)
    size = max(1, ORDERS // num_columns)
    for first in range(0, number, size):
        part = slice(first, min(first + size, number))
        columns = np.arange(num_columns, dtype=np.int64)[np.newaxis]
        if 0 < options[2] < num_columns:
            columns = rng.permuted(np.repeat(columns, part.stop - first, axis=0), axis=1)
        starts = level.starts[first : part.stop + 1]
        find_splits(
            *fixed, level.rows, level.weights, starts, columns, options, limits, *tables, totals[part], choices[part]
        )
    return totals, choices


def next_level(fixed: tuple[np.ndarray, ...], level: Level, choices: np.ndarray, options: np.ndarray) -> Level:
    """The children of the nodes that are split, with their entries."""
    is_split = choices[:, 0] >= 0
    children, holes = np.where(is_split, choices[:, 3], 0), choices[:, 4]
    copies = children - 1 if options[1] == FRACTIONS else 0
    size = int(np.where(is_split, np.diff(level.starts) + holes * copies, 0).sum())
    branches, ends = np.empty(int(children.sum()), np.int64), np.empty(int(children.sum()), np.int64)
    entries, weights = np.empty(size, np.int64), np.empty(size)
    if len(branches):
        send_rows(*fixed, level.rows, level.weights, level.starts, choices, options, branches, ends, entries, weights)
    return Level(branches, np.concatenate([[0], ends]).astype(np.int64), entries, weights)


def describe_level(rows: TrainingRows, level: Level, totals: np.ndarray, choices: np.ndarray) -> Nodes:
    """The nodes of a level: what each is split by, and its statistics."""
    split = choices[:, 0]
    threshold = np.full(len(split), np.nan)
    for column in np.unique(split[split >= 0]):
        if rows.inputs[column].is_real:
            mine = np.flatnonzero(split == column)
            lower, upper = (rows.values[column][choices[mine, part]] for part in (1, 2))
            threshold[mine] = midpoints(lower, upper)
    children = np.where(split >= 0, choices[:, 3], 0)
    return Nodes(split, threshold, children, level.branches, describe_statistics(rows, totals))


def midpoints(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The middle of two numbers; the lower one where rounding would reach the upper one."""
    middle = 0.5 * lower + 0.5 * upper
    return np.where((middle >= lower) & (middle < upper), middle, lower)


def describe_statistics(rows: TrainingRows, totals: np.ndarray) -> np.ndarray:
    """The weight of each class; for regression the weight, the mean and the variance."""
    if not rows.output.is_real:
        return totals
    weight, mean = totals[:, 0], totals[:, 1] / totals[:, 0]
    variance = np.maximum(totals[:, 2] / weight - mean**2, 0.0)
    return np.stack([weight, mean * rows.unit + rows.center, variance * rows.unit**2], axis=1)


def node_weights(statistics: np.ndarray, *, is_real: bool) -> np.ndarray:
    """(…,): the weight of the rows of each node."""
    return statistics[..., 0] if is_real else statistics.sum(axis=-1)


def node_impurities(statistics: np.ndarray, criterion: str) -> np.ndarray:
    """(…,): the entropy in bits, the Gini impurity or the variance of each node."""
    if criterion == "variance":
        return statistics[..., 2]
    whole = statistics.sum(axis=-1, keepdims=True)
    shares = np.divide(statistics, whole, out=np.zeros_like(statistics), where=whole > 0)
    return 1.0 - (shares**2).sum(axis=-1) if criterion == "gini" else entr(shares).sum(axis=-1) / np.log(2.0)
