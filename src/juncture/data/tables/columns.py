"""One column before and after a variable gives it a meaning: `NumericColumn`, `Levels`, `DatasetColumn`.

A column knows three things: how it is coded by a given variable (`coded`), which variable it declares by itself when
none is given (`declared`), and what is left of it when some cells only mark holes (`without`). A column that comes in
several parts, as the files of a table give them, is one after `concatenate_columns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, singledispatch
from typing import Any, Literal, TypeAlias

import numpy as np

from juncture.base.intervals import as_number, is_number_text
from juncture.base.values import Value
from juncture.data.column_kinds import HOLE_TEXTS, Summary, is_real
from juncture.data.tables.distinct import MANY, distinct_numbers
from juncture.data.tables.labels import check_label, sorting_key
from juncture.errors import InvalidData, UnknownState
from juncture.variables import State, Variable, state_key

HOLE = -1
ColumnKind: TypeAlias = Literal["real", "states"]
"""What somebody says that a column is."""
DescribeRow: TypeAlias = Callable[[int], str]
"""How a message names a row."""


def describe_row(row: int) -> str:
    return f"row {row}"


class NumericColumn(Value):
    """Numbers in an array: (row,) of booleans, integers or floats, or (row, dimension); NaN is a hole."""

    values: np.ndarray
    is_declared = False

    def __init__(self, values: np.ndarray) -> None:
        self._set(values=values)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def levels(self) -> Levels:
        """The same column by its distinct values."""
        if len(self) < MANY:
            labels, codes = np.unique(self.values, return_inverse=True)
        else:
            codes, firsts = distinct_numbers(self.values)
            labels = self.values[firsts]
        return Levels(codes, labels.tolist()).where(lambda label: label == label)  # noqa: PLR0124

    def without(self, markers: Variable) -> Column:
        if self.values.dtype.kind != "f":
            return self.levels.without(markers)
        marked = [number for number in numeric_labels(markers) if markers.find(number) is not None]
        return NumericColumn(np.where(np.isin(self.values, marked), np.nan, self.values))

    def encode(self, variable: Variable, describe: DescribeRow = describe_row) -> np.ndarray:
        if variable.is_real:
            return as_reals(self.values, variable, describe)
        if self.values.ndim > 1:
            raise InvalidData(f"column {variable.name!r} holds vectors; a variable with states takes one state per row")
        if self._is_coded_for(variable):
            return self.values.astype(code_type(variable.num_states))
        if variable.cuts is not None and self.values.dtype.kind != "b":
            return as_intervals(self.values, variable, describe)
        return self.levels.encode(variable, describe)

    def _is_coded_for(self, variable: Variable) -> bool:
        """Whether the values are the codes already: integers 0 to n-1, all of them states."""
        if self.values.dtype.kind not in "iu" or not counts_from_zero(variable):
            return False
        return len(self) == 0 or (self.values.min() >= 0 and self.values.max() < variable.num_states)

    def declare_variable(self, name: str, kind: ColumnKind | None = None) -> Variable:
        if kind != "states" and (self.values.dtype.kind == "f" or kind == "real"):
            return Variable(name, dimension=1 if self.values.ndim == 1 else self.values.shape[1])
        if self.values.ndim > 1:
            raise InvalidData(f"column {name!r} holds vectors, which are no states")
        return self.levels.declare_variable(name, kind)


class Levels(Value):
    """Positions in a list of distinct labels, -1 for a hole; `is_declared` when the list says more than the rows."""

    codes: np.ndarray
    labels: tuple[object, ...]
    is_declared: bool
    is_of_file = False  # whether the labels are texts of a file, which may say numbers

    def __init__(self, codes: np.ndarray, labels: Iterable[object], *, is_declared: bool = False) -> None:
        self._set(codes=codes, labels=tuple(labels), is_declared=is_declared)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def levels(self) -> Levels:
        return self

    @property
    def num_holes(self) -> int:
        return int(np.count_nonzero(self.codes < 0))

    def where(self, is_kept: Callable[[Any], bool]) -> Levels:
        """The same column with holes for the labels that are not kept."""
        kept = np.array([is_kept(label) for label in self.labels], dtype=bool)
        if kept.all():
            return self
        positions = np.append(np.where(kept, np.cumsum(kept) - 1, HOLE), HOLE).astype(np.int32)
        labels = (label for label, stays in zip(self.labels, kept, strict=True) if stays)
        return type(self)(positions[self.codes], labels, is_declared=self.is_declared)

    def without(self, markers: Variable) -> Levels:
        return self.where(lambda label: markers.find(label) is None)

    def encode(self, variable: Variable, describe: DescribeRow = describe_row) -> np.ndarray:
        """Each distinct label is looked up once; labels that no row has are not looked up at all."""
        if variable.is_real:
            return as_reals(self._look_up(self._number, variable, describe, np.array(np.nan)), variable, describe)
        return self._look_up(self._code, variable, describe, np.array(HOLE, dtype=code_type(variable.num_states)))

    def _look_up(
        self,
        look_up: Callable[[int, Variable, DescribeRow], float],
        variable: Variable,
        describe: DescribeRow,
        hole: np.ndarray,
    ) -> np.ndarray:
        found = np.full(len(self.labels) + 1, hole)  # the last entry serves the code -1 of holes
        for position in self._used():
            found[position] = look_up(position, variable, describe)
        return found[self.codes]

    def _used(self) -> list[int]:
        counts = np.bincount(self.codes.astype(np.int64) + 1, minlength=len(self.labels) + 1)
        return np.flatnonzero(counts[1:]).tolist()

    def _code(self, position: int, variable: Variable, describe: DescribeRow) -> int:
        label = self.labels[position]
        code = variable.find(label)
        if code is None:
            unknown = variable.unknown_state(label, f" in {describe(self._first_row(position))}")
            raise UnknownState(f"{unknown}{advise_reading(label)}")
        return code

    def _number(self, position: int, variable: Variable, describe: DescribeRow) -> float:
        try:
            return as_number(self.labels[position])
        except OverflowError:  # an integer that no float holds
            return np.inf
        except (TypeError, ValueError):
            raise InvalidData(
                f"variable {variable.name!r} is real-valued; {self.labels[position]!r}"
                f" in {describe(self._first_row(position))} is not a number{advise_reading(self.labels[position])}"
            ) from None

    def _first_row(self, position: int) -> int:
        return int(np.argmax(self.codes == position))

    def declare_variable(self, name: str, kind: ColumnKind | None = None) -> Variable:
        """Real or with the labels as states, sorted unless declared; as `is_real` says where no `kind` is asked for."""
        if kind == "real":
            return Variable(name)
        labels = {state_key(label): check_label(label, name) for label in self.labels}
        if not labels:
            raise InvalidData(
                f"column {name!r} has no observed value to take states from; leave it out, or declare it in `variables`"
            )
        if self.is_declared:
            return Variable(name, labels.values())
        if kind is None and is_real(Summary(tuple(labels.values()))):
            return Variable(name)
        return Variable(name, sorted(as_whole(labels.values()), key=sorting_key))


class DatasetColumn(Value):
    """A column of a dataset: the values are coded by a variable already, and shared as long as it stays the same."""

    variable: Variable
    values: np.ndarray
    is_declared: bool

    def __init__(self, variable: Variable, values: np.ndarray, *, is_declared: bool) -> None:
        self._set(variable=variable, values=values, is_declared=is_declared)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def raw(self) -> NumericColumn | Levels:
        variable = self.variable
        return (
            NumericColumn(self.values) if variable.is_real else Levels(self.values, variable.labels, is_declared=True)
        )

    @property
    def levels(self) -> Levels:
        return self.raw.levels

    def without(self, markers: Variable) -> Column:
        return self.raw.without(markers)

    def encode(self, variable: Variable, describe: DescribeRow = describe_row) -> np.ndarray:
        return self.values if variable == self.variable else self.raw.encode(variable, describe)

    def declare_variable(self, name: str, kind: ColumnKind | None = None) -> Variable:
        if kind is None or (kind == "real") == self.variable.is_real:
            return self.variable
        return self.raw.declare_variable(name, kind)


Column: TypeAlias = NumericColumn | Levels | DatasetColumn


def no_cells(variable: Variable) -> np.ndarray:
    """A coded column without rows."""
    if not variable.is_real:
        return np.empty(0, code_type(variable.num_states))
    return np.empty(0 if variable.dimension == 1 else (0, variable.dimension))


def as_whole(labels: Iterable[State]) -> list[State]:
    """Floats that are all whole as integers; all else as it is."""
    found = list(labels)
    is_whole = all(type(label) is float and label.is_integer() for label in found)
    return [int(label) for label in found] if is_whole else found


def code_type(num_states: int) -> type[np.signedinteger[Any]]:
    """The smallest signed integer type for the codes of so many states."""
    if num_states <= 127:
        return np.int8
    return np.int16 if num_states <= 32767 else np.int32


def counts_from_zero(variable: Variable) -> bool:
    """Whether the states are the numbers 0, 1, …, n-1, so that an integer column holds the codes themselves."""
    labels = variable.labels
    return labels == tuple(range(len(labels))) and not any(isinstance(label, bool) for label in labels[:2])


def as_reals(values: np.ndarray, variable: Variable, describe: DescribeRow = describe_row) -> np.ndarray:
    """The values as finite float64, with one and the same NaN for every hole."""
    shape = (len(values),) if variable.dimension == 1 else (len(values), variable.dimension)
    if values.ndim == 1 and np.isnan(values).all():  # nothing but holes, which fit any shape
        return np.full(shape, np.nan)
    if values.shape != shape:
        held = "single numbers" if values.ndim == 1 else f"vectors of length {values.shape[1]}"
        wanted = "a number" if variable.dimension == 1 else f"a vector of length {variable.dimension}"
        raise InvalidData(f"variable {variable.name!r} takes {wanted} per row; its column holds {held}")
    reals = values.astype(np.float64, order="C")
    infinite = np.isinf(reals)
    if infinite.any():
        where = describe(int(np.nonzero(infinite)[0][0]))
        raise InvalidData(
            f"variable {variable.name!r} is infinite in {where}; if the value is unknown, mark it as missing"
        )
    reals[np.isnan(reals)] = np.nan
    return reals


def as_intervals(values: np.ndarray, variable: Variable, describe: DescribeRow = describe_row) -> np.ndarray:
    """The codes of the intervals that numbers lie in; a number that is a cut lies in the upper one."""
    reals = as_reals(values, variable, describe)
    codes = np.searchsorted(np.array(variable.cuts), reals, side="right").astype(code_type(variable.num_states))
    codes[np.isnan(reals)] = HOLE
    return codes


def numeric_labels(variable: Variable) -> Iterator[float]:
    """The labels that say a number."""
    for label in variable.labels:
        try:
            yield as_number(label)
        except ValueError:
            continue


def advise_reading(label: object) -> str:
    """Which option reads a cell that no variable takes as it is; the empty text where none does."""
    text = str(label).strip()
    if text.lower() in HOLE_TEXTS:
        return " (if it marks a missing value, add it to `missing`)"
    is_comma = "," in text and is_number_text(text.replace(",", ".", 1))
    return ' (decimal="," reads numbers with a decimal comma)' if is_comma else ""


class ColumnParts(tuple[Any, ...]):
    """The cells of one column, part after part."""

    __slots__ = ()


def concatenate_columns(columns: Sequence[Column], name: str) -> Column:
    """All rows as one column: numbers of one kind stay numbers, all else goes by the labels of all parts."""
    if len(columns) == 1:
        return columns[0]
    if any(isinstance(column, NumericColumn) and column.values.ndim > 1 for column in columns):
        return concatenate_vectors(columns, name)
    numeric = [column for column in columns if isinstance(column, NumericColumn)]
    if len(numeric) == len(columns) and len({column.values.dtype.kind for column in numeric}) == 1:
        return NumericColumn(np.concatenate([column.values for column in numeric]))
    return concatenate_levels([column.levels for column in columns])


def concatenate_vectors(columns: Sequence[Column], name: str) -> NumericColumn:
    """Vectors of one length; a part that has only holes has holes of that length."""
    numeric = [column.values for column in columns if isinstance(column, NumericColumn)]
    length = max(values.shape[1] for values in numeric if values.ndim > 1)
    return NumericColumn(np.concatenate([as_vectors(column, length, name) for column in columns]))


def as_vectors(column: Column, length: int, name: str) -> np.ndarray:
    is_vector = isinstance(column, NumericColumn) and column.values.ndim > 1
    if isinstance(column, NumericColumn) and column.values.shape[1:] == (length,):
        return column.values
    if not is_vector and column.levels.num_holes == len(column):
        return np.full((len(column), length), np.nan)
    raise InvalidData(f"column {name!r} holds vectors of {length} numbers in one file, and something else in another")


def concatenate_levels(parts: Sequence[Levels]) -> Levels:
    """The labels of all parts, each once; an order is declared only where all parts declare the same."""
    positions: dict[tuple[type, object], int] = {}
    codes = []
    for part in parts:
        numbers = [positions.setdefault((type(label), label), len(positions)) for label in part.labels]
        codes.append(np.array([*numbers, HOLE], dtype=np.int32)[part.codes])
    is_declared = all(part.is_declared and part.labels == parts[0].labels for part in parts)
    return type(parts[0])(np.concatenate(codes), (label for _, label in positions), is_declared=is_declared)


@singledispatch
def is_native(cells: Any) -> bool:
    """Whether another library reads these cells without the interpreter's lock, so that threads are of use."""
    return False


@is_native.register
def _(cells: ColumnParts) -> bool:
    return is_native(cells[0])
