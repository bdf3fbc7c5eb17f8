"""`Discretizer` finds cut points of real-valued columns; `FittedDiscretizer` replaces numbers by intervals.

Cuts lie at equal distances (`width`), or so that each bin has about equal weight (`frequency`), or where they have
the largest information gain about a class, accepted by description length (`entropy`; Fayyad and Irani, 1993).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from juncture.base.checks import check_count, check_iterable, check_kind, check_mapping
from juncture.base.documents.json_text import parse_strictly
from juncture.base.intervals import Cuts, as_cuts, as_number, round_between, round_to_width
from juncture.base.values import Value, few
from juncture.data.column_kinds import LARGEST, are_states, may_be_cut, summarize
from juncture.data.dataset import Dataset, as_table
from juncture.data.tables.columns import Column, DescribeRow, Levels
from juncture.data.tables.table import Table
from juncture.errors import FormatError, InvalidData, hint
from juncture.variables import Scope, Variable

Strategy: TypeAlias = Literal["width", "frequency", "entropy"]
MAX_BINS = 10**6
SHOWN = 12  # cuts of a column, in one line


class Discretizer(Value):
    """Discretization of real-valued columns; `fit` finds the cut points.

    Parameters
    ----------
    bins
        The largest number of intervals of a column.
    strategy
        "frequency" for intervals that hold equally many rows, "width" for intervals of equal width, or "entropy" for
        cuts that give most information about the class of a target (Fayyad and Irani 1993).

    Examples
    --------
    >>> Discretizer(bins=2).fit({"age": [23.0, 27.0, 32.0, 34.0]})
    FittedDiscretizer({'age': (29.5,)})
    """

    bins: int
    strategy: Strategy

    def __init__(self, bins: int = 5, strategy: Strategy = "frequency") -> None:
        check_count(bins, "bins", least=2)
        if bins > MAX_BINS:
            raise InvalidData(f"bins must be at most {MAX_BINS:,}, since each is a state; got {bins:,}")
        if not isinstance(strategy, str) or strategy not in STRATEGIES:
            raise InvalidData(f"there is no strategy {strategy!r}; {hint(strategy, STRATEGIES)}")
        self._set(bins=int(bins), strategy=strategy)

    def __repr__(self) -> str:
        return f"Discretizer(bins={self.bins}, strategy={self.strategy!r})"

    def fit(self, data: Any, target: Any = None, columns: Iterable[str] | None = None) -> FittedDiscretizer:
        """Find the cut points of columns.

        Parameters
        ----------
        data
            What `Dataset` takes.
        target
            The name of the column of classes, or one class per row; the target is not discretized.
        columns
            The columns to discretize; by default all columns of numbers, except those of at most `bins` different
            whole numbers, which are states as they are, whether they are held as integers or as floats.

        Returns
        -------
        FittedDiscretizer
        """
        if self.strategy == "entropy" and target is None:
            raise InvalidData(
                'the strategy "entropy" needs a target: the name of the column of classes, or the classes'
            )
        dataset = data if isinstance(data, Dataset) else Dataset._of_numbers(data)
        classes = None if target is None else class_codes(dataset, target)
        names = numeric_names(dataset, target) if columns is None else check_iterable(columns, "columns")
        reals = Dataset(dataset.only(names), [Variable(name) for name in names])
        found = {} if columns is not None else summarize(reals)
        states = {name for name, summary in found.items() if are_states(summary, self.bins)}
        cuts = {name: self._cuts(reals, name, classes) for name in names if name not in states}
        return FittedDiscretizer(cuts, [name for name in names if name in states and dataset.variable(name).is_real])

    def _cuts(self, reals: Dataset, name: str, classes: np.ndarray | None) -> Cuts:
        column = count_values(reals.columns[name], classes if self.strategy == "entropy" else None, reals.weights)
        if not len(column.values):
            known = " with a known class" if self.strategy == "entropy" else ""
            raise InvalidData(f"column {name!r} has no observed number{known} to cut by; leave it out of `columns`")
        return STRATEGIES[self.strategy](column, self.bins)


class FittedDiscretizer(Value):
    """The cut points of each column: `transform` replaces each number by its interval and keeps missing values.

    The variables of these columns keep the cuts: a network that is learned from the rows takes numbers as evidence.

    Parameters
    ----------
    cuts
        The cut points by column, each greater than the last. A number that is a cut lies in the interval above it.
    whole
        Columns of whole numbers held as floats, which are states as they are.

    Examples
    --------
    >>> fitted = FittedDiscretizer({"age": [29.5, 34.5]})
    >>> fitted.transform({"age": [23, 29.5, 90, None], "sick": ["no", "no", "yes", "no"]}).to_dict()["age"]
    ['< 29.5', '29.5 – 34.5', '≥ 34.5', None]
    """

    cuts: dict[str, Cuts]
    whole: tuple[str, ...]

    def __init__(self, cuts: Mapping[str, Sequence[float]], whole: Iterable[str] = ()) -> None:
        for name in check_mapping(cuts, "the cuts"):
            if not isinstance(name, str) or not name:
                raise InvalidData(f"cuts are given by the name of a column, non-empty text; got {name!r}")
        names = (check_kind(name, str, "a column of whole numbers") for name in check_iterable(whole, "whole"))
        self._set(cuts={name: as_cuts(given, name, InvalidData) for name, given in cuts.items()}, whole=tuple(names))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the discretised columns, with the intervals as states."""
        return tuple(Variable(name, cuts=cuts) for name, cuts in self.cuts.items())

    def transform(self, data: Any, variables: Iterable[Variable] | None = None) -> Dataset:
        """The same rows with intervals for numbers; other columns are as in `Dataset(data, variables)`.

        Columns that `data` does not have are left out.
        """
        table = as_table(data)
        cut = [variable for variable in self.variables if variable.name in table.cells]
        intervals = Dataset(table.only(variable.name for variable in cut), cut)
        declared = None if variables is None else Scope(variables)
        others = None if declared is None else [variable for variable in declared if variable.name not in self.cuts]
        rest = Dataset(self._whole_numbers(table.only(name for name in table.cells if name not in self.cuts)), others)
        found = as_table(intervals).cells | as_table(rest).cells
        weights = data.weights if isinstance(data, Dataset) else None
        return Dataset({name: found[name] for name in table.cells}, weights=weights)

    def _whole_numbers(self, table: Table) -> Table:
        """The table with integers in the columns of whole numbers."""
        names = [name for name in self.whole if name in table.cells]
        cells = {name: as_integers(table.column(name), name, table.describe_row) for name in names}
        return Table(table.cells | cells, table.num_rows, table.files)

    def to_dict(self) -> dict[str, Any]:
        whole = {"whole": list(self.whole)} if self.whole else {}
        return {"cuts": {name: list(cuts) for name, cuts in self.cuts.items()}, **whole}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> FittedDiscretizer:
        known = isinstance(saved, Mapping) and set(saved) in ({"cuts"}, {"cuts", "whole"})
        if not known or not isinstance(saved["cuts"], Mapping):
            got = sorted(map(str, saved)) if isinstance(saved, Mapping) else type(saved).__name__
            raise InvalidData(f"a saved discretizer has one entry, 'cuts', by column, and perhaps 'whole'; got {got}")
        return cls(saved["cuts"], saved.get("whole", ()))

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> FittedDiscretizer:
        """The discretizer that `to_json` wrote; a `FormatError` says what is wrong with any other text."""
        check_kind(text, (str, bytes), "the JSON of a discretizer")
        saved = parse_strictly(text, "saved discretizers")
        try:
            return cls.from_dict(saved)
        except InvalidData as error:
            raise FormatError(str(error)) from error

    def __repr__(self) -> str:
        columns = (
            f"{name!r}: {cuts if len(cuts) <= SHOWN else f'{len(cuts)} cuts'}" for name, cuts in self.cuts.items()
        )
        return f"FittedDiscretizer({{{few(columns)}}}{f', whole=[{few(map(repr, self.whole))}]' if self.whole else ''})"


