"""`RandomForest`: trees grown from bootstrap samples with random inputs in each node, and their vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import (
    check_choice,
    check_count,
    check_flag,
    check_iterable,
    check_kind,
    check_number,
)
from juncture.base.options import as_generator, as_seed
from juncture.base.values import number_of, read_only
from juncture.data.tables.labels import label_array
from juncture.errors import InvalidModel
from juncture.learning.fit import Fit
from juncture.numerics.iteration import Trace
from juncture.runtime import parallel
from juncture.supervised.trees.descent import average_leaves
from juncture.supervised.trees.growth import TreeOptions
from juncture.supervised.trees.model import TreeModel
from juncture.supervised.trees.training_rows import TrainingRows
from juncture.supervised.trees.tree import DecisionTree, grow_tree, prepare, score_training
from juncture.variables import Scope, Variable

VOTES = ("soft", "hard")
WORTH_THREADS = 20_000  # cells of a table


class RandomForest(TreeModel):
    """Trees that vote; `jt.fit(jt.supervised.RandomForest, X, y)` grows them, with the options of `ForestOptions`.

    As a distribution of the target, p(class | row) is the mean of the votes. A number has the Gaussian with the mean
    and the variance of the mixture of the trees: the mean variance of their leaves, and the variance of their means.

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
    >>> ages = {"age": [23, 27, 34, 38, 35, 32]}
    >>> forest = jt.fit(jt.supervised.RandomForest, ages, list("yynnnn"), num_trees=9, rng=0).model
    >>> forest.predict({"age": [22, 39]}).tolist()
    ['y', 'n']
    """

    kind: ClassVar[str] = "random forest"
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
    def inputs(self) -> Scope:  # type: ignore[override]
        """The variables that nodes test."""
        return self.trees[0].inputs

    @property
    def target(self) -> Variable:  # type: ignore[override]
        """The variable that is predicted."""
        return self.trees[0].target

    @property
    def num_parameters(self) -> int:
        """Those of all trees."""
        return sum(tree.num_parameters for tree in self.trees)

    @property
    def importances(self) -> np.ndarray:
        """(input,): the mean of the importances of the trees."""
        return read_only(np.mean([tree.importances for tree in self.trees], axis=0))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row, of equally good ones the first; for regression the mean of the trees."""
        values = self.predict_values(X)
        return values[:, 0] if self.target.is_real else label_array(self.target.labels)[values.argmax(axis=1)]

    def read_values(self, table: np.ndarray) -> np.ndarray:
        return self._average(table, lambda tree: count_votes(tree, table, self.vote))

    def read_moments(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        center = self.trees[0].statistics[0, 1]

        def moments(tree: DecisionTree) -> np.ndarray:
            mean, variance = tree.read_moments(table)
            return np.stack([mean - center, variance + (mean - center) ** 2], axis=1)

        mean, square = self._average(table, moments).T
        least = min(float(tree.variances.min()) for tree in self.trees)
        return mean + center, np.maximum(square - mean**2, least)

    def _average(self, table: np.ndarray, answer: Callable[[DecisionTree], np.ndarray]) -> np.ndarray:
        """(row, …): the mean of the answers of the trees."""
        answers = parallel.map(answer, self.trees, is_worth_threads=table.size >= WORTH_THREADS)
        return sum(answers[1:], answers[0]) / len(answers)

    def renamed(self, inputs: Scope, target: Variable) -> RandomForest:
        return RandomForest([tree.renamed(inputs, target) for tree in self.trees], self.vote, self.out_of_bag_error)

    def __repr__(self) -> str:
        error = "" if self.out_of_bag_error is None else f", out-of-bag error {self.out_of_bag_error:.4g}"
        return f"RandomForest({number_of(len(self.trees), 'tree')}, {self.vote} vote{error})"


def count_votes(tree: DecisionTree, table: np.ndarray, vote: str) -> np.ndarray:
    """(row, …): the shares of a tree, or 1 for its class and 0 for the others."""
    values = average_leaves(tree, table)
    if vote == "soft" or tree.target.is_real:
        return values
    return (np.arange(values.shape[1]) == values.argmax(axis=1)[:, np.newaxis]).astype(np.float64)


@dataclass(frozen=True)
class ForestOptions(TreeOptions):
    """How a forest grows: each tree from a bootstrap sample, each node from a few inputs drawn at random.

    Every tree has a random stream of its own, so that the forest does not depend on the number of threads.

    Parameters
    ----------
    num_trees
        The number of trees.
    vote
        "soft" averages the shares of the classes over the trees, "hard" counts the trees that predict each class.
    bootstrap
        Whether each tree grows from as many rows as there are, drawn with replacement in proportion to their weights;
        else all trees grow from all rows.
    """

    num_trees: int = 100
    vote: str = "soft"
    bootstrap: bool = True
    max_features: int | str | None = "sqrt"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.num_trees, "num_trees", least=1)
        check_choice(self.vote, VOTES, "the vote")
        check_flag(self.bootstrap, "bootstrap")


def fit_forest(
    model: RandomForest | type[RandomForest],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rng: Any = None,
    options: ForestOptions,
) -> Fit[RandomForest]:
    """Grow a forest; of one that is given the inputs, the target, the criterion and the way of holes stay."""
    rows, options = prepare(model, None if isinstance(model, type) else model.trees[0], data, y, weights, options)
    seed = as_seed(rng)
    forest = grow_forest(rows, options, as_generator(seed))
    total = score_training(forest, rows)
    return Fit(forest, total, Trace((total,), True, "each tree grown from the root down"), None, seed)


def grow_forest(rows: TrainingRows, options: ForestOptions, rng: np.random.Generator) -> RandomForest:
    """Grow the trees, each with a stream of its own, and let those vote on each row that have not seen it."""
    table, is_drawn, vote = rows.table, options.bootstrap, options.vote

    def grow_one(stream: np.random.Generator) -> tuple[DecisionTree, np.ndarray, np.ndarray]:
        size = len(rows.weights)
        counts = stream.multinomial(size, rows.weights / rows.weights.sum()) if is_drawn else np.ones(size)
        mean = rows.weights.mean() / rows.weights if is_drawn else np.ones(size)
        tree = grow_tree(rows.weighted(counts * mean), options, stream)
        unseen = np.flatnonzero(counts == 0)
        return tree, unseen, count_votes(tree, table[unseen], vote)

    is_worth = rows.codes.size >= WORTH_THREADS
    grown = parallel.map(grow_one, rng.spawn(options.num_trees), is_worth_threads=is_worth)
    return RandomForest([tree for tree, _, _ in grown], vote, out_of_bag_error(rows, grown) if is_drawn else None)


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
