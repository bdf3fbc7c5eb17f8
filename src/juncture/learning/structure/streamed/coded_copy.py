"""`CodedCopy`: distinct rows of a source as small codes, written once and read at each pass.

Reading codes again costs a small part of decoding and coding a file again. The copy stays in memory while it is small,
then it is a temporary file without a name, which the system removes with the process.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile, gettempdir
from typing import NamedTuple

import numpy as np

from juncture.errors import TooLarge
from juncture.parallel import blocks_of

IN_MEMORY = 2**27  # bytes
CHUNK = 2**15  # rows that are read at a time


class Chunk(NamedTuple):
    """Some rows: their codes (variable, row), -1 for holes, and their weights."""

    codes: np.ndarray
    weights: np.ndarray


class CodedCopy:
    """Rows as codes with weights, in the order in which they were added."""

    def __init__(self, num_columns: int, code_type: np.dtype) -> None:
        self.num_columns, self.code_type = num_columns, np.dtype(code_type)
        self.lengths: list[int] = []
        self.has_whole_weights = True  # whole, and of a sum in each chunk that 32 bits hold
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed when the copy is forgotten)
        weakref.finalize(self, self._file.close)

    @property
    def num_rows(self) -> int:
        return sum(self.lengths)

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
            own = weights[rows]
            self.has_whole_weights &= bool((own == np.rint(own)).all() and own.sum() < 2**31)

    def chunks(self) -> Iterator[Chunk]:
        """The rows from the first to the last."""
        self._file.seek(0)
        for length in self.lengths:
            cells = self.num_columns * length
            codes = np.frombuffer(self._file.read(cells * self.code_type.itemsize), self.code_type)
            weights = np.frombuffer(self._file.read(8 * length), np.float64)
            yield Chunk(codes.reshape(self.num_columns, length), weights)
