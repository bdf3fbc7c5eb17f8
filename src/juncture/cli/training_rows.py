"""The rows that `juncture learn` learns a network from: in memory, or, of large files and folders, counted in passes.

Passes take flat memory, and Ctrl-C keeps a graph. Notes name the columns that look like another kind than they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple, TypeVar

from juncture.cli.printing.output import print_note
from juncture.cli.printing.progress import PassBar, WatchedSource, show_passes, show_progress
from juncture.cli.reading.row_files import name_source, note_identifiers, note_text_columns, read_table
from juncture.data.column_kinds import Summary, are_many_numbers
from juncture.data.dataset import Dataset
from juncture.data.discretization import Discretizer
from juncture.data.sources.contract import RowSource
from juncture.data.sources.entries import as_source
from juncture.errors import InvalidData, TextColumnWarning, Unsupported, hint
from juncture.learning.fit import Fit
from juncture.learning.structure.data import Cases, read_cases, total_weight
from juncture.learning.structure.forecast import forecast
from juncture.learning.structure.learn import resolve_search, search
from juncture.learning.structure.searches.combined import SearchResult
from juncture.learning.structure.streamed.coded_copy import Chunk, Passes
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.variables import Variable
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
    rows: str, ignore: Sequence[str], real: Sequence[str], bins: int | None, missing: Sequence[str]
) -> Training:
    """The rows of large files: distinct ones in memory, or a copy of them to be counted in passes."""
    if bins is not None:
        raise Unsupported(
            f"--bins cuts numbers of rows in memory, and {rows} is read block by block: write the intervals to the"
            " files first, or give --bins a file with a sample of the rows"
        )
    source = as_source(rows, missing=list(missing) or None)
    for option, names in (("--ignore", ignore), ("--real", real)):
        for name in names:
            if name not in source.names:
                raise InvalidData(f"{option}: {rows} has no column {name!r}; {hint(name, source.names)}")
    source = source.only([name for name in source.names if name not in ignore])
    if real:
        source = source.coded([Variable(one.name) if one.name in real else one for one in source.variables])
    with show_passes(f"reading {rows}", "score", source.num_rows) as bar:
        data = read_cases(watch(source, bar), None, None)
    note_whole_numbers(data.variables)
    if isinstance(data, Dataset):
        note_identifiers(data)
    return Training(rows, data, source)


def read_training_rows(
    rows: str, ignore: Sequence[str], real: Sequence[str], bins: int | None, **options: Any
) -> Dataset:
    """The columns with the states that they show; `real` ones as numbers, and numbers in `bins` if they are given."""
    cells = read_table(rows, ignore)
    if not len(cells):
        raise InvalidData(f"{name_source(rows)} has no rows to learn from")
    for name in real:
        if name not in cells.cells:
            raise InvalidData(f"--real: {name_source(rows)} has no column {name!r}; {hint(name, cells.cells)}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextColumnWarning)  # a note names the columns, and the option
        data = Dataset(cells, **options)
    note_text_columns(data)
    if real:
        data = Dataset(cells, [Variable(one.name) if one.name in real else one for one in data.variables], **options)
    data = data if bins is None else Discretizer(bins).fit(data).transform(data)
    note_whole_numbers(data.variables)
    note_identifiers(data)
    return data


def note_whole_numbers(variables: Sequence[Variable]) -> None:
    """Tell of columns whose many whole numbers became states, beside columns of real numbers."""
    with_states = [variable for variable in variables if not variable.is_real]
    if len(with_states) == len(variables):
        return
    for variable in with_states:
        if are_many_numbers(Summary(variable.labels)):
            print_note(
                f"note: the {variable.num_states:,} whole numbers of {variable.name!r} are states;"
                f" --real {quote(variable.name)} takes them as real-valued"
            )