def as_integers(column: Column, name: str, describe: DescribeRow) -> Levels:
    """The column with integers for numbers of any type, all of which must be whole."""
    levels = column.levels
    return Levels(levels.codes, [as_integer(levels, code, name, describe) for code in range(len(levels.labels))])


def as_integer(levels: Levels, code: int, name: str, describe: DescribeRow) -> int:
    label = levels.labels[code]
    try:
        number = as_number(label)
    except (TypeError, ValueError, OverflowError):
        number = np.inf
    if not (number == np.floor(number) and abs(number) <= LARGEST):
        where = describe(int(np.argmax(levels.codes == code)))
        raise InvalidData(f"column {name!r} held whole numbers only when its states were found; {where} has {label!r}")
    return int(number)


def class_codes(dataset: Dataset, target: Any) -> np.ndarray:
    """The class of each row, -1 where it is not known."""
    classes = dataset if isinstance(target, str) else Dataset({"target": target})
    name = target if isinstance(target, str) else "target"
    if classes.variable(name).is_real:
        raise InvalidData(f"the target {name!r} is real-valued; classes are text, integers or booleans: cut it first")
    if len(classes) != len(dataset):
        raise InvalidData(f"the target has {len(classes)} classes for {len(dataset)} rows; it must have one for each")
    return classes.columns[name]


