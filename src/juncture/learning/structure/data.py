"""The cases that a structure is learned from, as a `Dataset`; which of them have which kinds of columns, and holes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from juncture.data.dataset import Dataset, as_table
from juncture.data.sources.contract import RowSource
from juncture.data.sources.entries import as_lazy_source
from juncture.errors import InvalidData, TooLarge, UnknownVariable, Unsupported, hint
from juncture.learning.networks.expectation import MAX_DISTINCT
from juncture.learning.networks.templates import code_columns
from juncture.learning.structure.streamed.streamed_rows import StreamedRows, gather_rows
from juncture.learning.structure.streamed.sums import SummedRows, sum_rows
from juncture.variables import Scope, Variable

Cases: TypeAlias = Dataset | StreamedRows | SummedRows
"""The rows that a structure is learned from: in memory, or past it to be counted in passes, or summed up."""
Result = TypeVar("Result")


def is_mixed(data: Cases) -> bool:
    """Whether some columns have states and some are real."""
    return len({variable.is_real for variable in data.variables}) > 1


def check_same_kind(data: Cases) -> None:
    """Check that all columns have states, or that all are real, as tests of independence need."""
    if is_mixed(data):
        coded, real = (next(one.name for one in data.variables if one.is_real is kind) for kind in (False, True))
        raise Unsupported(
            f"independence is tested between columns that all have states or are all numbers, but {coded!r} has states"
            f" and {real!r} numbers: take a search that scores graphs, such as method='hill-climbing', or put the"
            " numbers into bins first, jt.Discretizer(bins=5).fit(data).transform(data) or juncture learn --bins 5"
        )


def check_numbers(data: Cases | RowSource) -> None:
    for variable in data.variables:
        if variable.dimension > 1:
            raise Unsupported(f"structure is learned over numbers, but {variable.name!r} is a vector: split it")


def impossible_edges(data: Cases) -> np.ndarray:
    """The edges from real columns to columns with states, which no table and no line describes: (parent, child)."""
    is_real = np.array([variable.is_real for variable in data.variables], dtype=np.bool_)
    return is_real[:, np.newaxis] & ~is_real


def names_of(data: Cases) -> tuple[str, ...]:
    return tuple(variable.name for variable in data.variables)


def read_cases(data: Any, variables: Iterable[Variable] | None, weights: Any) -> Cases:
    """The columns to learn a structure over, with the declared states of declared variables."""
    if isinstance(data, StreamedRows | SummedRows) and weights is None and not variables:
        return data
    declared = Scope(() if variables is None else variables)
    source = as_lazy_source(data)
    rows = code_in_memory(data, declared, weights) if source is None else read_source(source, declared, weights)
    check_columns(rows)
    if source is not None and not len(rows):
        raise InvalidData("the source has no rows to learn a structure from")
    if total_weight(rows) == 0.0 and not (isinstance(rows, Dataset) and rows.weights is None):
        raise InvalidData("the weights of all rows are zero: structure is learned from at least one row")
    return rows


def cases_in_memory(data: Any, variables: Iterable[Variable] | None, weights: Any, what: str) -> Dataset:
    """The same, in memory; `what` names what needs that."""
    rows = read_cases(data, variables, weights)
    if not isinstance(rows, Dataset):
        raise TooLarge(
            f"{what} needs rows in memory, and the source has more than {MAX_DISTINCT:,} distinct rows: take a sample"
            " of the rows, or fewer columns"
        )
    return rows


def code_in_memory(data: Any, declared: Scope, weights: Any) -> Dataset:
    if not declared:
        found = data if isinstance(data, Dataset) else Dataset(data)
        return code_columns(found, set(found.columns), declared, weights)
    names = as_table(data, declared.names).cells  # which are coded once, by the declared states
    check_declared(declared, names)
    return code_columns(data, set(names), declared, weights)


def read_source(source: RowSource, declared: Scope, weights: Any) -> Cases:
    """One pass over a source, after another that finds the states of columns that are not declared."""
    check_declared(declared, source.names)
    if declared or weights is not None:
        own = () if len(declared) == len(source.names) else source.variables
        known = {variable.name: variable for variable in (*own, *declared)}
        source = source.coded([known[name] for name in source.names if name != weights], weights)
    check_columns(source)
    if any(variable.is_real for variable in source.variables):
        check_numbers(source)
        return sum_rows(source, MAX_DISTINCT)
    return gather_rows(source, MAX_DISTINCT)


def read_nodes(data: Any, names: Sequence[str]) -> Cases:
    """The columns of these names, in their order."""
    source = as_lazy_source(data)
    known = Dataset(data) if source is None and not isinstance(data, Dataset) else data
    columns = known.columns if source is None else source.names
    for name in names:
        if name not in columns:
            raise InvalidData(f"the data have no column {name!r}, which is a node of the graph")
    if source is None:
        return known.only(names)
    found = {variable.name: variable for variable in source.only(names).variables}
    return read_source(source.coded([found[name] for name in names]), Scope(()), None)


def settle(data: Cases, run: Callable[[], Result]) -> Result:
    """The result of a function of the rows; past memory, once all tables that it asks for are counted."""
    return data.settle(run) if isinstance(data, StreamedRows) else run()


def check_columns(data: Cases | RowSource) -> None:
    if not data.variables:
        raise InvalidData("there are no columns to learn a structure over")


def check_declared(declared: Scope, names: Iterable[str]) -> None:
    for name in declared.names:
        if name not in names:
            raise UnknownVariable(f"the data have no column {name!r}, which is declared; {hint(name, names)}")


def total_weight(data: Cases) -> float:
    if not isinstance(data, Dataset):
        return data.weight
    return float(len(data) if data.weights is None else np.sum(data.weights))


def check_complete(data: Cases) -> None:
    name, row = find_hole(data)
    if name is not None:
        raise InvalidData(f"the column {name!r} has missing values, the first in {row}: {advise(data)}")


def advise(data: Cases) -> str:
    """What to do about holes."""
    if isinstance(data, Dataset):
        return "drop these rows, or learn with method='structural-em'"
    kept = "drop these rows, or learn with method='structural-em' from a sample of rows that fits in memory"
    return kept if isinstance(data, SummedRows) else f"{kept}, or with score='node-average'"


def find_hole(data: Cases) -> tuple[str | None, str]:
    """The first column with a hole, and how the first row without a value is named."""
    if not isinstance(data, Dataset):
        return data.first_hole or (None, "")
    for name, column in data.columns.items():
        holes = np.isnan(column) if column.dtype.kind == "f" else column < 0
        if holes.any():
            return name, f"row {int(np.argmax(holes.reshape(len(data), -1).any(axis=1)))}"
    return None, ""
