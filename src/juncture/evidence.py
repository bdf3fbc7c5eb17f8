"""Evidence: `Evidence`, as users declare it, and `as_findings`, which codes it by a model's variables.

Evidence is hard (a state, a number), soft (a likelihood per state) or missing, for one row or many. One
row is a mapping; many rows are a frame, a `Dataset` or a list of mappings. A likelihood is a list of p(what was seen |
state), or a mapping by state, for one row or for each of many.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set, Sized
from copy import deepcopy
from functools import singledispatch
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from juncture.base.checks import check_choice, check_mapping
from juncture.base.values import Value, content_key, few, read_only, short
from juncture.data.dataset import Dataset, Extra, as_rows, as_table
from juncture.data.findings import Arrays, Findings, drop_unobserved, row_index
from juncture.data.rows import Rows
from juncture.data.sources.entries import as_source
from juncture.data.tables.cells import list_column
from juncture.data.tables.columns import code_type
from juncture.errors import ImpossibleEvidence, InvalidData, UnknownVariable, hint
from juncture.variables import Variable, is_missing


class Evidence(Value):
    """Observations without a model.

    Parameters
    ----------
    rows
        A mapping from names to states, or a pandas series, is one row; a frame, a `Dataset` or a list of mappings is
        many rows.
    likelihoods
        Soft evidence by variable, (state,) for one row or (row, state), in the order of the states; or by label, a
        mapping from every state to a number for one row, a list of mappings for many. A row of NaN is no evidence.

    Examples
    --------
    >>> Evidence([{"smoke": "yes"}, {}], likelihoods={"xray": [[0.2, 0.9], [1.0, 0.5]]})
    Evidence(2 rows, likelihoods of xray)
    >>> Evidence({"smoke": "yes"}, likelihoods={"xray": {"no": 0.2, "yes": 0.9}})
    Evidence({'smoke': 'yes'}, likelihoods of xray)
    """

    rows: Any
    likelihoods: dict[str, Likelihoods]
    index: Any  # of the frame that the rows come from, or None; it is not compared

    def __init__(self, rows: Any = None, likelihoods: Mapping[str, Any] | None = None) -> None:
        given = {} if likelihoods is None else check_mapping(likelihoods, "likelihoods")
        soft = {name: copy_likelihoods(values, name) for name, values in given.items()}
        self._set(rows=copy_rows(rows), likelihoods=soft, index=row_index(rows))

    def _key(self) -> Hashable:
        return content_key(self.rows), content_key(self.likelihoods)

    def __repr__(self) -> str:
        soft = f", likelihoods of {few(self.likelihoods)}" if self.likelihoods else ""
        if isinstance(self.rows, dict):
            cells = (f"{name!r}: {short(repr(value))}" for name, value in self.rows.items())
            return f"Evidence({{{few(cells)}}}{soft})"
        rows = "None" if self.rows is None else f"{len(self.rows)} rows"
        return f"Evidence({rows}{soft})"


def as_findings(evidence: Any, variables: Iterable[Variable], *, extra: Extra = "error") -> Findings:
    """Evidence of any kind, coded by `variables`; names that are no variable are an error, or ignored.

    >>> xray = Variable("xray", ["no", "yes"])
    >>> as_findings({"xray": "yes"}, [xray]).codes
    {'xray': array([1], dtype=int8)}
    >>> as_findings({"xray": [0.2, 0.9]}, [xray]).describe("xray")
    'xray≈[0.2, 0.9]'
    """
    check_choice(extra, ("error", "ignore"), "extra")
    return findings_of(evidence, variables if isinstance(variables, tuple) else tuple(variables), extra)


@singledispatch
def findings_of(evidence: Any, variables: tuple[Variable, ...], extra: Extra) -> Findings:
    """Many rows without likelihoods: a frame, a dataset or a source; a series of pandas is one row."""
    if is_series(evidence):
        return findings_of(evidence.to_dict(), variables, extra)
    dataset = Rows.of(evidence).codes(variables, extra=extra)
    codes = {variable.name: dataset.columns[variable.name] for variable in dataset.variables if not variable.is_real}
    reals = {variable.name: dataset.columns[variable.name] for variable in dataset.variables if variable.is_real}
    parts = drop_unobserved(codes), drop_unobserved(reals)
    return Findings(variables, *parts, num_rows=dataset.num_rows, index=row_index(evidence))


def is_series(rows: Any) -> bool:
    """Whether this is a series of pandas, as `frame.iloc[0]` gives; the package is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(rows, pandas.Series)


@findings_of.register(str)
@findings_of.register(os.PathLike)
def _(evidence: str | os.PathLike[str], variables: tuple[Variable, ...], extra: Extra) -> Findings:
    """Many rows in a file or in a folder of files."""
    if Path(evidence).is_dir():
        return findings_of(as_source(evidence, variables, extra=extra), variables, extra)
    try:
        return findings_of(as_table(evidence), variables, extra)
    except FileNotFoundError as error:
        name, _, state = str(evidence).partition("=")
        wanted = f"{{{name.strip()!r}: {state.strip()!r}}}" if state else "{name: state}"
        advice = f"a text is the path of a table of rows; evidence is a mapping, such as {wanted}"
        raise FileNotFoundError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}; {advice}", str(evidence)) from error


