"""`CodedCopy`: distinct rows of a source as small codes, written once and read at each pass.

Reading codes again costs a small part of decoding and coding a file again. The copy stays in memory while it is small,
then it is a temporary file without a name, which the system removes with the process.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import partial
from tempfile import SpooledTemporaryFile, gettempdir
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from juncture.data.sources.contract import Block, RowSource, map_blocks
from juncture.errors import TooLarge
from juncture.learning.networks.expectation import merge_equal_rows
from juncture.runtime import parallel
from juncture.runtime.parallel import blocks_of

IN_MEMORY = 2**27  # bytes
CHUNK = 2**15  # rows that are read at a time


class Chunk(NamedTuple):
    """Some rows: their codes (variable, row), -1 for holes, and their weights."""

    codes: np.ndarray
    weights: np.ndarray


Result = TypeVar("Result")


class Passes(Protocol):
    """Rows that can be passed as often as is needed."""

    @property
    def num_rows(self) -> int: ...

    @property
    def has_whole_weights(self) -> bool:
        """Whether the weights are whole numbers, whose sum in each chunk 32 bits hold."""

    def map(self, function: Callable[[Chunk], Result]) -> Iterator[Result]:
        """`function` of each chunk, in order."""


class CodedCopy:
    """Rows as codes with weights, in the order in which they were added."""

    def __init__(self, num_columns: int, code_type: np.dtype) -> None:
        self.num_columns, self.code_type = num_columns, np.dtype(code_type)
        self.lengths: list[int] = []
        self.num_rows, self.has_whole_weights = 0, True
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed when the copy is forgotten)
        weakref.finalize(self, self._file.close)

    def append(self, codes: np.ndarray, weights: np.ndarray) -> None:
        """Add the rows of codes (variable, row)."""
        for rows in blocks_of(codes.shape[1], CHUNK):
            part = np.ascontiguousarray(codes[:, rows], dtype=self.code_type)
            try:
                self._file.write(part.tobytes() + np.ascontiguousarray(weights[rows], np.float64).tobytes())
            except OSError as error:
                raise TooLarge(
                    f"the distinct rows of the source do not fit into the folder of temporary files, {gettempdir()}"
                    f" ({error}): make room there, set TMPDIR to another folder, or learn from fewer rows or columns"
                ) from error
            self.lengths.append(part.shape[1])
            self.num_rows += part.shape[1]
            self.has_whole_weights &= are_whole(weights[rows])

    def map(self, function: Callable[[Chunk], Result]) -> Iterator[Result]:
        """`function` of each chunk, in order, on all threads."""
        return parallel.map_stream(function, self.chunks())

    def chunks(self) -> Iterator[Chunk]:
        """The rows from the first to the last."""
        self._file.seek(0)
        for length in self.lengths:
            cells = self.num_columns * length
            codes = np.frombuffer(self._file.read(cells * self.code_type.itemsize), self.code_type)
            weights = np.frombuffer(self._file.read(8 * length), np.float64)
            yield Chunk(codes.reshape(self.num_columns, length), weights)


class ClusterRows:
    """The rows of a source that lie on a cluster: functions go to its blocks, and only their results come back."""

    def __init__(self, source: RowSource, num_rows: int, has_whole_weights: bool) -> None:
        self.source, self.num_rows, self.has_whole_weights = source, num_rows, has_whole_weights

    def map(self, function: Callable[[Chunk], Result]) -> Iterator[Result]:
        return map_blocks(partial(apply_to_block, function), self.source)


def apply_to_block(function: Callable[[Chunk], Result], block: Block) -> Result:
    rows, weights = merge_equal_rows(block.rows)
    return function(Chunk(np.stack(rows.arrays), weights))


def are_whole(weights: np.ndarray) -> bool:
    """Whether weights are whole numbers, whose sums 32 bits hold."""
    return bool((weights == np.rint(weights)).all() and weights.sum() < 2**31)
