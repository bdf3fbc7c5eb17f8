"""`RowSource`: the contract of rows that are read block by block, and `Block`, what a source gives.

An algorithm that adds up statistics needs one block in memory at a time. A source gives the same blocks in the same
order each time it is asked, so that an iterative algorithm can read them again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeGuard

from juncture.base.values import number_of
from juncture.data.dataset import Dataset, Extra
from juncture.data.tables.coding import select_columns
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, UnknownState, UnknownVariable
from juncture.variables import Scope, Variable


class Origin(NamedTuple):
    """Where the rows of a block come from: a file or a frame, the number of the first row, the ends of row groups.

    `copies` has the number of rows that each row stands for, where an engine has grouped equal rows. `line` is the line
    of the first row in a file of text, if each row of the block is one line of it.
    """

    name: str = ""
    start: int = 0
    group_ends: tuple[int, ...] = ()
    copies: tuple[int, ...] = ()
    line: int | None = None

    def describe_row(self, row: int) -> str:
        """How a message names a row of the block.

        >>> Origin("rows.parquet", 1000, (800, 1600)).describe_row(5)
        'row 1005 of rows.parquet (row group 1)'
        """
        if self.line is not None and self.name:
            return f"line {self.line + row} of {self.name}"
        if self.copies:
            return f"at least {number_of(self.copies[row], 'row')} of {self.name}"
        number = self.start + row
        group = f" (row group {bisect_right(self.group_ends, number)})" if self.group_ends else ""
        return f"row {number}{f' of {self.name}' if self.name else ''}{group}"

    @contextmanager
    def located(self, hint: str = "") -> Iterator[None]:
        """Errors that do not name the file, and may count rows from the start of the block, say where the block is.

        `hint` is said where a label is no state.
        """
        try:
            yield
        except (InvalidData, UnknownState, UnknownVariable) as error:
            is_named = not self.name or self.name in str(error)
            if isinstance(error, UnknownVariable) and not is_named:
                raise UnknownVariable(f"{self.name}: {error}") from error
            where = "" if is_named else f" (rows are counted from {self.describe_row(0)})"
            why = hint if isinstance(error, UnknownState) else ""
            if not where and not why:
                raise
            raise type(error)(f"{error}{where}{why}") from error


class Block(NamedTuple):
    """Some rows of a source, coded, and where they come from."""

    rows: Dataset
    origin: Origin

    def describe_row(self, row: int) -> str:
        """How a message names a row of the block."""
        return self.origin.describe_row(row)


class RowSource(Protocol):
    """Rows in blocks: fixed, in order, and readable again."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, without that of the weights; known without reading the rows."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that code the columns; where none were declared, one pass over the rows finds them."""

    @property
    def num_rows(self) -> int | None:
        """The number of rows; None where it is known only after reading them."""

    @property
    def weights(self) -> str | None:
        """The name of the column that holds the weights of the rows."""

    def blocks(self) -> Iterator[Block]:
        """The blocks from the first to the last, at least one; each call starts anew and gives the same blocks."""

    def only(self, names: Iterable[str]) -> RowSource:
        """The same rows with the columns of these names, in their order, as of a `Dataset`; others are not read."""

    def coded(self, variables: Iterable[Variable], weights: str | None = None) -> RowSource:
        """The same rows, coded by these variables; columns of none of them go, none comes back, nothing is read yet."""


def is_source(data: Any) -> TypeGuard[RowSource]:
    """Whether an object keeps the contract; by its class, so that no property reads the rows."""
    return all(hasattr(type(data), name) for name in ("blocks", "coded", "only", "variables"))


def check_extra(names: Iterable[str], scope: Scope | None, extra: Extra) -> None:
    """Refuse columns that are none of the variables, unless they are to be ignored."""
    select_columns(Table(dict.fromkeys(names, ()), 0), scope, extra)


def check_weights_name(weights: Any, names: Iterable[str]) -> str | None:
    """The name of the column of weights, which must be there."""
    if weights is None:
        return None
    if not isinstance(weights, str):
        raise InvalidData("the weights of a source are a column of it: give the name of the column")
    if weights not in names:
        raise UnknownVariable.among(weights, names, where="the source, of which `weights` names a column,")
    return weights