@findings_of.register
def _(evidence: None, variables: tuple[Variable, ...], extra: Extra) -> Findings:
    return Findings(variables)


@findings_of.register
def _(evidence: Mapping, variables: tuple[Variable, ...], extra: Extra) -> Findings:  # type: ignore[type-arg]
    known = {variable.name: variable for variable in variables}
    codes: Arrays = {}
    reals: Arrays = {}
    likelihoods: Arrays = {}
    for name, value in evidence.items():
        variable = known.get(name)
        if variable is None:
            if extra == "error":
                raise unknown_entry(name, known)
        elif variable.is_real:
            reals[name] = list_column([value], name).encode(variable)
        elif is_many(value):
            likelihoods[name] = as_likelihood(value, variable)
            check_possible(likelihoods[name], name)
        elif not is_missing(value):
            codes[name] = np.array([variable.code(as_scalar(value))], dtype=code_type(variable.num_states))
    return Findings(variables, codes, drop_unobserved(reals), likelihoods)


def unknown_entry(name: object, known: Iterable[str]) -> UnknownVariable:
    """The error of an entry that is no variable: perhaps a misspelt one, else a column that rows have besides."""
    advice = hint(name, known)
    ignore = "" if advice.startswith("did you mean") else ' (infer and most_probable with extra="ignore" leave it out)'
    return UnknownVariable(f"the model has no variable {name!r}; {advice}{ignore}")


@findings_of.register(list)
@findings_of.register(tuple)
def _(evidence: Sequence[Any], variables: tuple[Variable, ...], extra: Extra) -> Findings:
    """Rows as mappings: the cells that are likelihoods are taken out, the rest is a table."""
    discrete = {variable.name: variable for variable in variables if not variable.is_real}
    likelihoods: Arrays = {}
    hard = []
    for number, row in enumerate(as_rows(evidence)):
        soft = {name: value for name, value in row.items() if name in discrete and is_many(value)}
        for name, value in soft.items():
            if name not in likelihoods:
                likelihoods[name] = np.ones((len(evidence), discrete[name].num_states))
            likelihoods[name][number] = as_likelihood(value, discrete[name], where=f" in row {number}")[0]
        hard.append({**row, **dict.fromkeys(soft)})
    findings = findings_of(as_table(hard), variables, extra)
    return findings.merge(Findings(variables, likelihoods=likelihoods, num_rows=len(hard)))


@findings_of.register
def _(evidence: Findings, variables: tuple[Variable, ...], extra: Extra) -> Findings:
    if evidence.variables != variables:
        raise InvalidData("these findings were coded by other variables; give the evidence itself")
    return evidence


@findings_of.register
def _(evidence: Evidence, variables: tuple[Variable, ...], extra: Extra) -> Findings:
    hard = findings_of(evidence.rows, variables, extra)
    if hard.is_single and all(count_rows(soft) is None for soft in evidence.likelihoods.values()):
        return hard.merge(findings_of(evidence.likelihoods, variables, extra))
    if evidence.rows is None:
        hard = Findings(variables, num_rows=len(next(iter(evidence.likelihoods.values()))))
    likelihoods = {}
    for name, soft in evidence.likelihoods.items():
        if hard.is_single or count_rows(soft) != hard.num_rows:
            rows = "one row" if hard.is_single else f"{hard.num_rows} rows"
            given = f"the shape {soft.shape}" if isinstance(soft, np.ndarray) else f"{count_rows(soft) or 1} rows"
            raise InvalidData(f"the likelihoods of {name!r} have {given}; the evidence has {rows}")
        if extra == "error" or name in {variable.name for variable in variables}:
            likelihoods[name] = check_states(as_array(soft, hard.variable(name)), hard.variable(name))
    return hard.merge(Findings(variables, likelihoods=likelihoods, num_rows=hard.num_rows, index=evidence.index))


@singledispatch
def copy_rows(rows: Any) -> Any:
    """A copy of rows, which later changes by the caller do not reach."""
    return rows.to_dict() if is_series(rows) else as_table(rows).convert_columns()


@copy_rows.register
def _(rows: None) -> None:
    return None


@copy_rows.register
def _(rows: Dataset) -> Dataset:
    return rows


@copy_rows.register
def _(rows: Mapping) -> dict[str, Any]:  # type: ignore[type-arg]
    return {name: deepcopy(value) for name, value in rows.items()}


