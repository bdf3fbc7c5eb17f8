"""PyArrow datasets: files in folders or buckets that PyArrow finds, filters and reads as record batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from juncture.data.sources.arrow import arrow_errors
from juncture.data.sources.tables import FileState
from juncture.data.tables.export import import_package

AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}  # batches and files that are decoded before they are needed


class DatasetBatches:
    """The record batches of a PyArrow dataset, file after file."""

    name, is_once = "the PyArrow dataset", False

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.names, self.states = dataset, dataset.schema.names, file_states(dataset)

    @contextmanager
    def start_pass(self, names: Sequence[str], block_rows: int) -> Iterator[Any]:
        for file, state in self.states.items():
            state.check_unchanged(file)
        with arrow_errors(self.name):
            scanner = self.dataset.scanner(columns=list(names), batch_size=block_rows, **AHEAD)
            yield Batches(scanner.projected_schema, scanner.to_batches())


@dataclass(frozen=True)
class Batches:
    """Record batches and their schema, known before the first of them."""

    schema: Any
    batches: Any

    def __iter__(self) -> Iterator[Any]:
        return iter(self.batches)


def file_states(dataset: Any) -> dict[str, FileState]:
    """The local files of a dataset, as they are now."""
    local = import_package("pyarrow.fs", "arrow").LocalFileSystem
    if not isinstance(getattr(dataset, "filesystem", None), local):
        return {}
    return {file: FileState.of(file) for file in dataset.files}
