"""`DecisionTree`: nodes that test one input each, and leaves that predict a class or a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.base.values import Value, number_of, read_only
from juncture.data.tables.labels import label_array
from juncture.drawing.decision_trees import DecisionDiagram
from juncture.drawing.notebook import diagram_html
from juncture.errors import Unsupported
from juncture.supervised.trees.checks import check_nodes
from juncture.supervised.trees.columns import read_rows
from juncture.supervised.trees.descent import average_leaves, predict_leaves, send_to_leaves
from juncture.supervised.trees.explanation import explain_row
from juncture.supervised.trees.growth import CRITERIA, MISSING, Nodes
from juncture.supervised.trees.impurity import node_impurities, node_weights
from juncture.supervised.trees.picture import tree_diagram
from juncture.supervised.trees.rules import Rule, find_rules
from juncture.variables import Scope, State, Variable

FIELDS = ("split", "threshold", "num_children", "branch", "statistics")


class DecisionTree(Value):
    """A decision tree; `learn_tree` grows one from rows.

    The nodes are numbered level by level from the root, 0, and the children of a node stand side by side. A node
    that tests a category has one child for each category that its training rows have; a row with another category
    ends at the node. A node that tests a number has two children: up to the threshold, and above.

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
    >>> tree = jt.supervised.learn_tree(ages, ["yes", "yes", "no", "no", "yes", "no"], max_depth=1)
    >>> float(tree.threshold[0]), tree.predict({"age": [25, 40]}).tolist()
    (29.5, ['yes', 'no'])
    """

    _fields = ("inputs", "target", *FIELDS, "criterion", "missing")
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
        self._set(**{name: read_only(array) for name, array in zip(FIELDS, nodes, strict=True)})

    @property
    def classes(self) -> tuple[State, ...] | None:
        """The classes, in the order of `predict_proba`; None for regression."""
        return None if self.target.is_real else self.target.labels

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the inputs, by which tables are taken."""
        return self.inputs.names

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
    def importances(self) -> np.ndarray:
        """(input,): the share of each input in the fall of the impurity, over all splits; zeros for a lone leaf."""
        impurity = self.weights * node_impurities(self.statistics, self.criterion)
        falls = impurity.copy()
        np.subtract.at(falls, self.parent[1:], impurity[1:])
        inner = self.split >= 0
        totals = np.bincount(self.split[inner], np.maximum(falls[inner], 0.0), minlength=len(self.inputs))
        return read_only(totals / totals.sum() if totals.sum() > 0 else totals)

    def predict(self, rows: Any) -> np.ndarray:
        """The class of each row, of equally probable ones the first; for regression its number."""
        values = predict_leaves(self, self.read(rows))
        return values if self.target.is_real else label_array(self.target.labels)[values]

    def predict_proba(self, rows: Any) -> np.ndarray:
        """(row, class): the shares of the classes in the leaf of each row, or their mean over its leaves."""
        if self.target.is_real:
            raise Unsupported("this tree predicts numbers, which have no probabilities here; call predict")
        return self.predict_values(rows)

    def predict_values(self, rows: Any) -> np.ndarray:
        """(row, class), or (row, 1) for regression: the prediction of the leaf of each row."""
        return average_leaves(self, self.read(rows))

    def apply(self, rows: Any) -> np.ndarray:
        """The leaf of each row; of a row with holes, the leaf that most of it reaches."""
        found = send_to_leaves(self, self.read(rows))
        order = np.lexsort((-found.fractions, found.rows))
        return found.leaves[order][np.unique(found.rows[order], return_index=True)[1]]

    def read(self, rows: Any) -> np.ndarray:
        """(row, input): numbers, codes of categories, NaN for holes."""
        return read_rows(self.inputs, rows)

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
