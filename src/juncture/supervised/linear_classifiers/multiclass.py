"""Many classes by binary learners: one against the rest, all pairs, and classes in an order.

Classes in an order have a discriminant for each class but the last: whether a point lies above it (Frank and Hall).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from juncture import verbs
from juncture.base.checks import check_function, check_iterable
from juncture.base.options import Options, as_seed
from juncture.base.values import few
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.learning.fit import Fit
from juncture.numerics.iteration import Trace
from juncture.supervised.linear_classifiers.decision_function import DecisionFit, DecisionFunction, check_points
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin
from juncture.supervised.model import read_training
from juncture.supervised.regression.inputs_and_targets import (
    check_classes,
    decode_classes,
    read_classes,
    read_weights,
)
from juncture.variables import State, as_plain


class BinaryDiscriminants(DecisionFunction):
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

    @staticmethod
    def divide(codes: np.ndarray, num_classes: int) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        """For each discriminant the rows that it is learned from, and which of them are of its second group."""
        raise NotImplementedError

    @property
    def num_parameters(self) -> int:
        """Those of all discriminants."""
        others = [part for part in self.discriminants if not isinstance(part, DecisionFunction)]
        if others:
            raise Unsupported(f"a discriminant of the class {type(others[0]).__name__} does not say its parameters")
        return sum(part.num_parameters for part in self.discriminants)

    @property
    def num_columns(self) -> int | None:
        """The number of coordinates; None where the discriminants do not say it."""
        return getattr(self.discriminants[0], "num_columns", None)

    def activations(self, X: Any) -> np.ndarray:
        """(point, discriminant): the activation of each discriminant."""
        return self._activations(check_points(X, self.feature_names))

    def _activations(self, places: np.ndarray) -> np.ndarray:
        return np.stack([part.activation(places) for part in self.discriminants], axis=1)

    def _predict(self, X: Any) -> np.ndarray:
        return decode_classes(self.classes, self._codes(self.activations(X)))

    def _codes(self, activations: np.ndarray) -> np.ndarray:
        """(point,): the position of the class that the discriminants decide for."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}([{few(map(repr, self.classes), most=6)}])"


class OneVersusRest(BinaryDiscriminants):
    """A discriminant a class; the class is that of the largest activation.

    `jt.fit(jt.supervised.OneVersusRest, X, y)` learns one, with the options of `MulticlassOptions`.

    Attributes
    ----------
    classes
        The labels; sorted, unless an order was given.
    discriminants
        One a class: positive for its points.

    Examples
    --------
    >>> import juncture as jt
    >>> points, labels = [[0, 0], [1, 0], [5, 0], [6, 0], [0, 5], [0, 6]], list("aabbcc")
    >>> found = jt.fit(OneVersusRest, points, labels, binary=jt.supervised.Hyperplane, method="least-squares")
    >>> found.model.predict([[0, 1], [9, 1], [1, 9]]).tolist()
    ['a', 'b', 'c']
    """

    kind: ClassVar[str] = "classifier of each class against the rest"

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        return num_classes

    @staticmethod
    def divide(codes: np.ndarray, num_classes: int) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        return ((slice(None), codes == code) for code in range(num_classes))

    def predict(self, X: Any) -> np.ndarray:
        """(point,): the class of the largest activation; of equal ones the first."""
        return self._predict(X)

    def _codes(self, activations: np.ndarray) -> np.ndarray:
        return np.asarray(activations.argmax(axis=1))


class AllPairs(BinaryDiscriminants):
    """A discriminant for each pair of classes; the class is that with the most wins.

    `jt.fit(jt.supervised.AllPairs, X, y)` learns one from the points of each pair alone, with the options of
    `MulticlassOptions`.

    Attributes
    ----------
    classes
        The labels; sorted, unless an order was given.
    discriminants
        One a pair, in the order of `itertools.combinations`: positive for the second class of the pair.

    Examples
    --------
    >>> import juncture as jt
    >>> points, labels = [[0, 0], [1, 0], [5, 0], [6, 0], [0, 5], [0, 6]], list("aabbcc")
    >>> pairs = jt.fit(AllPairs, points, labels, binary=jt.supervised.MaximumMargin).model
    >>> len(pairs.discriminants), pairs.wins([[9, 1]]).tolist(), pairs.predict([[9, 1]]).tolist()
    (3, [[1, 2, 0]], ['b'])
    """

    kind: ClassVar[str] = "classifier of all pairs of classes"

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        return num_classes * (num_classes - 1) // 2

    @staticmethod
    def divide(codes: np.ndarray, num_classes: int) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        for one, other in combinations(range(num_classes), 2):
            chosen = np.flatnonzero((codes == one) | (codes == other))
            yield chosen, codes[chosen] == other

    def wins(self, X: Any) -> np.ndarray:
        """(point, class): how many of its pairs each class wins."""
        return self._wins(self.activations(X))

    def predict(self, X: Any) -> np.ndarray:
        """(point,): the class of most wins; of equals, that of the largest sum of activations of its pairs."""
        return self._predict(X)

    def _codes(self, activations: np.ndarray) -> np.ndarray:
        wins, sums = self._wins(activations), np.zeros((len(activations), len(self.classes)))
        for place, (one, other) in enumerate(combinations(range(len(self.classes)), 2)):
            sums[:, one] -= activations[:, place]
            sums[:, other] += activations[:, place]
        is_best = wins == wins.max(axis=1, keepdims=True)
        return np.asarray(np.where(is_best, sums, -np.inf).argmax(axis=1))

    def _wins(self, activations: np.ndarray) -> np.ndarray:
        wins = np.zeros((len(activations), len(self.classes)), dtype=np.int64)
        for place, (one, other) in enumerate(combinations(range(len(self.classes)), 2)):
            second = activations[:, place] > 0
            wins[:, one] += ~second
            wins[:, other] += second
        return wins


