"""`learn_tree`: a decision tree from rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator
from juncture.supervised.trees.columns import TrainingRows, read_training
from juncture.supervised.trees.growth import Growth, grow
from juncture.supervised.trees.tree import DecisionTree

TARGETS = ("class", "number")


@one_path
def learn_tree(  # noqa: PLR0913 (options of one algorithm)
    rows: Any,
    y: Any,
    *,
    target: str = "class",
    criterion: str | None = None,
    missing: str = "fractions",
    max_depth: int | None = None,
    min_samples_split: float = 0.0,
    min_samples_leaf: float = 0.0,
    min_gain: float = 0.0,
    significance: float | None = None,
    max_features: int | None = None,
    categories: Any = None,
    weights: Any = None,
    rng: Any = 0,
) -> DecisionTree:
    r"""A decision tree grown from the root down (Quinlan): each node is split by its best input, until it is pure.

    A category splits a node into one child for each category that occurs; a number splits it in two, at the middle of
    two successive values of different classes. Of equally good splits the first input and the lowest threshold win. A
    split without gain is made too, as the first of the two that learn an exclusive or.

    Parameters
    ----------
    rows
        A table of inputs: a frame of pandas or Polars, a `Dataset`, a mapping of columns, rows as mappings, an array.
        Text, booleans and categorical columns are categories, numbers are real-valued. Cells may be missing.
    y
        The class or the number of each row, or the name of the column of the table that has it.
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
    significance
        The level of a χ² test: a split is made only where children and classes are dependent at this level.
    max_features
        The number of inputs that are looked at in each node, drawn at random; by default all.
    categories
        Names or positions of columns of numbers that are categories, or "all".
    weights
        A weight for each row; a row of weight 2 counts as two rows.
    rng
        The seed of `max_features`.

    Returns
    -------
    DecisionTree

    Examples
    --------
    >>> import juncture as jt
    >>> rows = {"outlook": ["sunny", "sunny", "rain", "overcast"], "windy": [True, False, False, True]}
    >>> tree = jt.supervised.learn_tree(rows, ["stay", "go", "stay", "go"])
    >>> print(*tree.rules(), sep="\n")
    outlook = overcast → y = go
    outlook = rain → y = stay
    outlook = sunny ∧ windy = False → y = go
    outlook = sunny ∧ windy = True → y = stay
    """
    is_real = check_choice(target, TARGETS, "target") == "number"
    growth = Growth.checked(
        is_real=is_real,
        criterion=("variance" if is_real else "gain") if criterion is None else criterion,
        missing=missing,
        max_depth=max_depth,
        min_samples_split=min_samples_split,
        min_samples_leaf=min_samples_leaf,
        min_gain=min_gain,
        significance=significance,
        max_features=max_features,
    )
    training = read_training(rows, y, weights, categories, is_real=is_real)
    return grow_tree(training, growth, as_generator(rng))


def grow_tree(rows: TrainingRows, growth: Growth, rng: np.random.Generator) -> DecisionTree:
    """The tree of rows that are read."""
    return DecisionTree(rows.inputs, rows.output, *grow(rows, growth, rng), growth.criterion, growth.missing)
