"""Files written whole or not at all.

The content goes to a new file beside the target, which takes the target's place when all of it is on the disk; an
error or an interruption leaves the target as it was. A link keeps pointing to the file that it points to, and a
replaced file keeps its permissions. Pipes, devices and open descriptors (`/dev/stdout`) are written as they are.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from juncture.runtime.files.reading import is_gzip

DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
TRIED = 4096  # bytes that are written to see whether there is room
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, packed if its name ends in .gz; the file appears whole or not at all."""
    with replace_file(path) as stream:
        stream.write(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


@contextmanager
def replace_text_file(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """As `replace_file`, for text in UTF-8 whose line ends stay as they are."""
    with replace_file(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # which flushes


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


def is_written_in_place(path: str | os.PathLike[str]) -> bool:
    """Whether the path names a pipe, a device or an open descriptor, which have no content to keep."""
    if descriptor_of(path) is not None:
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 (a link is followed)
    except FileNotFoundError:
        return False


def descriptor_of(path: str | os.PathLike[str]) -> int | None:
    name = os.fspath(path)
    found = DESCRIPTOR.fullmatch(name)
    return int(found[1]) if found else STANDARD.get(name)


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


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise, before long work, what writing its result would raise: of a folder, a read-only place or a full disk."""
    if not is_written_in_place(path):
        with open_beside(path, is_kept=False) as stream:
            stream.write(bytes(TRIED))
    elif descriptor_of(path) is None and Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; give the name of a file", os.fspath(path))


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


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the operating system inside the block name this path, not that of an unfinished file or none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def create_beside(target: Path) -> tuple[int, Path]:
    """A new file with a random name; a file that exists already is never opened."""
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
