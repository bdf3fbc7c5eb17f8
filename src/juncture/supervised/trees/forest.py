"""`RandomForest`: trees grown from bootstrap samples with random inputs in each node, and their vote."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.checks import (
    check_choice,
    check_count,
    check_flag,
    check_iterable,
    check_kind,
    check_number,
    is_one_of,
)
from juncture.base.dispatch import one_path
from juncture.base.options import as_generator
from juncture.base.values import Value, number_of, read_only
from juncture.data.tables.labels import label_array
from juncture.errors import InvalidModel, Unsupported
from juncture.runtime import parallel
from juncture.supervised.trees.descent import average_leaves
from juncture.supervised.trees.growth import Growth
from juncture.supervised.trees.training_rows import TrainingRows, read_training
from juncture.supervised.trees.tree import TARGETS, DecisionTree, grow_tree
from juncture.variables import State

VOTES = ("soft", "hard")
WORTH_THREADS = 20_000  # cells of a table


class RandomForest(Value):
    """Trees that vote; `learn_forest` grows one from rows.

    Attributes
    ----------
    trees
        `DecisionTree` values with the same inputs and the same target.
    vote
        "hard" takes the class that most trees predict; "soft" averages the shares of the classes over the trees.
    out_of_bag_error
        The share of training rows that the trees which have not seen them predict wrongly; for regression the mean
        squared error; None without a bootstrap.

    Examples
    --------
    >>> import juncture as jt
    >>> forest = jt.supervised.learn_forest({"age": [23, 27, 34, 38, 35, 32]}, list("yynnnn"), num_trees=9, rng=0)
    >>> forest.predict({"age": [22, 39]}).tolist()
    ['y', 'n']
    """

    trees: tuple[DecisionTree, ...]
    vote: str
    out_of_bag_error: float | None

    def __init__(
        self, trees: Iterable[DecisionTree], vote: str = "soft", out_of_bag_error: float | None = None
    ) -> None:
        listed = tuple(check_iterable(trees, "the trees of a forest"))
        for tree in listed:
            check_kind(tree, DecisionTree, "each tree of a forest")
        if not listed or any(tree.inputs != listed[0].inputs or tree.target != listed[0].target for tree in listed):
            raise InvalidModel("a forest has at least one tree, and its trees have the same inputs and the same target")
        error = None if out_of_bag_error is None else check_number(out_of_bag_error, "out_of_bag_error", least=0.0)
        self._set(trees=listed, vote=check_choice(vote, VOTES, "the vote"), out_of_bag_error=error)

    @property
    def classes(self) -> tuple[State, ...] | None:
        """The classes, in the order of `predict_proba`; None for regression."""
        return self.trees[0].classes

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the inputs, by which tables are taken."""
        return self.trees[0].feature_names

    @property
    def importances(self) -> np.ndarray:
        """(input,): the mean of the importances of the trees."""
        return read_only(np.mean([tree.importances for tree in self.trees], axis=0))

    def predict(self, rows: Any) -> np.ndarray:
        """The class of each row, of equally good ones the first; for regression the mean of the trees."""
        values, target = self.predict_values(rows), self.trees[0].target
        return values[:, 0] if target.is_real else label_array(target.labels)[values.argmax(axis=1)]

    def predict_proba(self, rows: Any) -> np.ndarray:
        """(row, class): the mean shares of the classes; with the hard vote the shares of trees for each class."""
        if self.trees[0].target.is_real:
            raise Unsupported("this forest predicts numbers, which have no probabilities here; call predict")
        return self.predict_values(rows)

    def predict_values(self, rows: Any) -> np.ndarray:
        """(row, class), or (row, 1) for regression: the mean of the votes."""
        table = self.trees[0].read(rows)
        is_worth = table.size >= WORTH_THREADS
        votes = parallel.map(lambda tree: count_votes(tree, table, self.vote), self.trees, is_worth_threads=is_worth)
        return sum(votes[1:], votes[0]) / len(votes)

    def __repr__(self) -> str:
        error = "" if self.out_of_bag_error is None else f", out-of-bag error {self.out_of_bag_error:.4g}"
        return f"RandomForest({number_of(len(self.trees), 'tree')}, {self.vote} vote{error})"


def count_votes(tree: DecisionTree, table: np.ndarray, vote: str) -> np.ndarray:
    """(row, …): the shares of a tree, or 1 for its class and 0 for the others."""
    values = average_leaves(tree, table)
    if vote == "soft" or tree.target.is_real:
        return values
    return (np.arange(values.shape[1]) == values.argmax(axis=1)[:, np.newaxis]).astype(np.float64)