def numeric_names(dataset: Dataset, target: Any) -> list[str]:
    """The columns of numbers, other than the target: real-valued, or with integers as states that no one declared."""
    return [
        name
        for name, summary in summarize(dataset).items()
        if not (isinstance(target, str) and name == target) and may_be_cut(summary)
    ]


SLACK = 1 / 200  # of a bin: so much may change sides for a shorter cut


class ValueCounts(NamedTuple):
    """The distinct values of a column in order, and the weight of each value in each class of a target."""

    values: np.ndarray  # (value,)
    weights: np.ndarray  # (value, class); a single class without a target

    def cut(self, index: int) -> float:
        """A cut of few digits near the middle between the values before `index` and from it on."""
        return round_between(float(self.values[index - 1]), float(self.values[index]))

    def part(self, start: int, stop: int) -> ValueCounts:
        return ValueCounts(self.values[start:stop], self.weights[start:stop])


def count_values(values: np.ndarray, classes: np.ndarray | None, weights: np.ndarray | None) -> ValueCounts:
    """The rows that have a value, a class and a positive weight."""
    classes = np.zeros(len(values), np.int64) if classes is None else classes
    weights = np.ones(len(values)) if weights is None else weights
    rows = ~np.isnan(values) & (classes >= 0) & (weights > 0)
    distinct, value_of = np.unique(values[rows], return_inverse=True)
    table = np.zeros((len(distinct), int(classes.max(initial=0)) + 1))
    np.add.at(table, (value_of, classes[rows]), weights[rows])
    return ValueCounts(distinct, table)


def width_cuts(column: ValueCounts, bins: int) -> Cuts:
    """Cuts at equal distances between the least and the greatest value, rounded to a hundredth of the distance."""
    low, high = column.values[0], column.values[-1]
    shares = np.arange(1, bins) / bins
    width = float(high / bins - low / bins)
    cuts = np.array([round_to_width(cut, width) for cut in (low * (1 - shares) + high * shares).tolist()])
    return tuple(np.unique(cuts[(cuts > low) & (cuts <= high)]).tolist())


def frequency_cuts(column: ValueCounts, bins: int) -> Cuts:
    """Cuts between values, each as near as it gets to its share k/bins of the weight: no bin is empty.

    For a shorter cut, up to a two-hundredth of a bin may change sides.
    """
    if len(column.values) <= bins:
        return tuple(column.cut(index) for index in range(1, len(column.values)))
    below = np.cumsum(column.weights.sum(axis=1))
    shares = below[-1] * np.arange(1, bins) / bins
    after = np.searchsorted(below[:-1], shares).clip(max=len(below) - 2)
    before = (after - 1).clip(min=0)
    nearest = np.unique(np.where(shares - below[before] <= below[after] - shares, before, after))
    slack = below[-1] / bins * SLACK
    first = np.searchsorted(below, below[nearest] - slack)
    last = np.searchsorted(below, below[nearest] + slack, side="right").clip(max=len(below) - 1)
    values = column.values
    cuts = np.array(list(map(round_between, values[nearest], values[nearest + 1], values[first], values[last])))
    _, kept = np.unique(np.searchsorted(values, cuts), return_index=True)  # one cut between two values
    return tuple(cuts[kept].tolist())


