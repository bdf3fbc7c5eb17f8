"""Files as bytes: read within limits, written whole or not at all.

Endless files are not opened, and a small file cannot unpack to an endless one. Regular files, pipes and terminals are
read; devices and sockets are refused. A file named `.gz` is unpacked piece by piece, to at most 200 times its size (or
64 MiB, if that is more).

What is written goes to a new file beside the target, which takes the target's place when all of it is on the disk; an
error or an interruption leaves the target as it was. A link keeps pointing to the file that it points to, and a
replaced file keeps its permissions. Pipes, devices and open descriptors (`/dev/stdout`) are written as they are.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO

from juncture.errors import FormatError

MAX_BYTES = 2**30  # of a file that is read into memory as a whole
PIECE = 2**20
MAX_UNPACKED, MAX_RATIO = 2**26, 200  # a small gzip file can stand for a thousand times its size
MAX_NAMES = 10_000  # of a folder, among which a similar one is looked for
PACKING_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)
DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
TRIED = 4096  # bytes that are written to see whether there is room
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """A file's content, unpacked if its name ends in .gz; more than the limits allow is refused."""
    with open_decompressed(path) as stream:
        if Path(path).stat().st_size > limit:
            raise too_long(limit, str(path))
        return read_at_most(limit, stream, str(path))


def too_long(limit: int, file: str) -> FormatError:
    return FormatError(f"the file has more than {limit:,} bytes, which is the limit", file=file)


def read_at_most(limit: int, stream: IO[bytes], file: str) -> bytes:
    """All of a stream, piece by piece, since asking for the limit at once would allocate it."""
    data = bytearray()
    while len(data) <= limit:
        piece = stream.read(PIECE)
        if not piece:
            return bytes(data)
        data += piece
    raise too_long(limit, file)


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


def is_gzip(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == ".gz"


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


def check_decompressed_size(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is damaged or unpacks to too much before anything is made of its content.

    Unpacking is many times faster than parsing; a pipe, which can be read only once, is left alone.
    """
    if is_gzip(path) and Path(path).is_file():
        with open_decompressed(path) as stream:
            while stream.read(PIECE):
                pass


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


def stat_regular_file(path: str | os.PathLike[str]) -> os.stat_result:
    """The state of a file that can be read several times; folders, devices and pipes are refused."""
    found = Path(path).stat()
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        what = "a pipe, which is read once" if stat.S_ISFIFO(found.st_mode) else "a device, which may never end"
        raise FormatError(f"the file is {what}; give a regular file", file=str(path))
    return found


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, packed if its name ends in .gz; the file appears whole or not at all."""
    with replace_file(path) as stream:
        stream.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream for the content of a file, packed if its name ends in .gz; it replaces the file if the block ends well.

    >>> with replace_file("/dev/null") as stream:
    ...     _ = stream.write(b"no file to replace")
    """
    with open_in_place(path) if is_written_in_place(path) else open_beside(path) as stream:
        if not is_gzip(path):
            yield stream
            return
        with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
            yield packed  # type: ignore[misc]


@contextmanager
def open_in_place(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    descriptor = descriptor_of(path)
    if descriptor is None:
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    else:
        with naming(path):
            descriptor = os.dup(descriptor)
    with NamedFile.open(descriptor, path) as stream:
        yield stream


def descriptor_of(path: str | os.PathLike[str]) -> int | None:
    name = os.fspath(path)
    found = DESCRIPTOR.fullmatch(name)
    return int(found[1]) if found else STANDARD.get(name)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the operating system inside the block name this path, not that of an unfinished file or none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


class NamedFile(io.FileIO):
    """A file whose errors of writing, such as that of a full disk, name the file that the user asked for."""

    user_path: str | os.PathLike[str]

    @classmethod
    def open(cls, descriptor: int, path: str | os.PathLike[str]) -> BinaryIO:
        file = cls(descriptor, "wb")
        file.user_path = path
        return io.BufferedWriter(file)

    def write(self, data: Any, /) -> int:
        with naming(self.user_path):
            return super().write(data)


def is_written_in_place(path: str | os.PathLike[str]) -> bool:
    """Whether the path names a pipe, a device or an open descriptor, which have no content to keep."""
    if descriptor_of(path) is not None:
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 (a link is followed)
    except FileNotFoundError:
        return False


@contextmanager
def open_beside(path: str | os.PathLike[str], *, is_kept: bool = True) -> Iterator[BinaryIO]:
    """A new file in the folder of the target, renamed to it when the block ends well and removed when not."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(target.parent))
    with naming(path):
        descriptor, unfinished = create_beside(target)
    try:
        with NamedFile.open(descriptor, path) as stream:
            copy_permissions(target, descriptor)
            yield stream
            stream.flush()
            with naming(path):
                os.fsync(descriptor)
        if is_kept:
            with naming(path):
                unfinished.replace(target)
            sync_folder(target.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def create_beside(target: Path) -> tuple[int, Path]:
    """A new file with a random name; a file that exists already is never opened."""
    import secrets

    mode = 0o600 if target.exists() else 0o666  # of which the umask takes some
    while True:
        unfinished = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.unfinished")
        with suppress(FileExistsError):
            return os.open(unfinished, EXCLUSIVE, mode), unfinished


def copy_permissions(target: Path, descriptor: int) -> None:
    """Owner, group and mode of the file to be replaced, if there is one; a file that is read-only is refused."""
    if not target.exists():
        return
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(target))
    old = target.stat()
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def sync_folder(folder: Path) -> None:
    """Make a renaming last, where folders can be synced at all."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def replace_text_file(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """As `replace_file`, for text in UTF-8 whose line ends stay as they are."""
    with replace_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # which flushes


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise, before long work, what writing its result would raise: of a folder, a read-only place or a full disk."""
    if not is_written_in_place(path):
        with open_beside(path, is_kept=False) as stream:
            stream.write(bytes(TRIED))
    elif descriptor_of(path) is None and Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; give the name of a file", os.fspath(path))
