"""`DecisionFunction`: classifiers that decide and have no probabilities; what they are learned from, and `DecisionFit`.

The verbs `infer`, `most_probable`, `log_prob` and `sample` ask for probabilities, and refuse these kinds in a sentence
(`UNANSWERED` of `base/kinds.py`).
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from juncture.base.checks import check_array
from juncture.base.values import number_of
from juncture.data.feature_names import Names
from juncture.data.rows import Rows, read_labels
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidData, Unsupported
from juncture.learning.fit import Fit
from juncture.numerics.iteration import Trace
from juncture.supervised.model import SupervisedModel, read_training
from juncture.supervised.regression.inputs_and_targets import check_classes, read_classes, read_weights
from juncture.variables import State, as_plain

if TYPE_CHECKING:
    from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
    from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin

    BinaryClassifier: TypeAlias = Hyperplane | MaximumMargin

TRUTH: tuple[State, State] = (False, True)


class DecisionFunction(SupervisedModel):
    """A classifier that gives each row a class by the signs of functions of it, and no probabilities."""

    kind: ClassVar[str] = "decision function"

    def predict(self, X: Any) -> np.ndarray:
        """(row,): the class of each row."""
        raise NotImplementedError


class DecisionFit(Fit[Any]):
    """A classifier without probabilities, learned from rows.

    Attributes
    ----------
    model
        The classifier.
    log_likelihood
        None: it has no probabilities.
    trace
        What is minimised at the end, or after each step, and whether the algorithm converged.
    statistics
        None: all rows are needed.
    training_error
        The share of the rows, by their weights, that the classifier decides wrongly.
    """

    training_error: float

    def __init__(self, model: DecisionFunction, trace: Trace, training_error: float, seed: int | None = None) -> None:
        super().__init__(model, None, trace, None, seed)  # type: ignore[arg-type]
        self._set(training_error=training_error)

    def __repr__(self) -> str:
        error = f"training error {self.training_error:.4g}"
        return f"{type(self).__name__}({type(self.model).__name__}, {error}; {self.trace.reason})"

    def _repr_html_(self) -> str:
        facts = [
            ("training error", f"{self.training_error:.4g}"),
            ("converged", "yes" if self.trace.converged else "no"),
            ("stopped because", self.trace.reason),
        ]
        model = f"<p><code>{escape(repr(self.model))}</code></p>"
        return html_table([type(self).__name__, ""], facts, num_labels=1) + model


class BinaryRows(NamedTuple):
    """Rows of two classes to learn from; `weights` is None where none were given."""

    places: np.ndarray  # (row, coordinate)
    is_second: np.ndarray  # (row,)
    classes: tuple[State, State]
    weights: np.ndarray | None = None
    names: Names | None = None
    target_name: str = "y"

    @property
    def signs(self) -> np.ndarray:
        """(row,): 1 for the second class, -1 for the first."""
        return np.where(self.is_second, 1.0, -1.0)

    @property
    def heavy(self) -> np.ndarray:
        """(row,): the weights, 1 where none were given."""
        return np.ones(len(self.places)) if self.weights is None else self.weights

    def error_of(self, activations: np.ndarray) -> float:
        """The share of rows on the wrong side, by their weights."""
        return float(np.average((activations > 0) != self.is_second, weights=self.heavy))

    def check_both(self, what: str) -> None:
        """Check that both classes have rows."""
        if self.is_second.all() or not self.is_second.any():
            raise InvalidData(f"{what} between two classes: give points of both, labelled 0 and 1 or by two labels")

    def check_unweighted(self, what: str) -> None:
        """Refuse weights where an algorithm takes none."""
        if self.weights is not None:
            raise Unsupported(f"{what} takes rows without weights: leave them out, or repeat rows")


def read_binary_rows(model: BinaryClassifier | type[BinaryClassifier], data: Any, y: Any, weights: Any) -> BinaryRows:
    """The rows that a binary classifier, or the class of one, is learned from."""
    read = read_training(model, data, y, weights)
    places = check_points(read.inputs)
    if isinstance(model, type):
        classes, is_second = read_binary(read.targets, len(places))
    else:
        check_coordinates(places, model.num_columns)
        classes, is_second = model.classes, check_labels(read.targets, len(places), model.classes)
    given = read.inputs.given_weights is not None
    heavy = read_weights(read.inputs.weights(len(places)), len(places)) if given else None
    return BinaryRows(places, is_second, classes, heavy, read.names, read.target_name)


def read_binary(y: Any, num_points: int) -> tuple[tuple[State, State], np.ndarray]:
    """The two classes, sorted, and whether each point is of the second; of 0 and 1, or truth values, one may lack."""
    found, codes = read_labels(y, "y")
    if codes.shape != (num_points,):
        raise InvalidData(f"y has one label a point, {number_of(num_points, 'label')} here; got {len(codes)}")
    if (codes < 0).any():
        raise InvalidData(f"row {int(np.argmax(codes < 0))} of y has no class: leave the row out")
    labels: list[Any] = [as_plain(label) for label in found]
    if len(labels) == 1 and labels[0] in {0, 1}:
        labels, codes = sorted({labels[0], type(labels[0])(1 - labels[0])}), codes + int(labels[0])
    if len(labels) != 2:
        raise InvalidData(
            f"a boundary lies between two classes, and y has {number_of(len(labels), 'label')}; more than two are for"
            " jt.supervised.OneVersusRest and jt.supervised.AllPairs"
        )
    return (labels[0], labels[1]), codes == 1


def check_binary(classes: Any) -> tuple[State, State]:
    """Two labels of classes, the first and the second."""
    labels: list[Any] = [as_plain(label) for label in check_classes(classes)]
    if len(labels) != 2:
        raise InvalidData(f"a boundary lies between two classes; got {len(labels)} labels of classes")
    return labels[0], labels[1]


def check_labels(y: Any, num_points: int, classes: tuple[State, ...] = TRUTH) -> np.ndarray:
    """(point,): whether each point is of the second class; truth values may be 0 and 1."""
    if classes != TRUTH:  # (0, 1) is equal to it
        return np.asarray(read_classes(y, num_points, classes)[1] == 1)
    array = check_array(y, "the labels", ndim=1)
    if len(array) != num_points or not np.isin(array, (0, 1)).all():
        raise InvalidData(f"labels are 0 or 1, one for each of the {num_points} points; got {array.tolist()}")
    return array == 1


def check_points(points: Any, names: Names | None = None) -> np.ndarray:
    """Points as (point, coordinate); numbers are points on a line. With names, tables are taken by name."""
    places = Rows.of(points, names).matrix("points")
    if not np.isfinite(places).all():
        row, column = (int(index) for index in np.argwhere(~np.isfinite(places))[0])
        raise InvalidData(
            f"points are finite numbers, and row {row}, column {column} is {places[row, column]}: leave the row out,"
            " or fill the hole"
        )
    return places


def check_coordinates(points: Any, number: int, names: Names | None = None) -> np.ndarray:
    """(point, coordinate), with so many coordinates; with names, tables are taken by name."""
    places = check_points(points, names)
    if places.shape[1] != number:
        raise InvalidData(f"a point has {number_of(number, 'coordinate')} here; got points with {places.shape[1]}")
    return places


def read_points(points: Any) -> tuple[np.ndarray, Names | None]:
    """Points as (point, coordinate), and the names of the coordinates."""
    rows = Rows.of(points)
    return check_points(rows), rows.names
