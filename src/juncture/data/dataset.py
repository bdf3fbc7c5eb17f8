"""`Dataset`: many assignments as coded columns, with missing values and weights; and `as_table`, which reads its rows.

`as_table` takes every kind of table that users have: mappings of columns, lists of mappings, arrays, frames of any
library, a `Dataset`, and the paths of files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence, Sized
from functools import cached_property, singledispatch
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_iterable, check_mapping
from juncture.base.values import Value, content_key, number_of, read_only
from juncture.data.column_kinds import UNNAMED, Finding, Summary, names_rows, warn_findings, warn_unnamed
from juncture.data.tables.columns import HOLE, Column, DatasetColumn, NumericColumn, as_reals, code_type
from juncture.data.tables.table import Decimal, Extra, Table, Unseen
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, UnknownVariable
from juncture.variables import Scope, State, Variable, first_repeated

if TYPE_CHECKING:
    from juncture.data.tables.coding import Coding

__all__ = ["Dataset", "Extra", "Unseen"]
SHOWN_ROWS = 10


class Dataset(Value):
    """Rows of observations as one coded column per variable; the code -1 (or NaN) marks a missing value.

    Parameters
    ----------
    data
        A mapping of columns, a list of mappings, a data frame (pandas, Polars, Arrow or another library that narwhals
        supports), a NumPy array (structured, or with two axes and `variables` for its columns), another dataset, or
        the path of a CSV or Parquet file; also a list of paths or a pattern ("rows/*.csv") of files with the same
        columns. None, NaN, NA, NaT and null are missing values.
    variables
        The variables whose states code the columns; a variable without a column is left out. By default text, booleans
        and at most 20 different whole numbers become states in sorted order (`states_from_data` names these columns),
        categories keep their declared order, and floats and more whole numbers become real-valued variables.
    weights
        One weight per row, or the name of the column that holds the weights.
    extra
        "error" or "ignore": what happens to columns that are not among `variables`.
    missing
        A marker of missing values, such as "?" or -999, or a list of markers.
    unseen
        "error" or "missing": what happens to values that are not states of their variable.
    decimal
        "," for text cells such as "12,5" that are numbers with a decimal comma.
    real, states
        The names of columns of numbers that are real-valued, and of those whose different values are states, however
        many there are. A warning tells of more than 20 whole numbers that are taken as real, and of text such as NA
        among numbers, which marks missing values.

    Examples
    --------
    >>> data = Dataset({"smoke": ["no", "yes", None], "age": [31.0, 47.5, 60.0]})
    >>> data.variables
    (Variable('smoke', ['no', 'yes']), Variable('age'))
    >>> data.columns["smoke"]
    array([ 0,  1, -1], dtype=int8)
    >>> data.to_dict()
    {'smoke': ['no', 'yes', None], 'age': [31.0, 47.5, 60.0]}
    """

    variables: tuple[Variable, ...]
    arrays: tuple[np.ndarray, ...]
    weights: np.ndarray | None
    num_rows: int
    states_from_data: tuple[str, ...]  # the variables whose states are those that the rows happened to have, sorted
    findings: ClassVar[tuple[Finding, ...]] = ()  # what columns look like, and how they were read; neither
    seed: ClassVar[int | None] = None  # `rng=dataset.seed` draws the rows again; not compared, not kept

    def __init__(  # noqa: PLR0913 (how cells are read)
        self,
        data: Any,
        variables: Iterable[Variable] | None = None,
        weights: Any = None,
        *,
        extra: Extra = "error",
        missing: Any = None,
        unseen: Unseen = "error",
        decimal: Decimal = ".",
        real: Iterable[str] = (),
        states: Iterable[str] = (),
    ) -> None:
        from juncture.data.tables.coding import as_coding  # which most questions do without

        coding = as_coding(variables, missing, unseen, decimal)
        self._read(data, coding, weights, extra, real, states)
        warn_findings(self.findings)

    @classmethod
    def _of_numbers(
        cls,
        data: Any,
        *,
        weights: Any = None,
        decimal: Decimal = ".",
        real: Iterable[str] = (),
        states: Iterable[str] = (),
    ) -> Dataset:
        """The rows for whoever takes whole numbers as numbers, few or many: nothing is said of many being real."""
        from juncture.data.tables.coding import as_coding

        dataset = cls.__new__(cls)
        dataset._read(data, as_coding(None, None, "error", decimal), weights, "error", real, states)
        warn_findings(finding for finding in dataset.findings if finding.look.kind != "real")
        return dataset

    def _read(
        self, data: Any, coding: Coding, weights: Any, extra: Extra, real: Iterable[str], states: Iterable[str]
    ) -> None:
        from juncture.data.tables.coding import as_kinds

        table = as_table(data, None if coding.scope is None else coding.scope.names)
        with table.located():
            kinds = as_kinds(real, states, table.cells, () if coding.scope is None else coding.scope.names)
            self._fill(table, coding._replace(kinds=kinds), weights, extra, data)

    def _fill(self, table: Table, coding: Coding, weights: Any, extra: Extra, data: Any) -> None:
        from juncture.data.tables.coding import find_all, select_columns, split_weights

        table, weights = split_weights(table, weights)
        is_weighted = weights is None and isinstance(data, Dataset)
        columns = coding.columns(table, select_columns(table, coding.scope, extra))
        self._set(
            variables=tuple(column.variable for column in columns),
            arrays=tuple(column.values for column in columns),
            weights=data.weights if is_weighted else as_weights(weights, table.num_rows, table.describe_row),
            num_rows=table.num_rows,
            states_from_data=tuple(column.variable.name for column in columns if column.is_from_data),
            findings=find_all(columns),
        )

    def _key(self) -> Hashable:
        return tuple(content_key(part) for part in (self.variables, self.arrays, self.weights, self.num_rows))

    @classmethod
    def from_codes(cls, variables: Iterable[Variable], columns: Mapping[str, Any], weights: Any = None) -> Dataset:
        """A dataset from columns of codes (or real numbers); only their ranges are checked."""
        kept = tuple(Scope(variables))
        arrays = tuple(read_only(as_codes(columns, variable)) for variable in kept)
        num_rows = len(arrays[0]) if arrays else 0
        for variable, array in zip(kept, arrays, strict=True):
            if len(array) != num_rows:
                raise InvalidData(
                    f"all columns must be equally long; {kept[0].name!r} has {num_rows} rows,"
                    f" {variable.name!r} has {len(array)}"
                )
        dataset = cls.__new__(cls)
        dataset._set(variables=kept, arrays=arrays, weights=as_weights(weights, num_rows))
        dataset._set(num_rows=num_rows, states_from_data=())
        return dataset

    def _with(self, **fields: Any) -> Dataset:
        dataset = type(self).__new__(type(self))
        dataset._set(**{name: self.__dict__[name] for name in self._fields} | fields)
        return dataset

    def with_seed(self, seed: int) -> Dataset:
        """The same rows, which were drawn with this seed."""
        dataset = self._with()
        dataset._set(seed=seed)
        return dataset

    def __len__(self) -> int:
        return self.num_rows

    @cached_property
    def columns(self) -> Mapping[str, np.ndarray]:
        """The coded columns by name: (row,) of codes or reals, or (row, dimension) of reals."""
        names = (variable.name for variable in self.variables)
        return MappingProxyType(dict(zip(names, self.arrays, strict=True)))

    def variable(self, name: str) -> Variable:
        found = self._by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise UnknownVariable.among(name, self.columns, where="the dataset")
        return found

    @cached_property
    def _by_name(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.variables}

    def labels(self, name: str) -> np.ndarray:
        """The labels (or numbers) of one column, None for missing values."""
        from juncture.data.tables.export import decode_column

        return decode_column(self.variable(name), self.columns[name])

    @cached_property
    def is_complete(self) -> bool:
        """Whether no value is missing."""
        return not any((array < 0).any() if array.dtype.kind == "i" else np.isnan(array).any() for array in self.arrays)

    def only(self, names: Iterable[str]) -> Dataset:
        """The columns of these variables, in this order, shared with this dataset."""
        kept = tuple(self.variable(name) for name in check_columns(names, self.columns, "the dataset"))
        arrays = tuple(self.columns[variable.name] for variable in kept)
        inferred = tuple(variable.name for variable in kept if variable.name in self.states_from_data)
        return self._with(variables=kept, arrays=arrays, states_from_data=inferred)

    def take(self, rows: Any) -> Dataset:
        """The rows that a slice, a list of positions or a mask selects."""
        positions = row_positions(rows, self.num_rows)
        arrays = tuple(read_only(array[positions]) for array in self.arrays)
        weights = None if self.weights is None else read_only(self.weights[positions])
        return self._with(arrays=arrays, weights=weights, num_rows=len(positions))

    def to_dict(self) -> dict[str, list[State | None]]:
        return {name: self.labels(name).tolist() for name in self.columns}

    def to_pandas(self) -> Any:
        from juncture.data.tables.export import to_pandas

        return to_pandas(self.variables, self.columns, self.num_rows)

    def to_polars(self) -> Any:
        from juncture.data.tables.export import to_polars

        return to_polars(self.variables, self.columns)

    def to_arrow(self) -> Any:
        from juncture.data.tables.export import to_arrow

        return to_arrow(self.variables, self.columns)

    def to_csv(self, path: Any) -> None:
        """Write a CSV file (or text stream) that reads back equal; missing values are empty cells."""
        from juncture.data.files.writers import write_csv

        write_csv(self, path)

    def to_parquet(self, path: Any) -> None:
        """Write a Parquet file that reads back equal, with PyArrow; missing values are null."""
        from juncture.data.files.parquet import write_parquet

        write_parquet(self, path)

    def __repr__(self) -> str:
        names = list(self.columns)
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        weighted = ", weighted" if self.weights is not None else ""
        sizes = f"{number_of(self.num_rows, 'row')} of {number_of(len(names), 'variable')}"
        return f"Dataset({sizes}{f': {shown}' if names else ''}{weighted})"

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import html_table

        rows = zip(*self.take(slice(SHOWN_ROWS)).to_dict().values(), strict=True)
        return html_table(self.columns, rows, f"{self.num_rows} rows" if self.num_rows > SHOWN_ROWS else "")


def check_columns(names: Any, known: Collection[str], where: str) -> list[str]:
    """The names of columns to keep: each is there, and named once."""
    kept = check_iterable(names, "names")
    for name in kept:
        if not isinstance(name, str) or name not in known:
            raise UnknownVariable.among(name, known, where=where)
    if len(set(kept)) < len(kept):
        raise InvalidData(f"each column is kept once; {kept[first_repeated(kept)]!r} is named twice")
    return kept


def row_positions(rows: Any, num_rows: int) -> np.ndarray:
    """The positions that a slice, a position, a list of positions or a mask means."""
    everything = np.arange(num_rows)
    try:
        selected = rows if isinstance(rows, slice) else np.atleast_1d(np.asarray(rows))
        if not isinstance(selected, slice) and not selected.size:
            selected = selected.astype(np.int64)  # an empty list is one of floats to NumPy
        found: np.ndarray = everything[selected]
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidData(
            f"rows are selected by a slice, by whole numbers from {-num_rows} to {num_rows - 1}, or by a mask of"
            f" {num_rows} booleans: {error}"
        ) from error
    if found.ndim != 1:
        raise InvalidData(f"rows are selected by a list with one axis; got an array of the shape {found.shape}")
    return found


def as_codes(columns: Mapping[str, Any], variable: Variable) -> np.ndarray:
    """The column of `variable`, which holds its codes already, in the smallest type."""
    if variable.name not in check_mapping(columns, "the columns"):
        raise UnknownVariable.among(variable.name, columns, where="the mapping of columns")
    values = np.asarray(columns[variable.name])
    if variable.is_real:
        return as_reals(values, variable)
    is_code = values.dtype.kind in "iu" and values.ndim == 1
    if not is_code or (len(values) and not HOLE <= values.min() <= values.max() < variable.num_states):
        raise InvalidData(
            f"the codes of {variable.name!r} must be integers from -1 (missing) to {variable.num_states - 1}"
        )
    return values.astype(code_type(variable.num_states), copy=False)


def as_table(data: Any, names: Sequence[str] | None = None) -> Table:
    """A table from anything tabular; `names` names the columns of a plain array.

    A first column without a name that numbers or names the rows, as pandas and R write it, is left out with a warning.
    """
    table = read_cells(data, names)
    return table if isinstance(data, Dataset | Table) else without_row_names(table, names or ())


def without_row_names(table: Table, names: Container[str]) -> Table:
    """The table without a first column that numbers or names the rows, unless it is among the names."""
    first = next(iter(table.cells), None)
    if first not in UNNAMED or first in names:
        return table
    if len(table.cells) > 1 and is_row_names(table.column(first)):
        warn_unnamed(first)
        return table.only(name for name in table.cells if name != first)
    check_first_name((first,))
    return table


def check_first_name(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of columns, of which the first is not empty."""
    if not names[0]:
        raise InvalidData("the first column has no name, and does not number or name the rows: give it a name")
    return names


