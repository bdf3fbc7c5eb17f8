"""`read_sequences`: what a verb was given as sequences, in memory or in the rows of a table, as its model reads them.

In a table a run of rows with the same key is one sequence, in time order; `StepKind` says how rows are read as steps.
Tables of any kind become a `TableSource`, whose blocks of rows are coded on threads, and a sequence that crosses blocks
is joined. So memory holds some blocks, or the longest sequence if that has more rows; and eight bytes for each key, by
which a key that comes again is found (`SeenKeys`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate, chain, islice
from math import prod
from operator import add
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from juncture.base.checks import check_iterable, shown
from juncture.base.values import few, number_of
from juncture.data.dataset import Dataset, as_table, check_columns
from juncture.data.sequences import UNKNOWN, Sequences, concatenate_sequences, with_weights
from juncture.data.sources.contract import Origin, RowSource, SourceTable, is_source
from juncture.data.sources.entries import as_reader
from juncture.data.sources.source import TableSource
from juncture.data.tables.coding import as_markers
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, hint
from juncture.runtime import parallel
from juncture.variables import State, Variable

SequenceParts: TypeAlias = Callable[[], Iterable[Sequences]]  # all sequences, part by part; called once a pass
Total = TypeVar("Total")
SORT = (
    "the rows of a sequence must lie together: sort the rows by {!r}, a frame with its sort, a table with ORDER BY, or"
    " write a file for each key"
)


@runtime_checkable
class SequenceModel(Protocol):
    """A model of sequences, which says how its steps are read and checks them."""

    @property
    def step_kind(self) -> StepKind: ...

    def sequences(self, data: Any, lengths: Any = None) -> Sequences: ...


@dataclass(frozen=True, eq=False)
class SequenceData:
    """The sequences that a verb was given, read and checked by its model.

    Attributes
    ----------
    parts
        A function that starts a pass: all sequences at once, or those of a table as its blocks come.
    kind
        How the model reads observations and states.
    is_single
        Whether one sequence was given, and no list of them.
    """

    parts: SequenceParts
    kind: StepKind
    is_single: bool = False

    def all(self) -> Sequences:
        """All sequences in memory."""
        parts = list(self.parts())
        if len(parts) == 1 and parts[0].is_single == self.is_single:
            return parts[0]
        return concatenate_sequences(parts) if parts else empty_sequences(self.kind)

    def answer(self, function: Callable[[Sequences], np.ndarray]) -> Any:
        """A number for each sequence: a float of a single one, else an array; `function` answers for one part."""
        found = np.concatenate([np.empty(0), *map(function, self.parts())])
        return float(found[0]) if self.is_single else found

    def total(self, count: Callable[[Sequences], Total]) -> Total:
        """The sum of `count` over the parts; of no sequences, where there is no part."""
        counts = map(count, self.parts())
        first = next(counts, None)
        return count(empty_sequences(self.kind)) if first is None else reduce(add, counts, first)

    def to_learn(self) -> Iterator[Sequences]:
        """The parts that have a step of positive weight; raises if there is none."""
        some = False
        for part in self.parts():
            if (part.lengths[part.weights > 0] > 0).any():
                some = True
                yield part
        if not some:
            raise InvalidData("there is no step to learn from: all sequences are empty, or weigh nothing")

    def check_observed(self) -> None:
        """Raise where there are steps that count, but nothing is observed at any of them, and no step is labelled."""
        num_steps = 0
        for part in self.parts():
            counts = np.repeat(part.weights > 0, part.lengths)
            if has_values(part.observations[counts]) or (
                part.states is not None and has_values(part.states[counts], UNKNOWN)
            ):
                return
            num_steps += int(counts.sum())
        if num_steps:
            raise InvalidData(
                "nothing was observed: all values of all steps are missing, so there is nothing to learn from"
            )


def has_values(values: np.ndarray, unknown: int | None = None) -> bool:
    """Whether some value is neither NaN nor the code of what is unknown."""
    known = ~np.isnan(values) if values.dtype.kind == "f" else values != unknown
    return bool(np.any(known))


def read_sequences(
    model: SequenceModel, data: Any, lengths: Any = None, group: Any = None, states: Any = None, weights: Any = None
) -> SequenceData:
    """The sequences that a verb was given, by whichever of its options.

    Parameters
    ----------
    model
        A model of sequences, which checks them.
    data
        A sequence, or a list of them; a function that returns parts of them, one after the other, for every pass; with
        `group` a table: a frame, a file, a query or a source.
    lengths, weights
        The lengths of the sequences in one stacked array; the weights of the sequences, or with `group` the name of
        the column that holds them.
    group, states
        The names of the columns of a table whose cells say which sequence a row belongs to, and which state it has.
    """
    if group is not None:
        if lengths is not None:
            raise InvalidData("`group` says which rows are a sequence; leave `lengths` out")
        source = group_rows(model, data, group, states, weights)
        return SequenceData(lambda: map(model.sequences, source.parts()), model.step_kind)
    if states is not None:
        raise InvalidData("`states` names a column of a table whose key is given by `group`; give both")
    if is_source(data) or isinstance(data, str | os.PathLike):
        raise InvalidData(
            "a file or a source holds sequences by a key: give group= the name of the column that says which"
            " sequence a row belongs to"
        )
    if callable(data):
        if lengths is not None or weights is not None:
            raise InvalidData("parts that a function returns carry their own lengths and weights, as jt.Sequence")
        what = "what the function of the data gives"
        return SequenceData(lambda: map(model.sequences, check_iterable(data(), what)), model.step_kind)
    sequences = with_weights(model.sequences(data, lengths), weights)
    return SequenceData(lambda: iter([sequences]), model.step_kind, sequences.is_single)


class KeyedRows(NamedTuple):
    """Coded rows in a row, and where in them runs of one key begin."""

    observations: np.ndarray  # (row, *event)
    states: np.ndarray | None  # (row,)
    weights: np.ndarray  # (row,)
    begins: np.ndarray  # (run,)
    keys: tuple[Any, ...]  # of the runs
    origin: Origin

    def cut(self) -> tuple[KeyedRows, KeyedRows]:
        """All runs but the last, and the last."""
        at, states = int(self.begins[-1]), self.states
        first, last = (None, None) if states is None else (states[:at], states[at:])
        return (
            KeyedRows(self.observations[:at], first, self.weights[:at], self.begins[:-1], self.keys[:-1], self.origin),
            KeyedRows(self.observations[at:], last, self.weights[at:], np.zeros(1, int), self.keys[-1:], self.origin),
        )


@dataclass(frozen=True, eq=False)
class SequenceSource:
    """Sequences in the rows of a source.

    Parameters
    ----------
    source
        The rows, whose columns are coded by the variables of the observations and of the states.
    key
        The column whose cells say which sequence a row belongs to.
    kind
        How observations and states are read.
    states
        The column of labels of the hidden states, if there is one.
    """

    source: TableSource
    key: str
    kind: StepKind
    states: str | None = None

    @cached_property
    def observed(self) -> tuple[str, ...]:
        return tuple(name for name in self.source.names if name != self.states)

    def parts(self) -> Iterator[Sequences]:
        """Sequences, those that end in one block together; each call reads the rows anew."""
        source = self.source
        names = (*source.names, self.key) if source.weights is None else (*source.names, source.weights, self.key)
        tables = iter(source.reader.tables(names))
        first = list(islice(tables, 1))  # a query starts in this thread, to which connections of some engines are bound
        yield from self.join(parallel.map_stream(self.code, chain(first, tables)))

    def code(self, table: SourceTable) -> KeyedRows:
        source, origin = self.source, table.origin
        names = [name for name in table.cells if name != self.key]
        weights = table.weights if source.weights is None else source.weights
        with origin.located():
            rows = Dataset(table.only(names), source.variables, weights, missing=source.missing)
            begins, keys = self.find_runs(table)
        return KeyedRows(
            self.kind.stack([rows.columns[name] for name in self.observed], len(rows)),
            None if self.states is None else rows.columns[self.states].astype(np.int64),
            np.ones(len(rows)) if rows.weights is None else rows.weights,
            begins,
            keys,
            origin,
        )

    def find_runs(self, table: SourceTable) -> tuple[np.ndarray, tuple[Any, ...]]:
        """Where runs of one key begin, and their keys."""
        column, markers = table.column(self.key), as_markers(self.source.missing)
        levels = (column if markers is None else column.without(markers)).levels
        codes = np.asarray(levels.codes, np.int64)
        if (codes < 0).any():
            row = table.describe_row(int(np.argmax(codes < 0)))
            raise InvalidData(f"the key {self.key!r} is missing in {row}: each row has the key of its sequence")
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        found = codes[begins]
        firsts = np.unique(found, return_index=True)[1]
        if len(firsts) < len(found):
            again = int(np.setdiff1d(np.arange(len(found)), firsts)[0])
            raise self.refuse(levels.labels[found[again]], table.origin, begins[again])
        return begins, tuple(levels.labels[code] for code in found.tolist())

    def refuse(self, key: Any, origin: Origin, row: int) -> InvalidData:
        return InvalidData(
            f"the key {shown(key)} of {self.key!r} comes again in {origin.describe_row(int(row))}, after other keys;"
            f" {SORT.format(self.key)}"
        )

    def join(self, blocks: Iterable[KeyedRows]) -> Iterator[Sequences]:
        """The sequences that end in each block; the last of a block may go on in the next."""
        held: list[KeyedRows] = []  # the rows so far of the last sequence
        seen = SeenKeys()
        for block in blocks:
            if not block.keys:
                continue
            goes_on = bool(held) and held[-1].keys[-1] == block.keys[0]
            again = seen.add(block.keys[goes_on:])
            if again is not None:
                raise self.refuse(block.keys[goes_on + again], block.origin, block.begins[goes_on + again])
            if len(block.keys) == 1 and (goes_on or not held):
                held.append(block)
                continue
            ended, last = block.cut()
            yield self.stack([*held, ended])
            held = [last]
        if held:
            yield self.stack(held)

    def stack(self, rows: list[KeyedRows]) -> Sequences:
        """The sequences of rows that follow each other."""
        starts = accumulate((len(part.observations) for part in rows), initial=0)
        begins = np.concatenate([part.begins + start for part, start in zip(rows, starts, strict=False)])
        keys = [key for part in rows for key in part.keys]
        is_new = np.array([True] + [key != before for key, before in zip(keys[1:], keys, strict=False)])
        weights = np.concatenate([part.weights for part in rows])
        offsets = np.append(begins[is_new], len(weights)).astype(np.int64)
        own = tuple(key for key, new in zip(keys, is_new.tolist(), strict=True) if new)
        states = None if self.states is None else np.concatenate([part.states for part in rows])
        self.check_weights(weights, offsets, own)
        observations = np.concatenate([part.observations for part in rows])
        return Sequences(observations, offsets, weights[offsets[:-1]], states, keys=own)

    def check_weights(self, weights: np.ndarray, offsets: np.ndarray, keys: tuple[Any, ...]) -> None:
        differs = weights != np.repeat(weights[offsets[:-1]], np.diff(offsets))
        if differs.any():
            at = int(np.searchsorted(offsets, np.argmax(differs), side="right")) - 1
            raise InvalidData(
                f"the rows of the sequence {shown(keys[at])} have different weights: a sequence has one weight, which"
                " stands in each of its rows"
            )


def group_rows(model: SequenceModel, data: Any, group: Any, states: Any = None, weights: Any = None) -> SequenceSource:
    """The sequences in a table of rows: `group` and `states` name columns, `weights` the column of weights."""
    source, key, kind = as_table_source(data), as_key(group, "group"), model.step_kind
    label = None if states is None else as_key(states, "states")
    named = source.check_weights(weights)
    for name, what in ((key, "group"), (label, "states")):
        if name is not None and name not in source.names:
            raise InvalidData(
                f"`{what}` names a column of the table, which has no {name!r}; {hint(name, source.names)}"
            )
    observed = [name for name in source.names if name not in {key, label, named}]
    variables = [*kind.variables(observed), *([] if label is None else [kind.state_variable(label)])]
    return SequenceSource(source.coded(variables, named), key, kind, label)


def empty_sequences(kind: StepKind) -> Sequences:
    """No sequence; with labels, where the model has labels."""
    states = None if kind.states is None else np.zeros(0, np.int64)
    return Sequences(np.zeros((0, *kind.event_shape)), np.zeros(1, np.int64), np.zeros(0), states, keys=())


class StepKind(NamedTuple):
    """The shape of one observation; its labels, where observations are labels; the labels of hidden states."""

    event_shape: tuple[int, ...]
    symbols: tuple[State, ...] | None = None
    states: tuple[State, ...] | None = None
    columns: tuple[str, ...] | None = None  # names of the numbers of an observation, where they have names

    def variables(self, names: Sequence[str]) -> list[Variable]:
        """The variables of the columns of observations: one a number, or one of vectors."""
        if self.columns is not None:
            return [Variable(name) for name in check_columns(self.columns, names, "the table")]
        size = prod(self.event_shape)
        if len(names) == 1 and size > 1:
            return [Variable(names[0], dimension=size)]
        if len(names) != size:
            wanted = "one number" if not self.event_shape else number_of(size, "number")
            listed = f", {few(names)}" if names else ""
            raise InvalidData(
                f"an observation has {wanted}; beside the key there are {number_of(len(names), 'column')}{listed}: keep"
                ' the right ones, such as as_source(rows).only(["patient", "x"])'
            )
        return [Variable(name) if self.symbols is None else Variable(name, self.symbols) for name in names]

    def state_variable(self, name: str) -> Variable:
        if self.states is None:
            raise InvalidData(f"this model takes no labels of states; leave `states={name!r}` out")
        return Variable(name, self.states)

    def stack(self, columns: Sequence[np.ndarray], num_rows: int) -> np.ndarray:
        """(row, *event): codes of labels as whole numbers where none is missing, all else as floats."""
        rows = np.stack(columns, axis=1) if len(columns) > 1 else columns[0]
        if self.symbols is not None:
            return rows.astype(np.int64) if (rows >= 0).all() else np.where(rows < 0, np.nan, rows)
        return rows.reshape(num_rows, *self.event_shape)


def as_key(name: Any, option: str) -> str:
    if not isinstance(name, str):
        raise InvalidData(f"`{option}` is the name of a column; got {shown(name)}")
    return name


def as_table_source(data: Any) -> TableSource:
    """Rows of any kind as tables that are not coded yet; rows in memory are one table."""
    if isinstance(data, TableSource):
        return data
    if is_source(data):
        return TableSource(BlockTables(data))
    return TableSource(as_reader(data, None, None) or WholeTable(data))


class WholeTable:
    """The one table of rows in memory."""

    def __init__(self, data: Any) -> None:
        self.table: Table = as_table(data)
        self.weights = data.weights if isinstance(data, Dataset) else None
        self.names, self.num_rows = tuple(self.table.cells), self.table.num_rows

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        cells = {name: self.table.cells[name] for name in names}
        yield SourceTable(cells, self.num_rows, Origin(), self.weights)


class BlockTables:
    """The blocks of a source as tables."""

    def __init__(self, source: RowSource) -> None:
        self.source, self.names = source, source.names

    @property
    def num_rows(self) -> int | None:
        return self.source.num_rows

    def tables(self, names: Sequence[str]) -> Iterator[SourceTable]:
        for rows, origin in self.source.only(names).blocks():
            yield SourceTable(as_table(rows).only(names).cells, len(rows), origin, rows.weights)


class SeenKeys:
    """The hashes (64 bits) of keys, in sorted arrays, each of which is larger than the next."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def add(self, keys: Sequence[Any]) -> int | None:
        """Remember further keys; the position of the first that came before, or None."""
        hashes = np.array([hash((key,)) for key in keys], np.int64)
        known = np.zeros(len(hashes), bool)
        for array in self.arrays:
            known |= array[np.minimum(np.searchsorted(array, hashes), len(array) - 1)] == hashes
        if known.any():
            return int(np.argmax(known))
        if len(hashes):
            self._merge(np.sort(hashes))
        return None

    def _merge(self, hashes: np.ndarray) -> None:
        while self.arrays and len(self.arrays[-1]) <= len(hashes):
            hashes = np.sort(np.concatenate([self.arrays.pop(), hashes]))
        self.arrays.append(hashes)
