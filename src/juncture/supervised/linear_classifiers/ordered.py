"""Classes in an order, by binary learners: for each class but the last, whether a point lies above it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_iterable
from juncture.errors import InvalidData, hint
from juncture.supervised.linear_classifiers.multiclass import (
    BinaryDiscriminants,
    Learner,
    check_discriminant,
    read_classes,
)
from juncture.supervised.regression.classes import decode_classes


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