def is_row_names(column: Column) -> bool:
    """Whether a column has another whole number, or another text, in each row."""
    if isinstance(column, NumericColumn) and (column.values.dtype.kind != "i" or column.values.ndim > 1):
        return False
    levels = column.levels
    return names_rows(Summary(levels.labels), len(column))


@singledispatch
def read_cells(data: Any, names: Sequence[str] | None = None) -> Table:
    """A table from anything tabular, with all of its columns."""
    from juncture.data.tables.frames import frame_cells

    return Table(*frame_cells(data))


@read_cells.register
def _of_dataset(data: Dataset, names: Sequence[str] | None = None) -> Table:
    inferred = set(data.states_from_data)
    columns = (
        DatasetColumn(variable, values, is_declared=variable.name not in inferred)
        for variable, values in zip(data.variables, data.arrays, strict=True)
    )
    return Table({column.variable.name: column for column in columns}, data.num_rows)


@read_cells.register
def _(data: Table, names: Sequence[str] | None = None) -> Table:
    return data


@read_cells.register(str)
@read_cells.register(os.PathLike)
def _(data: str | os.PathLike[str], names: Sequence[str] | None = None) -> Table:
    from juncture.data.files.table_files import read_table_files

    return read_table_files(data)


@read_cells.register
def _(data: Mapping, names: Sequence[str] | None = None) -> Table:  # type: ignore[type-arg]
    first = next(iter(data.values()), ())
    is_column = isinstance(first, Sized) and getattr(first, "shape", None) != () and not isinstance(first, type)
    return Table(data, len(first) if is_column else 0)


