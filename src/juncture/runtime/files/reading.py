"""Files read within limits: endless files are not opened, and a small file cannot unpack to an endless one.

Regular files, pipes and terminals are read; devices and sockets are refused. A file named `.gz` is unpacked piece by
piece, to at most 200 times its size (or 64 MiB, if that is more).
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO

from juncture.errors import FormatError

MAX_BYTES = 2**30  # of a file that is read into memory as a whole
PIECE = 2**20
MAX_UNPACKED, MAX_RATIO = 2**26, 200  # a small gzip file can stand for a thousand times its size
MAX_NAMES = 10_000  # of a folder, among which a similar one is looked for
PACKING_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)


def is_gzip(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == ".gz"


def file_not_found(path: str | os.PathLike[str], advice: str = "") -> FileNotFoundError:
    """The error of a file that does not exist, with a similar name of the same folder, or else with advice."""
    folder = Path(path).parent
    if Path(path).is_symlink():
        return FileNotFoundError(errno.ENOENT, "this is a link that leads to no file", str(path))
    if not folder.is_dir():
        return FileNotFoundError(errno.ENOENT, f"there is no folder {str(folder)!r}", str(path))
    entries = islice(os.scandir(folder), MAX_NAMES) if os.access(folder, os.R_OK) else ()
    names = {Path(entry.name).stem.lower(): entry.name for entry in entries}  # suffixes look all alike
    close = get_close_matches(Path(path).stem.lower(), sorted(names), n=1)
    advice = f"did you mean {names[close[0]]!r}?" if close else advice
    reason = os.strerror(errno.ENOENT)
    return FileNotFoundError(errno.ENOENT, f"{reason}; {advice}" if advice else reason, str(path))


@contextmanager
def open_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The bytes of a file as they are; what is neither a regular file nor a pipe nor a terminal is refused."""
    with Path(path).open("rb") as stream:
        kind = os.fstat(stream.fileno()).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind) or stream.isatty()):
            raise FormatError(
                "the file is a device, which may never end; give a regular file or a pipe", file=str(path)
            )
        yield stream


def stat_regular_file(path: str | os.PathLike[str]) -> os.stat_result:
    """The state of a file that can be read several times; folders, devices and pipes are refused."""
    found = Path(path).stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        what = "a pipe, which is read once" if stat.S_ISFIFO(found.st_mode) else "a device, which may never end"
        raise FormatError(f"the file is {what}; give a regular file", file=str(path))
    return found


@contextmanager
def open_decompressed(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if its name ends in .gz; what is damaged or unpacks to too much is refused."""
    with open_file(path) as stream:
        if not is_gzip(path):
            yield stream
            return
        limit = max(MAX_UNPACKED, MAX_RATIO * os.fstat(stream.fileno()).st_size)
        try:
            yield io.BufferedReader(BoundedGzip(gzip.GzipFile(fileobj=stream), limit, str(path)), PIECE)
        except PACKING_ERRORS as error:
            raise FormatError(f"the file is not a complete gzip file: {error}", file=str(path)) from error


def check_decompressed_size(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is damaged or unpacks to too much before anything is made of its content.

    Unpacking is many times faster than parsing; a pipe, which can be read only once, is left alone.
    """
    if is_gzip(path) and Path(path).is_file():
        with open_decompressed(path) as stream:
            while stream.read(PIECE):
                pass


class BoundedGzip(io.RawIOBase):
    """What a gzip file unpacks to, up to a limit."""

    def __init__(self, source: gzip.GzipFile, limit: int, file: str) -> None:
        self.source, self.limit, self.file, self.count = source, limit, file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        piece = self.source.read(min(len(buffer), PIECE))
        self.count += len(piece)
        if self.count > self.limit:
            raise FormatError(
                f"the file decompresses to more than {self.limit:,} bytes, the limit; decompress it first",
                file=self.file,
            )
        buffer[: len(piece)] = piece
        return len(piece)


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """A file's content, unpacked if its name ends in .gz; more than the limits allow is refused."""
    with open_decompressed(path) as stream:
        if Path(path).stat().st_size > limit:
            raise too_long(limit, str(path))
        return read_at_most(limit, stream, str(path))


def read_at_most(limit: int, stream: IO[bytes], file: str) -> bytes:
    """All of a stream, piece by piece, since asking for the limit at once would allocate it."""
    data = bytearray()
    while len(data) <= limit:
        piece = stream.read(PIECE)
        if not piece:
            return bytes(data)
        data += piece
    raise too_long(limit, file)


def too_long(limit: int, file: str) -> FormatError:
    return FormatError(f"the file has more than {limit:,} bytes, which is the limit", file=file)