@one_path
def learn_forest(  # noqa: PLR0913 (options of one algorithm)
    rows: Any,
    y: Any,
    *,
    num_trees: int = 100,
    target: str = "class",
    vote: str = "soft",
    bootstrap: bool = True,
    max_features: Any = "sqrt",
    criterion: str | None = None,
    missing: str = "fractions",
    max_depth: int | None = None,
    min_samples_split: float = 0.0,
    min_samples_leaf: float = 0.0,
    min_gain: float = 0.0,
    categories: Any = None,
    weights: Any = None,
    rng: Any = 0,
) -> RandomForest:
    """A random forest: each tree grows from a bootstrap sample, and each node looks at a few inputs drawn at random.

    Every tree has a random stream of its own, so that the forest does not depend on the number of threads.

    Parameters
    ----------
    rows, y, target, criterion, missing, max_depth, min_samples_split, min_samples_leaf, min_gain, categories
        As in `learn_tree`.
    num_trees
        The number of trees.
    vote
        "soft" averages the shares of the classes over the trees, "hard" counts the trees that predict each class.
    bootstrap
        Whether each tree grows from as many rows as there are, drawn with replacement in proportion to their weights;
        else all trees grow from all rows.
    max_features
        The number of inputs that each node looks at: a whole number, "sqrt" of the number of inputs, or None for all.
    weights
        A weight for each row.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    RandomForest

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> forest = jt.supervised.learn_forest(x, x[:, 0] > 0, num_trees=20, max_features=None)
    >>> forest.out_of_bag_error < 0.05
    True
    """
    is_real = check_choice(target, TARGETS, "target") == "number"
    number = check_count(num_trees, "num_trees", least=1)
    is_drawn = check_flag(bootstrap, "bootstrap")
    check_choice(vote, VOTES, "the vote")
    generator = as_generator(rng)
    training = read_training(rows, y, weights, categories, is_real=is_real)
    growth = Growth.checked(
        is_real=is_real,
        criterion=("variance" if is_real else "gain") if criterion is None else criterion,
        missing=missing,
        max_depth=max_depth,
        min_samples_split=min_samples_split,
        min_samples_leaf=min_samples_leaf,
        min_gain=min_gain,
        max_features=count_features(max_features, len(training.inputs)),
    )
    return grow_forest(training, growth, number, vote, generator, is_drawn=is_drawn)


def count_features(max_features: Any, number: int) -> int | None:
    """How many inputs a node looks at."""
    if is_one_of(max_features, ("sqrt",)):
        return max(1, int(number**0.5))
    return None if max_features is None else check_count(max_features, "max_features, if it is not 'sqrt',", least=1)


def grow_forest(
    rows: TrainingRows, growth: Growth, number: int, vote: str, rng: np.random.Generator, *, is_drawn: bool
) -> RandomForest:
    """Grow the trees, each with a stream of its own, and let those vote on each row that have not seen it."""
    table = as_numbers(rows)

    def grow_one(stream: np.random.Generator) -> tuple[DecisionTree, np.ndarray, np.ndarray]:
        size = len(rows.weights)
        counts = stream.multinomial(size, rows.weights / rows.weights.sum()) if is_drawn else np.ones(size)
        mean = rows.weights.mean() / rows.weights if is_drawn else np.ones(size)
        tree = grow_tree(rows.weighted(counts * mean), growth, stream)
        unseen = np.flatnonzero(counts == 0)
        return tree, unseen, count_votes(tree, table[unseen], vote)

    is_worth = rows.codes.size >= WORTH_THREADS
    grown = parallel.map(grow_one, rng.spawn(number), is_worth_threads=is_worth)
    return RandomForest([tree for tree, _, _ in grown], vote, out_of_bag_error(rows, grown) if is_drawn else None)


def as_numbers(rows: TrainingRows) -> np.ndarray:
    """(row, input): the training rows as `DecisionTree.read` reads them."""
    columns = [
        np.append(found if variable.is_real else np.arange(variable.num_states, dtype=np.float64), np.nan)[codes]
        for codes, found, variable in zip(rows.codes, rows.values, rows.inputs, strict=True)
    ]
    return np.ascontiguousarray(np.array(columns).T)


def out_of_bag_error(rows: TrainingRows, grown: list[tuple[DecisionTree, np.ndarray, np.ndarray]]) -> float | None:
    """The error of the votes of the trees that have not seen a row; None if each tree has seen all rows."""
    size = len(rows.target)
    votes, number = np.zeros((size, grown[0][2].shape[1])), np.zeros(size)
    for _, unseen, values in grown:
        votes[unseen] += values
        number[unseen] += 1
    known = number > 0
    if not known.any():
        return None
    if rows.output.is_real:
        errors = (votes[known, 0] / number[known] - rows.center - rows.unit * rows.target[known]) ** 2
    else:
        errors = (votes[known].argmax(axis=1) != rows.target[known]).astype(np.float64)
    return float(np.average(errors, weights=rows.weights[known]))