@copy_rows.register(list)
@copy_rows.register(tuple)
def _(rows: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    return tuple(copy_rows(row) for row in as_rows(rows))


Likelihoods: TypeAlias = np.ndarray | dict[Any, float] | tuple[dict[Any, float], ...]


def is_many(value: Any) -> bool:
    """Whether a cell holds several numbers, as a likelihood or a vector does, rather than one state."""
    if isinstance(value, str | int | float | np.generic):
        return False
    return isinstance(value, Sized) and getattr(value, "ndim", 1) > 0


def as_scalar(value: Any) -> Any:
    """The value, also out of an array without axes."""
    return value.item() if isinstance(value, np.ndarray) else value


def as_likelihood(value: Any, variable: Variable, *, where: str = "") -> np.ndarray:
    """(1, state): the likelihood of one row, as numbers in the order of the states or by their labels."""
    if isinstance(value, Mapping):
        value = order_by_state(value, variable, where)
    likelihood = as_likelihoods(value, variable.name, where=where)
    if likelihood.ndim != 1:
        raise not_a_list(value, variable.name, where)
    return check_states(likelihood[np.newaxis], variable, where=where)


def order_by_state(likelihood: Mapping[Any, Any], variable: Variable, where: str) -> list[Any]:
    """The numbers in the order of the states; each state must have one."""
    if variable.is_real:
        raise InvalidData(f"variable {variable.name!r} is real-valued; only a variable with states has a likelihood")
    found = {variable.code(label): number for label, number in likelihood.items()}
    for code, label in enumerate(variable.labels):
        if code not in found:
            raise InvalidData(
                f"the likelihood of {variable.name!r}{where} has no number for {label!r}; each state needs one"
            )
    return [found[code] for code in range(variable.num_states)]


def copy_likelihoods(values: Any, name: str) -> Likelihoods:
    """The likelihoods of one row or many, as an array, or by label, with numbers that are checked."""
    if isinstance(values, Mapping):
        return dict(zip(values, as_likelihoods(list(values.values()), name).tolist(), strict=True))
    if isinstance(values, list | tuple) and values and all(isinstance(row, Mapping) for row in values):
        return tuple(copy_likelihoods(row, name) for row in values)  # type: ignore[misc]  # each a mapping
    return as_likelihoods(values, name)


def count_rows(likelihoods: Likelihoods) -> int | None:
    """The number of rows; None for those of one row."""
    if isinstance(likelihoods, dict):
        return None
    return None if isinstance(likelihoods, np.ndarray) and likelihoods.ndim == 1 else len(likelihoods)


def as_array(likelihoods: Likelihoods, variable: Variable) -> np.ndarray:
    """(row, state): the likelihoods of many rows, those by label in the order of the states."""
    if isinstance(likelihoods, np.ndarray):
        return likelihoods
    rows = enumerate(likelihoods)
    return np.array([order_by_state(row, variable, f" in row {number}") for number, row in rows])


def as_likelihoods(values: Any, name: str, *, where: str = "") -> np.ndarray:
    """Likelihoods as an array, (state,) or (row, state); a row of NaN becomes ones, which say nothing."""
    try:
        array = np.array(values)
        likelihoods = array.astype(np.float64)
    except (TypeError, ValueError):
        array, likelihoods = np.array("?"), np.empty(0)
    if array.dtype.kind not in "biufO" or array.ndim not in {1, 2}:
        raise not_a_list(values, name, where)
    if likelihoods.ndim == 2:
        likelihoods[np.isnan(likelihoods).all(axis=1)] = 1.0
    if not (np.isfinite(likelihoods) & (likelihoods >= 0)).all():
        raise InvalidData(f"the likelihood of {name!r}{where} has an entry that is not a finite number of at least 0")
    return read_only(likelihoods)


def check_states(likelihoods: np.ndarray, variable: Variable, *, where: str = "") -> np.ndarray:
    """(row, state): the likelihoods, after a look at whether there is one per state of `variable`."""
    if variable.is_real:
        raise InvalidData(f"variable {variable.name!r} is real-valued; only a variable with states has a likelihood")
    if likelihoods.shape[-1] != variable.num_states:
        raise InvalidData(
            f"the likelihood of {variable.name!r}{where} has length {likelihoods.shape[-1]}; it needs one number for"
            f" each of the {variable.num_states} states {variable.labels}"
        )
    return likelihoods


def check_possible(likelihoods: np.ndarray, name: str) -> None:
    """A single row that gives every state the likelihood 0 leaves nothing to infer."""
    if not likelihoods.any():
        raise ImpossibleEvidence(f"the likelihood of {name!r} is 0 everywhere: it excludes every state")


def not_a_list(values: Any, name: str, where: str) -> InvalidData:
    if isinstance(values, Set):
        return InvalidData(
            f"{name!r}{where} is given the set {values!r}: give one state, or the likelihood of each state, such as"
            f" {{{name!r}: {{state: 0.9, …}}}}"
        )
    return InvalidData(
        f"the likelihood of {name!r}{where} must be a list of numbers, one per state; got {values!r}"
        " (many rows are a frame, a Dataset or a list of mappings)"
    )
