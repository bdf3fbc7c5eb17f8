"""Many classes by binary learners: one against the rest, all pairs, and classes in an order.

Classes in an order have a discriminant for each class but the last: whether a point lies above it (Frank and Hall).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from juncture.base.checks import check_function, check_iterable
from juncture.base.values import few
from juncture.data.feature_names import NamedFeatures, Names
from juncture.errors import InvalidData, InvalidModel, hint
from juncture.supervised.linear_classifiers.hyperplane import check_points, read_points
from juncture.supervised.regression.inputs_and_targets import check_classes, decode_classes
from juncture.variables import State, as_plain

Learner = Callable[[np.ndarray, np.ndarray], Any]  # points, labels → anything with `activation(points)`


class BinaryDiscriminants(NamedFeatures):
    """Classes that are separated by discriminants, each between two groups of them."""

    classes: tuple[State, ...]
    discriminants: tuple[Any, ...]

    def __init__(self, classes: Any, discriminants: Any) -> None:
        labels = tuple(as_plain(label) for label in check_classes(classes))
        parts = tuple(check_discriminant(part) for part in check_iterable(discriminants, "discriminants"))
        number = self._num_discriminants(len(labels))
        if len(labels) < 2 or len(parts) != number:
            raise InvalidModel(
                f"there are at least 2 classes, and {number} discriminants for {len(labels)}; got {len(parts)}"
            )
        sizes = {size for part in parts if (size := getattr(part, "num_columns", None)) is not None}
        if len(sizes) > 1:
            raise InvalidModel(f"all discriminants take points with as many coordinates; got {sorted(sizes)}")
        self._set(classes=labels, discriminants=parts)

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        """The number of discriminants of so many classes."""
        raise NotImplementedError

    @property
    def num_columns(self) -> int | None:
        """The number of coordinates; None where the discriminants do not say it."""
        return getattr(self.discriminants[0], "num_columns", None)

    def activations(self, points: Any) -> np.ndarray:
        """(point, discriminant): the activation of each discriminant."""
        places = check_points(points, self.feature_names)
        return np.stack([part.activation(places) for part in self.discriminants], axis=1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{few(map(repr, self.classes), most=6)}])"


class OneVersusRest(BinaryDiscriminants):
    """A discriminant a class; the class is that of the largest activation.

    Attributes
    ----------
    classes
        The labels, sorted.
    discriminants
        One a class: positive for its points.
    """

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        return num_classes

    def predict(self, points: Any) -> np.ndarray:
        """(point,): the class of the largest activation; of equal ones the first."""
        return decode_classes(self.classes, self.activations(points).argmax(axis=1))


class AllPairs(BinaryDiscriminants):
    """A discriminant for each pair of classes; the class is that with the most wins.

    Attributes
    ----------
    classes
        The labels, sorted.
    discriminants
        One a pair, in the order of `itertools.combinations`: positive for the second class of the pair.
    """

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        return num_classes * (num_classes - 1) // 2

    def wins(self, points: Any) -> np.ndarray:
        """(point, class): how many of its pairs each class wins."""
        return self._wins(self.activations(points))

    def predict(self, points: Any) -> np.ndarray:
        """(point,): the class of most wins; of equals, that of the largest sum of activations of its pairs."""
        activations = self.activations(points)
        wins, sums = self._wins(activations), np.zeros((len(activations), len(self.classes)))
        for place, (one, other) in enumerate(combinations(range(len(self.classes)), 2)):
            sums[:, one] -= activations[:, place]
            sums[:, other] += activations[:, place]
        is_best = wins == wins.max(axis=1, keepdims=True)
        return decode_classes(self.classes, np.where(is_best, sums, -np.inf).argmax(axis=1))

    def _wins(self, activations: np.ndarray) -> np.ndarray:
        wins = np.zeros((len(activations), len(self.classes)), dtype=np.int64)
        for place, (one, other) in enumerate(combinations(range(len(self.classes)), 2)):
            second = activations[:, place] > 0
            wins[:, one] += ~second
            wins[:, other] += second
        return wins


def fit_one_versus_rest(learner: Learner, points: Any, labels: Any) -> OneVersusRest:
    """Learn each class against all others.

    Parameters
    ----------
    learner
        A function of points and truth values that returns anything with `activation(points)`, such as
        `fit_least_squares` or `fit_maximum_margin`.
    points
        (point, coordinate), or (point,) on a line.
    labels
        The class of each point, of any type; at least two.

    Returns
    -------
    OneVersusRest

    Examples
    --------
    >>> points, labels = [[0, 0], [1, 0], [5, 0], [6, 0], [0, 5], [0, 6]], list("aabbcc")
    >>> from juncture.supervised import fit_least_squares
    >>> fit_one_versus_rest(fit_least_squares, points, labels).predict([[0, 1], [9, 1], [1, 9]]).tolist()
    ['a', 'b', 'c']
    """
    learn, places, names, classes, codes = read_classes(learner, points, labels)
    parts = [check_discriminant(learn(places, codes == code)) for code in range(len(classes))]
    return OneVersusRest(classes, parts)._named(names)


def fit_all_pairs(learner: Learner, points: Any, labels: Any) -> AllPairs:
    """Learn each pair of classes, c (c - 1) / 2 of them, from their points alone.

    Parameters
    ----------
    learner, points, labels
        As in `fit_one_versus_rest`.

    Returns
    -------
    AllPairs

    Examples
    --------
    >>> points, labels = [[0, 0], [1, 0], [5, 0], [6, 0], [0, 5], [0, 6]], list("aabbcc")
    >>> from juncture.supervised import fit_maximum_margin
    >>> pairs = fit_all_pairs(fit_maximum_margin, points, labels)
    >>> len(pairs.discriminants), pairs.wins([[9, 1]]).tolist(), pairs.predict([[9, 1]]).tolist()
    (3, [[1, 2, 0]], ['b'])
    """
    learn, places, names, classes, codes = read_classes(learner, points, labels)
    parts = []
    for one, other in combinations(range(len(classes)), 2):
        chosen = (codes == one) | (codes == other)
        parts.append(check_discriminant(learn(places[chosen], codes[chosen] == other)))
    return AllPairs(classes, parts)._named(names)


def read_classes(
    learner: Any, points: Any, labels: Any
) -> tuple[Learner, np.ndarray, Names | None, np.ndarray, np.ndarray]:
    """The learner, the points with the names of their coordinates, the classes, and the code of each point's."""
    learn, (places, names) = check_function(learner, "learner"), read_points(points)
    try:
        classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    except (TypeError, ValueError):
        raise InvalidData("labels are one class a point, all of one type: numbers, or texts") from None
    if codes.shape != (len(places),) or len(classes) < 2:
        raise InvalidData(
            f"labels are one class a point, {len(places)} here, of at least two classes; got the shape {codes.shape}"
            f" and {len(classes)}"
        )
    return learn, places, names, classes, codes


