"""`LossMatrix` and `decide`: the action of least expected loss given the probabilities of classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_iterable, check_number
from juncture.base.values import Value, few
from juncture.data.tables.labels import label_array
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.factors.printed_tables import align_columns
from juncture.numerics import stable
from juncture.variables import State, Variable

REJECT = "reject"
ROUNDING = 1e-6  # how far the probabilities of a row may be from a sum of 1


class LossMatrix(Value):
    """The loss of each action in each class.

    Parameters
    ----------
    values
        The losses, (class, action): finite numbers; a gain is a negative loss.
    classes, actions
        The labels; by default 0, 1 and so on, and the actions are the classes where there are as many.

    Examples
    --------
    >>> loss = LossMatrix([[0, 10], [100, 20]], ["well", "ill"], ["wait", "treat"])
    >>> loss.decide([[0.95, 0.05], [0.7, 0.3]]).tolist()
    ['wait', 'treat']
    """

    values: np.ndarray
    classes: tuple[State, ...]
    actions: tuple[State, ...]

    def __init__(
        self, values: Any, classes: Iterable[State] | None = None, actions: Iterable[State] | None = None
    ) -> None:
        table = check_array(values, "the losses", ndim=2, error=InvalidModel)
        rows, columns = table.shape
        named = Variable("class", rows if classes is None else classes).labels
        same = named if rows == columns else columns
        acts = Variable("action", same if actions is None else actions).labels
        table = stable.as_numbers(table, (len(named), len(acts)), name="the losses", axes="(class, action)")
        self._set(values=table, classes=named, actions=acts)

    @classmethod
    def zero_one(cls, classes: Iterable[State] | int, *, reject: float | None = None) -> LossMatrix:
        """Loss 1 for every wrong class; with `reject`, the cost of the further action "reject", which is never wrong.

        A row is rejected where the most probable class has less than the probability 1 - reject.
        """
        labels = Variable("class", classes).labels
        values, actions = 1.0 - np.eye(len(labels)), list(labels)
        if reject is not None:
            cost = check_number(reject, "the cost of rejecting", least=0, finite=True)
            values, actions = np.column_stack([values, np.full(len(labels), cost)]), [*labels, REJECT]
        return cls(values, labels, actions)

    def expected(self, probabilities: Any) -> np.ndarray:
        """The expected loss of each action, (row, action), from the probabilities of the classes, (row, class)."""
        given = np.atleast_2d(check_array(probabilities, "the probabilities"))
        if given.ndim != 2 or given.shape[1] != len(self.classes):
            raise InvalidData(
                f"the probabilities must have a column for each of the classes {few(map(repr, self.classes))}; they"
                f" have the shape {given.shape}"
            )
        valid = (given >= 0).all(axis=1) & (np.abs(given.sum(axis=1) - 1) <= ROUNDING)
        if not valid.all():
            row = int(np.argmin(valid))
            raise InvalidData(
                f"the probabilities of a row must be at least 0 and sum to 1; row {row} has {given[row].tolist()}"
            )
        return np.asarray(given @ self.values)

    def decide(self, probabilities: Any) -> np.ndarray:
        """The action of least expected loss for each row; of several, the first."""
        return label_array(list(self.actions))[self.expected(probabilities).argmin(axis=1)]

    def align(self, classes: Iterable[Any]) -> LossMatrix:
        """The same losses with the classes in another order."""
        wanted = Variable("class", check_iterable(classes, "classes"))
        own = Variable("class", list(self.classes))
        codes = [code for label in wanted.labels if (code := own.find(label)) is not None]
        if len(codes) != wanted.num_states or len(codes) != len(self.classes):
            raise InvalidData(
                f"the loss is for the classes {few(map(repr, self.classes))}; the classifier has"
                f" {few(map(repr, wanted.labels))}"
            )
        return LossMatrix(self.values[codes], wanted.labels, self.actions)

    def __repr__(self) -> str:
        return f"LossMatrix(classes {few(map(repr, self.classes))}; actions {few(map(repr, self.actions))})"

    def __str__(self) -> str:
        rows = [[str(label), *(f"{number:.6g}" for number in row)] for label, row in self._rows()]
        return "\n".join(align_columns([["class", *map(str, self.actions)], *rows], 1))

    def _repr_html_(self) -> str:
        rows = [[label, *(f"{number:.6g}" for number in row)] for label, row in self._rows()]
        return html_table(["class", *self.actions], rows, num_labels=1)

    def _rows(self) -> list[tuple[State, list[float]]]:
        return list(zip(self.classes, self.values.tolist(), strict=True))


def decide(classifier: Any, rows: Any, loss: LossMatrix | Any) -> np.ndarray:
    """The action of least expected loss for each row, by the probabilities that any classifier gives.

    Parameters
    ----------
    classifier
        An object with `predict_proba` and `classes`, such as a `GenerativeClassifier`, a `LogisticRegression` or a
        `DecisionTree`; or with `classes_`, as of scikit-learn.
    rows
        As the classifier takes them.
    loss
        A `LossMatrix`, whose classes are matched by label; or a matrix (class, action) in the classifier's order.

    Returns
    -------
    numpy.ndarray
        The actions.

    Examples
    --------
    >>> import juncture as jt
    >>> classes = jt.supervised.GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1, 1), jt.Gaussian(1, 1)], ["-", "+"])
    >>> decide(classes, [-0.5, -0.1], [[0, 1], [5, 0]]).tolist()
    ['+', '+']
    """
    labels, probabilities = class_probabilities(classifier, rows)
    return as_loss(loss, labels).decide(probabilities)


def class_probabilities(classifier: Any, rows: Any) -> tuple[tuple[Any, ...], np.ndarray]:
    """The classes of a classifier, and their probabilities in each row."""
    classes = getattr(classifier, "classes", getattr(classifier, "classes_", None))
    if not hasattr(classifier, "predict_proba") or classes is None:
        raise Unsupported(
            f"a decision needs the probabilities of classes, and a {type(classifier).__name__} has no predict_proba and"
            " classes; take a fitted classifier that has"
        )
    labels = classes if isinstance(classes, tuple) else tuple(np.asarray(classes).tolist())
    return labels, np.asarray(classifier.predict_proba(rows))


def as_loss(loss: Any, labels: tuple[Any, ...]) -> LossMatrix:
    """A loss over these classes: a `LossMatrix` aligned by label, or a matrix in their order."""
    if isinstance(loss, LossMatrix):
        return loss.align(labels)
    table = check_array(loss, "the loss", ndim=2)
    if len(table) != len(labels):
        raise InvalidData(f"the loss has {len(table)} rows, one a class; the classifier has {len(labels)} classes")
    return LossMatrix(table, labels)