@read_cells.register(list)
@read_cells.register(tuple)
def _(data: Sequence[Any], names: Sequence[str] | None = None) -> Table:
    if data and all(isinstance(item, str | os.PathLike) for item in data):
        from juncture.data.files.table_files import read_table_files

        return read_table_files(*data)
    as_rows(data)
    found = dict.fromkeys(name for row in data for name in row)
    return Table({name: [row.get(name) for row in data] for name in found}, len(data))


@read_cells.register
def _(data: np.ndarray, names: Sequence[str] | None = None) -> Table:
    if data.dtype.names is not None:
        return Table({name: data[name] for name in data.dtype.names}, len(data))
    if data.ndim != 2 or names is None:
        raise InvalidData(
            "a plain array of rows must have two axes, (row, variable), and come with `variables` for its columns;"
            f" it has the shape {data.shape}{' and no variables' if names is None else ''}"
        )
    if data.shape[1] != len(names):
        raise InvalidData(f"the array has {data.shape[1]} columns for {len(names)} variables; they must be as many")
    return Table({name: data[:, number] for number, name in enumerate(names)}, len(data))


def as_rows(rows: Sequence[Any]) -> Sequence[Mapping[str, Any]]:
    """The rows as they are, after a look at whether each is a mapping."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidData(f"a list of rows must hold mappings from name to state; row {number} is {row!r}")
    return rows
