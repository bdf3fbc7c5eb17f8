"""The rows that `juncture learn` learns a network from: in memory, or, of large files and folders, counted in passes.

Passes take flat memory, and Ctrl-C keeps a graph. Notes name the columns that look like another kind than they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from juncture.cli.printing.output import print_note
from juncture.cli.printing.progress import PassBar, WatchedSource, show_passes, show_progress
from juncture.cli.reading.row_files import (
    check_options,
    findings_without,
    name_source,
    note_findings,
    note_left_out,
    quiet,
    read_table,
    read_usable_rows,
)
from juncture.data.column_kinds import explain_left_out
from juncture.data.dataset import Dataset
from juncture.data.discretization import Discretizer
from juncture.data.sources.contract import RowSource
from juncture.data.sources.entries import as_source
from juncture.errors import InvalidData, Unsupported, hint, hold_warnings
from juncture.learning.fit import Fit
from juncture.learning.structure.data import Cases, read_cases, total_weight
from juncture.learning.structure.forecast import forecast
from juncture.learning.structure.learn import resolve_search, search
from juncture.learning.structure.searches.combined import SearchResult
from juncture.learning.structure.streamed.coded_copy import Chunk, Passes
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.verbs import fit

Result = TypeVar("Result")


class Training(NamedTuple):
    """What a network is learned from: the rows of the search, and the source that the parameters are counted from."""

    name: str
    rows: Cases
    source: RowSource | None = None

    @property
    def num_rows(self) -> int:
        return len(self.rows) if self.source is None else round(total_weight(self.rows))

    def search(self, method: str, seed: int, options: Mapping[str, Any]) -> SearchResult:
        """The graph; past memory, where the search is interrupted, that of its last run by estimates."""
        if not isinstance(self.rows, StreamedRows):
            ahead = forecast(resolve_search(method, dict(options)), self.rows)
            if ahead is not None:
                print_note(f"note: {ahead.text('--score node-average')}")
            with show_progress(f"learning from {self.num_rows:,} rows", "score") as progress:
                return search(self.rows, method, rng=seed, progress=progress, **options)
        try:
            with self._show("counting") as bar:
                self.rows.copy = self.rows.copy if bar is None else WatchedPasses(self.rows.copy, bar)
                return search(self.rows, method, rng=seed, **options)
        except KeyboardInterrupt:
            if self.rows.estimate is None:
                raise
            print_note(
                f"note: interrupted in pass {self.rows.num_passes + 1}: the graph so far is kept, some of whose"
                f" families were scored on a sample of {len(self.rows.sample):,} rows; its parameters take one more"
                " pass, which another Ctrl-C ends"
            )
            found: SearchResult = self.rows.estimate
            return found

    def fit(self, graph: Any, prior: float | None) -> Fit[Any]:
        """The parameters: rows past memory are counted once more."""
        if self.source is None or isinstance(self.rows, Dataset):
            return fit(graph, self.rows, prior=prior, rng=0)
        with self._show("learning parameters from") as bar:
            return fit(graph, watch(self.source, bar), prior=prior, rng=0)

    def _show(self, what: str) -> AbstractContextManager[PassBar | None]:
        return show_passes(f"{what} {self.name}", "score", self.num_rows)


def watch(source: RowSource, bar: PassBar | None) -> RowSource:
    return source if bar is None else WatchedSource(source, bar.begin, bar.watch)


@dataclass(frozen=True, eq=False)
class WatchedPasses:
    """The same passes over rows; a bar shows the weight of the rows that were counted."""

    passes: Passes
    bar: PassBar

    @property
    def num_rows(self) -> int:
        return self.passes.num_rows

    @property
    def has_whole_weights(self) -> bool:
        return self.passes.has_whole_weights

    def map(self, function: Callable[[Chunk], Result]) -> Iterator[Result]:
        def count(chunk: Chunk) -> Result:
            found = function(chunk)
            self.bar.watch(round(float(chunk.weights.sum())))
            return found

        self.bar.begin()
        return self.passes.map(count)


def read_blocks(
    rows: str,
    ignore: Sequence[str],
    bins: int | None,
    missing: Sequence[str],
    *,
    real: Sequence[str],
    states: Sequence[str],
    keep: Sequence[str],
    named: Sequence[str],
) -> Training:
    """The rows of large files: distinct ones in memory, or a copy of them to be counted in passes."""
    if bins is not None:
        raise Unsupported(
            f"--bins cuts numbers of rows in memory, and {rows} is read block by block: write the intervals to the"
            " files first, or give --bins a file with a sample of the rows"
        )
    with hold_warnings() as held:
        source = as_source(rows, missing=list(missing) or None)
        names = source.names
    for warning in held:
        print_note(f"note: {warning.message}")
    for name in ignore:
        if name not in names:
            raise InvalidData(f"--ignore: {rows} has no column {name!r}; {hint(name, names)}")
    check_options(names, rows, real=real, states=states, keep=keep)
    with quiet():
        source = as_source(rows, missing=list(missing) or None, real=real, states=states)
        source = source.only([name for name in source.names if name not in ignore])
        with show_passes(f"reading {rows}", "score", source.num_rows) as bar:
            data = read_cases(watch(source, bar), None, None)
    left_out = {}
    if isinstance(data, Dataset):
        left_out = explain_left_out(data, {*keep, *named, *real, *states})
        data = data.only(name for name in data.columns if name not in left_out)
        source = source.only(data.columns)
    note_findings(findings_without(getattr(source, "findings", ()), left_out))
    note_left_out(left_out, rows, data.variables)
    return Training(rows, data, source)


def read_training_rows(
    rows: str,
    ignore: Sequence[str],
    bins: int | None,
    *,
    real: Sequence[str],
    states: Sequence[str],
    keep: Sequence[str],
    named: Sequence[str],
    **options: Any,
) -> Dataset:
    """The columns of the kinds that they show, without those of which nothing is learned; numbers in `bins` if given.

    Columns that other options name are kept.
    """
    cells = read_table(rows, ignore)
    if not len(cells):
        raise InvalidData(f"{name_source(rows)} has no rows to learn from")
    data = read_usable_rows(cells, rows, real=real, states=states, keep=keep, named=named, **options)
    if bins is None:
        return data
    kept = [one.name for one in data.variables if one.name in {*real, *states}]
    cut = data.only(name for name in data.columns if name not in kept)
    return join_columns(data, Discretizer(bins).fit(cut).transform(cut), kept)


def join_columns(data: Dataset, cut: Dataset, kept: Sequence[str]) -> Dataset:
    """The columns of the rows in their order: those that were kept, and the others as they were cut."""
    parts = {variable.name: variable for variable in (*data.only(kept).variables, *cut.variables)}
    columns = {name: (data if name in kept else cut).columns[name] for name in data.columns}
    return Dataset.from_codes([parts[name] for name in columns], columns, data.weights)