class OrderedClassifier(BinaryDiscriminants):
    """Classes in an order, such as low, middle and high: a discriminant between each and the next (Frank and Hall).

    `jt.fit(jt.supervised.OrderedClassifier, X, y, classes=["low", "middle", "high"])` learns one, with the options of
    `MulticlassOptions`.

    Attributes
    ----------
    classes
        The labels in their order.
    discriminants
        One for each class but the last: positive for points of higher classes.

    Examples
    --------
    >>> import juncture as jt
    >>> sizes, labels = [1.0, 2.0, 4.0, 5.0, 8.0, 9.0], ["low", "low", "middle", "middle", "high", "high"]
    >>> order = ["low", "middle", "high"]
    >>> found = jt.fit(OrderedClassifier, sizes, labels, binary=jt.supervised.MaximumMargin, classes=order)
    >>> found.model.predict([0.0, 4.2, 20.0]).tolist()
    ['low', 'middle', 'high']
    """

    kind: ClassVar[str] = "classifier of ordered classes"

    @staticmethod
    def _num_discriminants(num_classes: int) -> int:
        return num_classes - 1

    @staticmethod
    def divide(codes: np.ndarray, num_classes: int) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        return ((slice(None), codes > code) for code in range(num_classes - 1))

    def ranks(self, X: Any) -> np.ndarray:
        """(point,): how many boundaries a point lies above; 0 is the lowest class."""
        return self._codes(self.activations(X))

    def predict(self, X: Any) -> np.ndarray:
        """(point,): the class of each rank."""
        return self._predict(X)

    def _codes(self, activations: np.ndarray) -> np.ndarray:
        return np.asarray((activations > 0).sum(axis=1))


def check_discriminant(found: Any) -> Any:
    if not callable(getattr(found, "activation", None)):
        raise InvalidData(
            "a discriminant has a method activation(X), and a function that learns one returns it, or a fit with it;"
            f" got {type(found).__name__}"
        )
    return found


@dataclass(frozen=True)
class MulticlassOptions(Options):
    """How a classifier of many classes is learned, by binary classifiers.

    Parameters
    ----------
    binary
        A class of binary classifiers, `jt.supervised.Hyperplane` or `MaximumMargin`; or a function of X and truth
        values y that returns what it has learned, a `Fit` or anything with `activation(X)`, such as
        `lambda X, y: jt.fit(jt.supervised.MaximumMargin, X, y, cost=1.0)`.
    method
        How the binary classifiers are learned: a method of their class.
    classes
        The classes, in their order from the lowest to the highest where they have one; by default those of y, sorted.
    """

    binary: Any = Hyperplane
    method: Any = "auto"
    classes: Any = None

    def __post_init__(self) -> None:
        if self.binary is Hyperplane or self.binary is MaximumMargin:
            return
        if isinstance(self.binary, type):
            raise Unsupported(
                "binary is jt.supervised.Hyperplane or jt.supervised.MaximumMargin, or a function of X and y; got the"
                f" class {self.binary.__name__}"
            )
        check_function(self.binary, "binary")
        if not (isinstance(self.method, str) and self.method == "auto"):
            raise Unsupported("method is that of a class of binary classifiers; a function says itself how it learns")

    def learn(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None, seed: int | None) -> Any:
        """What is learned of some of the rows: a fit, or a discriminant."""
        if isinstance(self.binary, type):
            kind: Any = self.binary
            return verbs.fit(kind, X, y, weights=weights, rng=seed, method=self.method)
        if weights is not None:
            raise Unsupported("a function that learns binary classifiers takes no weights: leave them out")
        return self.binary(X, y)


def fit_discriminants(
    model: BinaryDiscriminants | type[BinaryDiscriminants],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    rng: Any = None,
    options: MulticlassOptions,
) -> DecisionFit:
    """The discriminants of all groups of classes; of a model that is given the classes stay."""
    kind = model if isinstance(model, type) else type(model)
    read = read_training(model, data, y, weights)
    places = check_points(read.inputs)
    known = options.classes if isinstance(model, type) or options.classes is not None else model.classes
    classes, codes = read_classes(read.targets, len(places), known)
    given = read.inputs.given_weights is not None
    heavy = read_weights(read.inputs.weights(len(places)), len(places)) if given else None
    seed = as_seed(rng)
    found = [
        options.learn(places[rows], is_second, None if heavy is None else heavy[rows], seed)
        for rows, is_second in kind.divide(codes, len(classes))
    ]
    parts = [each.model if isinstance(each, Fit) else each for each in found]
    learned = kind(classes, parts)._with_names(read.names, read.target_name)
    fits = [each for each in found if isinstance(each, Fit)]
    is_drawn = any(each.seed is not None for each in fits)
    wrong = learned._codes(learned._activations(places)) != codes
    error = float(np.average(wrong, weights=heavy))
    is_done = all(each.trace.converged for each in fits)
    reason = "all discriminants are learned" if is_done else "some discriminant has not converged"
    return DecisionFit(learned, Trace((error,), is_done, reason), error, seed if is_drawn else None)