def check_discriminant(found: Any) -> Any:
    if not callable(getattr(found, "activation", None)):
        raise InvalidData(f"a learner returns something with a method activation(points); got {type(found).__name__}")
    return found


class OrderedClassifier(BinaryDiscriminants):
    """A discriminant between each class and the next.

    Attributes
    ----------
    classes
        The labels in their order.
    discriminants
        One for each class but the last: positive for points of higher classes.
    """

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        return num_classes - 1

    def ranks(self, points: Any) -> np.ndarray:
        """(point,): how many boundaries a point lies above; 0 is the lowest class."""
        return np.asarray((self.activations(points) > 0).sum(axis=1))

    def predict(self, points: Any) -> np.ndarray:
        """(point,): the class of each rank."""
        return decode_classes(self.classes, self.ranks(points))


def fit_ordered(learner: Learner, points: Any, labels: Any, order: Any = None) -> OrderedClassifier:
    """Learn classes that have an order, such as low, middle and high, by the method of Frank and Hall.

    Parameters
    ----------
    learner, points, labels
        As in `fit_one_versus_rest`.
    order
        The classes from the lowest to the highest; by default sorted.

    Returns
    -------
    OrderedClassifier

    Examples
    --------
    >>> from juncture.supervised import fit_maximum_margin
    >>> sizes, labels = [1.0, 2.0, 4.0, 5.0, 8.0, 9.0], ["low", "low", "middle", "middle", "high", "high"]
    >>> found = fit_ordered(fit_maximum_margin, sizes, labels, ["low", "middle", "high"])
    >>> found.predict([0.0, 4.2, 20.0]).tolist()
    ['low', 'middle', 'high']
    """
    learn, places, names, classes, codes = read_classes(learner, points, labels)
    if order is not None:
        ranks = read_order(order, classes.tolist())
        codes, classes = ranks[codes], classes[np.argsort(ranks)]
    parts = [check_discriminant(learn(places, codes > code)) for code in range(len(classes) - 1)]
    return OrderedClassifier(classes, parts)._named(names)


def read_order(order: Any, classes: list[Any]) -> np.ndarray:
    """The rank of each of the sorted classes."""
    listed = check_iterable(order, "order")
    try:
        ranks = {label: rank for rank, label in enumerate(listed)}
    except TypeError:
        raise InvalidData("order is a list of classes, each a number or a text") from None
    for label in classes:
        if label not in ranks:
            raise InvalidData(f"order leaves out the class {label!r}, which some point has; {hint(label, listed)}")
    if len(listed) != len(classes):
        raise InvalidData(f"order names each class of the points once; got {len(listed)} for {len(classes)} classes")
    return np.array([ranks[label] for label in classes])
