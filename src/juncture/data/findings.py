"""`Findings`: evidence coded by the variables of a model."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from juncture.base.values import Value, content_key, finding_text
from juncture.errors import ImpossibleEvidence, InvalidData, UnknownVariable
from juncture.numerics.stable import log
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.data.sources.contract import RowSource

Arrays: TypeAlias = dict[str, np.ndarray]


class Findings(Value):
    """Evidence coded by the variables of a model, each array with one entry a row.

    `codes` has -1 and `reals` has NaN where nothing was seen, `likelihoods` has ones there; a variable of
    which nothing is known in any row is in none of them. Hard and soft evidence on one variable multiply.
    The `index` of a frame of pandas is kept for frames of answers, and not compared.
    """

    variables: tuple[Variable, ...]
    is_single: bool
    num_rows: int
    codes: Arrays  # (row,)
    reals: Arrays  # (row,) or (row, dimension)
    likelihoods: Arrays  # (row, state)
    index: Any  # of the frame that the rows come from, or None
    source: RowSource | None = None  # where the rows are read block by block

    def __init__(
        self,
        variables: tuple[Variable, ...],
        codes: Arrays | None = None,
        reals: Arrays | None = None,
        likelihoods: Arrays | None = None,
        *,
        num_rows: int | None = None,
        index: Any = None,
    ) -> None:
        """Findings from arrays that are coded already; without `num_rows` they are of a single row."""
        self._set(variables=variables, is_single=num_rows is None, num_rows=1 if num_rows is None else num_rows)
        self._set(codes=codes or {}, reals=reals or {}, likelihoods=likelihoods or {}, index=index)
        for part in self._parts():
            for array in part.values():
                array.setflags(write=False)

    @property
    def names(self) -> tuple[str, ...]:
        """All variables of which something is known, in the order of the model."""
        found = self.codes.keys() | self.reals.keys() | self.likelihoods.keys()
        return tuple(variable.name for variable in self.variables if variable.name in found) if found else ()

    def variable(self, name: str) -> Variable:
        if name not in self._by_name:
            raise UnknownVariable.among(name, self._by_name)
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.variables}

    def is_observed(self, name: str) -> np.ndarray:
        """(row,): whether the value itself is known; a vector must be known in full."""
        known = (self.codes | self.reals).get(self.variable(name).name, np.full(self.num_rows, -1))
        holes = is_hole(known)
        return ~(holes if holes.ndim == 1 else np.asarray(holes.any(axis=1)))

    def log_likelihood(self, name: str) -> np.ndarray | None:
        """(row, state): log p(finding | state), 0 where nothing is known; None when nothing is in any row."""
        states = np.arange(self.variable(name).num_states)
        soft = log(self.likelihoods[name]) if name in self.likelihoods else None
        if name not in self.codes:
            return soft
        codes = self.codes[name][:, np.newaxis]
        hard = np.where((codes < 0) | (codes == states), 0.0, -np.inf)
        return hard if soft is None else hard + soft

    def describe(self, name: str, row: int = 0) -> str:
        """The findings of one row on one variable, as text for messages: "xray=yes" or "xray≈[0.2, 0.9]"."""
        parts = []
        if self.is_observed(name)[row]:
            is_code = name in self.codes
            value = self.variable(name).labels[self.codes[name][row]] if is_code else self.reals[name][row].tolist()
            parts.append(finding_text(name, value))
        if name in self.likelihoods and (self.likelihoods[name][row] != 1).any():
            parts.append(f"{name}≈[{', '.join(f'{entry:g}' for entry in self.likelihoods[name][row])}]")
        return ", ".join(parts) or f"{name} not observed"

    def row(self, number: int) -> Findings:
        """One row as findings of a single row."""
        position = [range(self.num_rows)[number]]
        parts = [{name: array[position] for name, array in part.items()} for part in self._parts()]
        return Findings(
            self.variables, drop_unobserved(parts[0]), drop_unobserved(parts[1]), drop_uninformative(parts[2])
        )

    def take(self, rows: np.ndarray) -> Findings:
        """Some of the rows."""
        parts = [{name: array[rows] for name, array in part.items()} for part in self._parts()]
        return Findings(
            self.variables, *parts, num_rows=len(rows), index=None if self.index is None else self.index[rows]
        )

    def only(self, *names: str) -> Findings:
        """The findings on these variables."""
        parts = [{name: array for name, array in part.items() if name in names} for part in self._parts()]
        return Findings(self.variables, *parts, num_rows=self._num_rows())

    def repeat(self, num_rows: int) -> Findings:
        """A single row's findings for each of many rows."""
        parts = [{name: np.repeat(array, num_rows, axis=0) for name, array in part.items()} for part in self._parts()]
        return Findings(self.variables, *parts, num_rows=num_rows)

    def without(self, name: str) -> Findings:
        """All findings but those on one variable."""
        removed = self.variable(name).name
        parts = [{other: array for other, array in part.items() if other != removed} for part in self._parts()]
        return Findings(self.variables, *parts, num_rows=self._num_rows())

    def merge(self, other: Findings) -> Findings:
        """Both together, row by row: likelihoods multiply, and two different values are impossible evidence."""
        if other.variables != self.variables or other._num_rows() != self._num_rows():
            raise InvalidData("only findings on the same variables and of as many rows can be merged")
        pairs = zip(self._parts(), other._parts(), strict=True)
        codes, reals, likelihoods = ({**mine, **theirs} for mine, theirs in pairs)
        for name in self.codes.keys() & other.codes.keys():
            codes[name] = self._merge_values(other, name, self.codes[name], other.codes[name])
        for name in self.reals.keys() & other.reals.keys():
            reals[name] = self._merge_values(other, name, self.reals[name], other.reals[name])
        for name in self.likelihoods.keys() & other.likelihoods.keys():
            likelihoods[name] = multiply_likelihoods(self.likelihoods[name], other.likelihoods[name], name)
        index = other.index if self.index is None else self.index
        return Findings(self.variables, codes, reals, likelihoods, num_rows=self._num_rows(), index=index)

    def _merge_values(self, other: Findings, name: str, mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
        clash = ~is_hole(mine) & ~is_hole(theirs) & (mine != theirs)
        if clash.any():
            row = int(np.nonzero(clash)[0][0])
            where = "" if self.is_single else f" in row {row}"
            both = f"{self.describe(name, row)} and {other.describe(name, row)}"
            raise ImpossibleEvidence(f"the findings {both}{where} contradict each other; drop one of them")
        return np.where(is_hole(mine), theirs, mine)

    def _key(self) -> Hashable:
        return tuple(content_key(self.__dict__[name]) for name in self._fields if name != "index")

    def __repr__(self) -> str:
        rows = "" if self.is_single else f"{self.num_rows} rows: "
        return f"Findings({rows}{', '.join(self.names[:8])}{', …' if len(self.names) > 8 else ''})"

    def _parts(self) -> tuple[Arrays, Arrays, Arrays]:
        return self.codes, self.reals, self.likelihoods

    def _num_rows(self) -> int | None:
        return None if self.is_single else self.num_rows


def row_index(rows: Any) -> Any:
    """The index of a frame or series of pandas; None of all else."""
    pandas = sys.modules.get("pandas")  # which is loaded where there is such a frame
    is_indexed = pandas is not None and isinstance(rows, pandas.DataFrame | pandas.Series)
    return rows.index.copy() if is_indexed else None


def is_hole(values: np.ndarray) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else values < 0


def drop_unobserved(values: Arrays) -> Arrays:
    """The variables that are observed in at least one row."""
    return {name: array for name, array in values.items() if not is_hole(array).all()}


def drop_uninformative(likelihoods: Arrays) -> Arrays:
    """The likelihoods that say something in at least one row."""
    return {name: array for name, array in likelihoods.items() if (array != 1).any()}


def multiply_likelihoods(mine: np.ndarray, theirs: np.ndarray, name: str) -> np.ndarray:
    """The likelihoods multiplied, unless that would turn something possible into 0."""
    both = mine * theirs
    if ((both == 0) & (mine > 0) & (theirs > 0)).any():
        raise InvalidData(f"the likelihoods of {name!r} multiply to less than a float can hold; scale them up")
    return both
