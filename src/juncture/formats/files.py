"""`read` and `write`: models from and to files, by suffix."""

from __future__ import annotations

import errno
import gzip
import importlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

from juncture.checks import check_path
from juncture.errors import FormatError, hint, warn_user
from juncture.formats.rows import RowRepair

MAX_BYTES = 2**30
PIECE = 2**20
MAX_UNPACKED, MAX_RATIO = 2**26, 200  # a small gzip file can stand for a thousand times its size


class Format(NamedTuple):
    """A format's name; its module has `read_<name>` and `write_<name>`, loaded when needed."""

    name: str
    suffixes: tuple[str, ...]

    def reader(self) -> Callable[[bytes, RowRepair], Any]:
        return getattr(self._module(), f"read_{self.name}")  # type: ignore[no-any-return]

    def writer(self) -> Callable[[Any], str]:
        return getattr(self._module(), f"write_{self.name}")  # type: ignore[no-any-return]

    def _module(self) -> Any:
        return importlib.import_module(f"juncture.formats.{self.name}")


FORMATS = (
    Format("bif", (".bif",)),
    Format("xmlbif", (".xmlbif", ".bifxml")),
    Format("uai", (".uai",)),
    Format("net", (".net",)),
    Format("xdsl", (".xdsl",)),
    Format("json", (".json",)),
)


def read(path: str | os.PathLike[str]) -> Any:
    """The model in a file; the suffix tells the format, and `.gz` after it that it is compressed."""
    path = check_path(path)
    file_format = format_of(path)
    rows = RowRepair()
    data = read_bytes(path)
    try:
        model = file_format.reader()(data, rows)
    except FormatError as error:
        raise error.in_file(str(path)) from error
    rows.warn(str(path))
    return model


def write(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model so that reading it gives the same bits; the suffix tells the format.

    The file appears whole or not at all.
    """
    path = check_path(path)
    try:
        data = format_of(path).writer()(model).encode("utf-8")
    except FormatError as error:
        raise error.in_file(str(path)) from error
    except UnicodeEncodeError as error:
        raise FormatError(
            f"a name or label is not valid text: {error.object[error.start : error.end]!r}", file=str(path)
        ) from error
    write_bytes(path, data)


def format_of(path: Path) -> Format:
    name = path.name.lower().removesuffix(".gz")
    for file_format in FORMATS:
        if name.endswith(file_format.suffixes):
            return file_format
    known = [suffix for file_format in FORMATS for suffix in file_format.suffixes]
    raise FormatError(
        f"the suffix {Path(name).suffix!r} names no format; {hint(Path(name).suffix, known)}", file=str(path)
    )


def read_bytes(path: Path) -> bytes:
    """A file's content, unpacked if its name ends in .gz; more than the limits allow is refused."""
    with path.open("rb") as stream:
        if not is_packed(path):
            return read_at_most(MAX_BYTES, stream, path)
        limit = min(MAX_BYTES, max(MAX_UNPACKED, MAX_RATIO * path.stat().st_size))
        try:
            return read_at_most(limit, gzip.GzipFile(fileobj=stream), path)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(f"the file is not a complete gzip file: {error}", file=str(path)) from error


def read_at_most(limit: int, stream: IO[bytes] | gzip.GzipFile, path: Path) -> bytes:
    """All of a stream, piece by piece, since asking for the limit at once would allocate it."""
    data = bytearray()
    while len(data) <= limit:
        piece = stream.read(PIECE)
        if not piece:
            return bytes(data)
        data += piece
    raise FormatError(f"the file holds more than {limit:,} bytes, the most that is read", file=str(path))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, packed if its name ends in .gz; it appears whole or not at all."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(path.parent))
    unfinished = path.with_name(f".{path.name[:200]}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(gzip.compress(data, mtime=0) if is_packed(path) else data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def decode(data: bytes) -> str:
    """UTF-8 text, with or without a byte order mark; anything else is refused with the line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("the file is not UTF-8 text; save it in that encoding", line=line) from error


def warn_of_loss(losses: list[str], format_name: str) -> None:
    """One warning that names everything a format could not keep."""
    if losses:
        warn_user(f"{format_name} cannot express all of this model: {'; '.join(losses)}", UserWarning)
