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
from typing import BinaryIO, TextIO

from juncture.files.reading import is_gzip

DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
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
    with Path(path).open("wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb") as stream:
        yield stream


@contextmanager
def open_beside(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file in the folder of the target, renamed to it when the block ends well and removed when not."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(target.parent))
    descriptor, unfinished = create_beside(target)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            copy_permissions(target, descriptor)
            yield stream
            stream.flush()
            os.fsync(descriptor)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


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
