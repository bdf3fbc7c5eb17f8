"""The numbers of a UAI file, taken from the front; an error gives the line.

A UAI file is an optional word, then numbers between spaces; lines have no meaning. The numbers are converted in bulk;
the line of a number is looked up only when the number is wrong. Lines that begin with a lone "c" are comments, and so
is the rest of a line after "#".
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import numpy as np

from juncture.errors import FormatError, InvalidModel

CHUNK = 2**20
COMMENT = re.compile(rb"^c(?:[ \t][^\n]*)?$", re.MULTILINE)
REMARK = re.compile(rb"#[^\n]*")
WORD = re.compile(rb"\S+")
SPACE = re.compile(rb"\s")
IN_NUMBERS = b"0123456789+-.eE \t\r\n\v\f"
INFINITE = b"inf"
SHOWN = 30


def blank_comments(data: bytes) -> bytes:
    """The bytes with comments blanked, line by line, and without a byte order mark."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    data = REMARK.sub(b"", data) if b"#" in data else data
    return COMMENT.sub(b"", data) if data.startswith(b"c") or b"\nc" in data else data


def first_word(data: bytes) -> tuple[str, int]:
    """The first word, as far as it can be shown, and where it ends."""
    match = WORD.search(data)
    return (match[0][:SHOWN].decode("ascii", "replace"), match.end()) if match else ("", len(data))


class NumberReader:
    """All numbers from `start` to the end of the file; `at` is the position of the next number to take."""

    def __init__(self, data: bytes, start: int = 0, *, letters: bytes = b"") -> None:
        self.data = data
        self.at = 0
        self._chunks: list[tuple[int, int]] = []  # for each chunk its first number and its offset
        pieces = list(self._convert(start, IN_NUMBERS + letters))
        self.values = np.concatenate(pieces) if pieces else np.zeros(0)

    def _convert(self, start: int, allowed: bytes) -> Iterator[np.ndarray]:
        count = 0
        while start < len(self.data):
            space = SPACE.search(self.data, start + CHUNK)
            end = space.start() if space else len(self.data)
            piece = self.data[start:end]
            self._chunks.append((count, start))
            if piece.translate(None, allowed):
                raise self._bad_word(piece, start, allowed)
            try:
                values = np.array([float(word) for word in piece.split()])
            except ValueError:
                raise self._bad_word(piece, start, allowed) from None
            yield values
            count, start = count + len(values), end

    def _bad_word(self, piece: bytes, start: int, allowed: bytes) -> FormatError:
        match = next(match for match in WORD.finditer(piece) if not is_number(match[0], allowed))
        line = self.data.count(b"\n", 0, start + match.start()) + 1
        return FormatError(f"expected a number, found {match[0][:SHOWN].decode('ascii', 'replace')!r}", line=line)

    # --- refusing --------------------------------------------------------------------------------------------------

    def error(self, message: str, at: int | None = None) -> FormatError:
        """An error at the line of a number; by default the one that was taken last."""
        return FormatError(message, line=self._line(max(self.at - 1, 0) if at is None else at))

    def _line(self, at: int) -> int:
        if not self.values.size:
            return self.data.count(b"\n") + 1
        at = min(at, self.values.size - 1)
        first, start = self._chunks[bisect_right(self._chunks, at, key=lambda chunk: chunk[0]) - 1]
        match = next(islice(WORD.finditer(self.data, start), at - first, None))
        return self.data.count(b"\n", 0, match.start()) + 1

    @contextmanager
    def locate_errors(self, at: int) -> Iterator[None]:
        """Errors inside the block get the line of this number."""
        try:
            yield
        except InvalidModel as error:
            raise self.error(str(error), at) from error
        except FormatError as error:
            raise self.error(error.message, at) from error

    def check(self, good: np.ndarray, rule: str) -> None:
        """Every number must be good."""
        if not good.all():
            at = int(np.argmin(good))
            raise self.error(f"found {self.values[at]:g}; {rule}", at)

    # --- taking ----------------------------------------------------------------------------------------------------

    @property
    def remaining(self) -> int:
        return self.values.size - self.at

    def take(self, count: int, what: str) -> np.ndarray:
        """The next `count` numbers."""
        if count > self.remaining:
            raise self.error(
                f"the file ends too early: {what} takes {count:,} numbers, and {self.remaining:,} are left"
            )
        self.at += count
        return self.values[self.at - count : self.at]

    def take_whole(self, count: int, what: str, *, least: int = 0, below: int | None = None) -> list[int]:
        """The next `count` numbers, which are whole, not less than `least`, and less than `below`."""
        start = self.at
        values = self.take(count, what).tolist()
        end = 2**53 if below is None else below
        for index, value in enumerate(values):  # mostly few, where a loop is faster than arrays
            if not (least <= value < end and value.is_integer()):
                limit = "" if below is None else f" and at most {below - 1}"
                rule = f"{what} must be a whole number, at least {least}{limit}"
                raise self.error(f"{rule}; found {value:g}", start + index)
        return list(map(int, values))

    def take_count(self, what: str, *, least: int = 0, below: int | None = None) -> int:
        return self.take_whole(1, what, least=least, below=below)[0]

    def finish(self) -> None:
        """All numbers must have been taken."""
        if self.remaining:
            raise self.error(f"expected the end of the file, found {self.remaining:,} more numbers", self.at)


def is_number(word: bytes, allowed: bytes) -> bool:
    if word.translate(None, allowed):
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True
