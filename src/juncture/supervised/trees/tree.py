"""`DecisionTree`: nodes that test one input each, and leaves that predict a class or a number; `jt.fit` grows one.

A tree that is not grown but given, as by a file, is checked node by node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from juncture.base.checks import check_array, check_choice, check_kind
from juncture.base.options import as_generator, as_seed
from juncture.base.values import number_of, read_only
from juncture.data.tables.labels import label_array
from juncture.drawing.decision_trees import DecisionDiagram
from juncture.drawing.notebook import diagram_html
from juncture.errors import InvalidModel, Unsupported
from juncture.learning.fit import Fit
from juncture.numerics.iteration import Trace
from juncture.supervised.model import wanted_column
from juncture.supervised.trees.descent import average_leaves, explain_row, predict_leaves, send_to_leaves
from juncture.supervised.trees.growth import CRITERIA, MISSING, Nodes, TreeOptions, grow, node_impurities, node_weights
from juncture.supervised.trees.model import TreeModel
from juncture.supervised.trees.rules import Rule, find_rules, tree_diagram
from juncture.supervised.trees.training_rows import TrainingRows, read_training
from juncture.variables import Scope, Variable

ARRAYS = ("split", "threshold", "num_children", "branch", "statistics")
SMALLEST_VARIANCE = 1e-300
Grown = TypeVar("Grown", bound=TreeOptions)


class DecisionTree(TreeModel):
    r"""A decision tree; `jt.fit(jt.supervised.DecisionTree, X, y)` grows one, with the options of `TreeOptions`.

    The nodes are numbered level by level from the root, 0, and the children of a node stand side by side. A node
    that tests a category has one child for each category that its training rows have; a row with another category
    ends at the node. A node that tests a number has two children: up to the threshold, and above.

    As a distribution of the target, p(class | row) is the shares of the classes in the leaf of the row. A number has a
    Gaussian in each leaf, with the mean and the variance of its training rows, to which the variance of the parent is
    counted as one row more: a leaf of one row, or of equal numbers, has a variance too.

    Attributes
    ----------
    inputs
        The variables that nodes test: with states for categories, real for numbers.
    target
        The variable that is predicted: its states are the classes; it is real for regression.
    split
        (node,): the position of the input that the node tests; -1 for a leaf.
    threshold
        (node,): the threshold of a number; NaN elsewhere.
    num_children
        (node,): the number of children.
    branch
        (node,): the code of the category that leads to the node, or 0 for up to the threshold and 1 for above.
    statistics
        (node, class): the weight of the training rows of each class; for regression (node, 3): their weight, and the
        mean and the variance of the target.
    criterion
        By what the tree was grown: "gain", "gain_ratio", "gini", or "variance" for regression.
    missing
        Where a row goes whose value is missing: "fractions" sends it to all children, in proportion to their training
        rows; "mode" and "class_mode" send it to the child with the most.

    Examples
    --------
    >>> import juncture as jt
    >>> ages = {"age": [23, 27, 34, 38, 35, 32]}
    >>> grown = jt.fit(jt.supervised.DecisionTree, ages, ["yes", "yes", "no", "no", "yes", "no"], max_depth=1)
    >>> tree = grown.model
    >>> float(tree.threshold[0]), tree.predict({"age": [25, 40]}).tolist()
    (29.5, ['yes', 'no'])
    >>> jt.infer(tree, {"age": 40})["y"].to_dict()
    {'no': 0.75, 'yes': 0.25}
    >>> rows = {"outlook": ["sunny", "sunny", "rain", "overcast"], "windy": [True, False, False, True]}
    >>> tree = jt.fit(jt.supervised.DecisionTree, rows, ["stay", "go", "stay", "go"]).model
    >>> print(*tree.rules(), sep="\n")
    outlook = overcast → y = go
    outlook = rain → y = stay
    outlook = sunny ∧ windy = False → y = go
    outlook = sunny ∧ windy = True → y = stay
    """

    kind: ClassVar[str] = "decision tree"
    inputs: Scope
    target: Variable
    split: np.ndarray
    threshold: np.ndarray
    num_children: np.ndarray
    branch: np.ndarray
    statistics: np.ndarray
    criterion: str
    missing: str

    def __init__(  # noqa: PLR0913, PLR0917 (the parts of one value)
        self,
        inputs: Iterable[Variable],
        target: Variable,
        split: Any,
        threshold: Any,
        num_children: Any,
        branch: Any,
        statistics: Any,
        criterion: str = "gain",
        missing: str = "fractions",
    ) -> None:
        scope = Scope(inputs)
        nodes = check_nodes(scope, target, split, threshold, num_children, branch, statistics)
        check_choice(criterion, ("variance",) if target.is_real else tuple(CRITERIA), "the criterion")
        check_choice(missing, tuple(MISSING), "missing")
        self._set(inputs=scope, target=target, criterion=criterion, missing=missing)
        self._set(**{name: read_only(array) for name, array in zip(ARRAYS, nodes, strict=True)})

    @property
    def nodes(self) -> Nodes:
        """The arrays of the nodes."""
        return Nodes(self.split, self.threshold, self.num_children, self.branch, self.statistics)

    @cached_property
    def first_child(self) -> np.ndarray:
        """(node,): the first child; its siblings follow it."""
        return read_only(1 + np.cumsum(self.num_children) - self.num_children)

    @cached_property
    def parent(self) -> np.ndarray:
        """(node,): the parent; -1 for the root."""
        return read_only(np.concatenate([[-1], np.repeat(np.arange(len(self.split)), self.num_children)]), np.int64)

    @cached_property
    def depths(self) -> np.ndarray:
        """(node,): the number of tests above each node."""
        depths, level, depth = np.zeros(len(self.split), np.int64), slice(1, 1 + int(self.num_children[0])), 1
        while level.stop > level.start:
            depths[level] = depth
            level, depth = slice(level.stop, level.stop + int(self.num_children[level].sum())), depth + 1
        return read_only(depths)

    @property
    def num_nodes(self) -> int:
        """The number of nodes, leaves among them."""
        return len(self.split)

    @property
    def num_parameters(self) -> int:
        """The thresholds, and the free numbers of each leaf: its shares, or its mean and variance."""
        free = 2 if self.target.is_real else self.target.num_states - 1
        return int(np.isfinite(self.threshold).sum()) + free * self.num_leaves

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.split < 0))

    @property
    def depth(self) -> int:
        """The largest number of tests on a path to a leaf."""
        return int(self.depths.max())

    @cached_property
    def weights(self) -> np.ndarray:
        """(node,): the weight of the training rows of each node."""
        return read_only(node_weights(self.statistics, is_real=self.target.is_real))

    @cached_property
    def predictions(self) -> np.ndarray:
        """(node, class): the shares of the classes; for regression (node, 1): the mean of the target."""
        if self.target.is_real:
            return read_only(self.statistics[:, 1:2])
        return read_only(self.statistics / self.weights[:, np.newaxis])

    @cached_property
    def variances(self) -> np.ndarray:
        """(node,): the variance of a number in each node, where that of the parent counts as one row more."""
        if not self.target.is_real:
            raise Unsupported("the nodes of this tree have shares of classes, and no variance: see statistics")
        found = np.array(self.statistics[:, 2])
        spacing = np.spacing(np.abs(self.statistics[0, 1])) ** 2  # numbers that are all equal are known up to rounding
        found[0] = max(found[0], spacing, SMALLEST_VARIANCE)
        for depth in range(1, self.depth + 1):
            nodes = np.flatnonzero(self.depths == depth)
            weights = self.weights[nodes]
            found[nodes] = (weights * found[nodes] + found[self.parent[nodes]]) / (weights + 1.0)
        return read_only(found)

    @property
    def moments(self) -> np.ndarray:
        """(node, 2): the mean of a number in each node, less that of all rows, and the mean of its square."""
        mean = self.statistics[:, 1] - self.statistics[0, 1]
        return np.stack([mean, self.variances + mean**2], axis=1)

    @cached_property
    def importances(self) -> np.ndarray:
        """(input,): the share of each input in the fall of the impurity, over all splits; zeros for a lone leaf."""
        impurity = self.weights * node_impurities(self.statistics, self.criterion)
        falls = impurity.copy()
        np.subtract.at(falls, self.parent[1:], impurity[1:])
        inner = self.split >= 0
        totals = np.bincount(self.split[inner], np.maximum(falls[inner], 0.0), minlength=len(self.inputs))
        return read_only(totals / totals.sum() if totals.sum() > 0 else totals)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row, of equally probable ones the first; for regression its number."""
        values = predict_leaves(self, self.read(X))
        return values if self.target.is_real else label_array(self.target.labels)[values]

    def read_values(self, table: np.ndarray) -> np.ndarray:
        return average_leaves(self, table)

    def read_moments(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        center = self.statistics[0, 1]
        mean, square = average_leaves(self, table, self.moments).T
        return mean + center, np.maximum(square - mean**2, self.variances.min())

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row; of a row with holes, the leaf that most of it reaches."""
        found = send_to_leaves(self, self.read(X))
        order = np.lexsort((-found.fractions, found.rows))
        return found.leaves[order][np.unique(found.rows[order], return_index=True)[1]]

    def renamed(self, inputs: Scope, target: Variable) -> DecisionTree:
        return DecisionTree(inputs, target, *self.nodes, self.criterion, self.missing)

    def rules(self) -> tuple[Rule, ...]:
        """One rule for each leaf, and for the categories that end at a node: exactly one holds for a complete row."""
        return find_rules(self)

    def explain(self, x: Mapping[str, Any] | Any) -> str:
        """Why a row is predicted as it is: each test on its path, with the training rows there, one sentence a line."""
        return explain_row(self, x)

    def to_diagram(self) -> DecisionDiagram:
        """What `jt.draw` draws."""
        return tree_diagram(self)

    def _repr_html_(self) -> str:
        return diagram_html(repr(self), self.to_diagram())

    def __repr__(self) -> str:
        kind = "regression" if self.target.is_real else f"{self.target.num_states} classes"
        leaves = f"{self.num_leaves:,} {'leaf' if self.num_leaves == 1 else 'leaves'}"
        return f"DecisionTree({kind}, {leaves}, depth {self.depth}, {number_of(len(self.inputs), 'input')})"


def fit_tree(
    model: DecisionTree | type[DecisionTree],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rng: Any = None,
    options: TreeOptions,
) -> Fit[DecisionTree]:
    """Grow a tree; of one that is given the inputs, the target, the criterion and the way of holes stay."""
    rows, options = prepare(model, None if isinstance(model, type) else model, data, y, weights, options)
    seed = as_seed(rng) if options.num_drawn(len(rows.inputs)) < len(rows.inputs) else None
    tree = grow_tree(rows, options, as_generator(seed))
    total = score_training(tree, rows)
    return Fit(tree, total, Trace((total,), True, "grown from the root down"), None, seed)


def prepare(
    model: TreeModel | type[TreeModel], like: DecisionTree | None, data: Any, y: Any, weights: Any, options: Grown
) -> tuple[TrainingRows, Grown]:
    """The rows to grow from, and the options; both as a tree says that is given."""
    if like is not None:
        target = "number" if like.target.is_real else "class"
        options = replace(options, target=target, criterion=options.criterion or like.criterion, missing=like.missing)
    pair = None if like is None else (like.inputs, like.target)
    targets = wanted_column(model, data) if y is None else y
    rows = read_training(data, targets, weights, options.categories, is_real=options.is_real, like=pair)
    return rows, options


def grow_tree(rows: TrainingRows, options: TreeOptions, rng: np.random.Generator) -> DecisionTree:
    """The tree of rows that are read."""
    return DecisionTree(rows.inputs, rows.output, *grow(rows, options, rng), options.chosen_criterion, options.missing)


def score_training(model: TreeModel, rows: TrainingRows) -> float:
    """Σ log p(target | row) of the rows that a tree or a forest was grown from, by their weights."""
    predicted = model.predict_target(rows.table)
    if model.target.is_real:
        return float(rows.weights @ predicted.log_prob(rows.target * rows.unit + rows.center))
    return float(rows.weights @ predicted[np.arange(len(predicted)), rows.target.astype(np.int64)])


WHOLE = "split", "num_children", "branch"


def check_nodes(
    inputs: Scope, target: Variable, split: Any, threshold: Any, num_children: Any, branch: Any, statistics: Any
) -> Nodes:
    """The arrays of a tree, after a check that they are one."""
    check_kind(target, Variable, "the target of a tree", error=InvalidModel)
    given = {"split": split, "threshold": threshold, "num_children": num_children, "branch": branch}
    arrays = {name: check_array(each, name, ndim=1, error=InvalidModel) for name, each in given.items()}
    table = check_array(statistics, "statistics", ndim=2, error=InvalidModel)
    if len({len(each) for each in (*arrays.values(), table)}) > 1 or not len(table):
        raise InvalidModel("a tree has at least one node, and one entry for each node in all of its arrays")
    for name in WHOLE:
        if (arrays[name] != np.floor(arrays[name])).any() or np.abs(arrays[name]).max() >= 2**31:
            raise InvalidModel(f"{name} must hold whole numbers")
        arrays[name] = arrays[name].astype(np.int64)
    nodes = Nodes(**arrays, statistics=table)
    check_shape(nodes)
    check_splits(nodes, inputs)
    check_statistics(table, target)
    return nodes


def check_shape(nodes: Nodes) -> None:
    """The children of all nodes, side by side, are the nodes after the root; a leaf has none."""
    number = len(nodes.split)
    first = 1 + np.cumsum(nodes.num_children) - nodes.num_children
    inner = nodes.split >= 0
    is_tree = nodes.num_children.sum() == number - 1 and (first[inner] > np.flatnonzero(inner)).all()
    if not is_tree or (nodes.num_children[inner] < 2).any() or (nodes.num_children[~inner] != 0).any():
        raise InvalidModel(
            "num_children must count the children level by level: at least 2 of a node that is split, none of a leaf,"
            f" and {number - 1} in all"
        )


def check_splits(nodes: Nodes, inputs: Scope) -> None:
    """Every split names an input; its children have one branch each."""
    if (nodes.split < -1).any() or (nodes.split >= len(inputs)).any():
        raise InvalidModel(f"split must be -1 for a leaf, or the position of one of the {len(inputs)} inputs")
    is_real = np.array([variable.is_real for variable in inputs] + [False])
    sizes = np.array([2 if variable.is_real else variable.num_states for variable in inputs] + [0])
    parents, branches = np.repeat(np.arange(len(nodes.split)), nodes.num_children), nodes.branch[1:]
    is_wrong = (branches < 0) | (branches >= sizes[nodes.split[parents]])
    is_wrong[1:] |= (np.diff(branches) <= 0) & (np.diff(parents) == 0)
    if is_wrong.any():
        node = parents[is_wrong.argmax()]
        name, most = inputs[nodes.split[node]].name, sizes[nodes.split[node]] - 1
        raise InvalidModel(f"the branches of node {node}, which tests {name!r}, must rise from 0 to at most {most}")
    if (np.isfinite(nodes.threshold) != is_real[nodes.split]).any() or np.isinf(nodes.threshold).any():
        raise InvalidModel("threshold must be a finite number where a node tests a number, and NaN elsewhere")


def check_statistics(table: np.ndarray, target: Variable) -> None:
    """Weights above 0, and as many entries as there are classes, or three for regression."""
    wide = 3 if target.is_real else target.num_states
    if table.shape[1] != wide:
        raise InvalidModel(f"statistics must have {wide} entries for each node; they have {table.shape[1]}")
    weights = table[:, [0]] if target.is_real else table
    is_positive = (weights >= 0).all() and (weights.sum(axis=1) > 0).all()
    if not np.isfinite(table).all() or not is_positive or (target.is_real and (table[:, 2] < 0).any()):
        raise InvalidModel("statistics must be finite, with weights of at least 0 that are not all 0 in a node")