class Split(NamedTuple):
    """A part of a column, from `start` to `stop`, cut at index `cut`, which saves `bits` on the classes of its rows."""

    bits: float
    start: int
    cut: int
    stop: int


def entropy_cuts(column: ValueCounts, bins: int) -> Cuts:
    """The cut with the largest gain, again and again within the parts, until no cut is worth its description."""
    indices: list[int] = []
    open_splits = find_splits(column, 0, len(column.values))
    while open_splits and len(indices) < bins - 1:
        best = max(open_splits)
        indices.append(best.cut)
        open_splits.remove(best)
        open_splits += find_splits(column, best.start, best.cut) + find_splits(column, best.cut, best.stop)
    return tuple(column.cut(index) for index in sorted(indices))


def find_splits(column: ValueCounts, start: int, stop: int) -> list[Split]:
    """The best split of a part, if it is worth its description; else none."""
    part = column.part(start, stop)
    indices = candidate_cuts(part)
    if not len(indices):
        return []
    gains = information_gains(part, indices)
    best = int(np.argmax(gains.round(12)))  # of equals the first, whatever the last bits say
    if not is_worth_its_description(part, int(indices[best]), float(gains[best])):
        return []
    return [Split(float(gains[best] * part.weights.sum()), start, start + int(indices[best]), stop)]


def candidate_cuts(part: ValueCounts) -> np.ndarray:
    """The indices between neighbouring values that are not both of the same class; the best cut is among them.

    >>> ages = ValueCounts(np.array([23, 27, 32, 34, 35, 38.0]), np.array([[1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1.0]]).T)
    >>> [ages.cut(index) for index in candidate_cuts(ages)]
    [29.5, 34.5, 36.5]
    >>> information_gains(ages, candidate_cuts(ages)).round(6).tolist()
    [0.459148, 0.0, 0.190875]
    """
    classes = (part.weights[:-1] + part.weights[1:] > 0).sum(axis=1)
    return np.flatnonzero(classes > 1) + 1


def information_gains(part: ValueCounts, indices: np.ndarray) -> np.ndarray:
    """For each index, the information gain of the cut about the class, in bits: H(S) − Σ |side|/|S| · H(side)."""
    below = np.cumsum(part.weights, axis=0)
    total = below[-1]
    left = below[indices - 1]
    right = np.maximum(total - left, 0.0)
    share = left.sum(axis=1) / total.sum()
    return entropy(total) - share * entropy(left) - (1 - share) * entropy(right)


def entropy(weights: np.ndarray) -> np.ndarray:
    """In bits, of the classes along the last axis."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1))


def is_worth_its_description(part: ValueCounts, index: int, gain: float) -> bool:
    """The minimum description length criterion: gain > (log₂(N − 1) + log₂(3^k − 2) − k H(S) + Σ k_side H(side)) / N.

    N is the weight of all rows, and k the number of classes there are.
    """
    total = float(part.weights.sum())
    whole, left, right = (weights.sum(axis=0) for weights in (part.weights, part.weights[:index], part.weights[index:]))
    classes = int((whole > 0).sum())
    tree = classes * math.log2(3) + math.log2(1 - 2 * 3.0**-classes)  # log₂(3^k − 2) for any k
    change = tree - description_length(whole) + description_length(left) + description_length(right)
    return gain * total > math.log2(max(total - 1, 1)) + change  # weights may be less than one row


def description_length(weights: np.ndarray) -> float:
    return float((weights > 0).sum() * entropy(weights))


STRATEGIES: Mapping[str, Callable[[ValueCounts, int], Cuts]] = {
    "width": width_cuts,
    "frequency": frequency_cuts,
    "entropy": entropy_cuts,
}
