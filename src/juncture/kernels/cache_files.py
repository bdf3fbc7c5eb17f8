"""The files of compiled kernels: every file carries a digest, so that a damaged file is never run.

A file consists of a mark, a digest of its purpose (versions, sources, signature), a digest of its content, and the
content. A file of another purpose is out of date and ignored; a damaged file is ignored, and the log says so. In both
cases the kernel is compiled again and the file replaced.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.serialize import dumps

LOG = logging.getLogger("juncture")
MARK = b"juncture kernel 1\n"
DIGEST_BYTES = 16
HEAD_BYTES = len(MARK) + 2 * DIGEST_BYTES


class CheckedCacheFile(IndexDataCacheFile):
    """An index of signatures, and a file of machine code for each."""

    def load(self, key: Any) -> Any:
        """The compiled code for a signature, or None."""
        name = self._load_index().get(key)
        return None if name is None else self._read(self._data_path(name), repr(key))

    def save(self, key: Any, data: Any) -> None:
        """Write the compiled code first, then the index that names it."""
        overloads = self._load_index()
        taken = set(overloads.values())
        name = overloads.get(key) or next(name for i in count(1) if (name := self._data_name(i)) not in taken)
        self._write(self._data_path(name), repr(key), data)
        self._save_index({**overloads, key: name})

    def _load_index(self) -> dict[Any, str]:
        return self._read(self._index_path, "index") or {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, "index", overloads)

    def _read(self, path: str, purpose: str) -> Any:
        try:
            content = Path(path).read_bytes()
        except FileNotFoundError:
            return None
        head, data = content[:HEAD_BYTES], content[HEAD_BYTES:]
        right_head = self._head(purpose, data)
        if head == right_head:
            return pickle.loads(data)  # noqa: S301  written by this class: the digest is right
        if MARK.startswith(head) or head[:-DIGEST_BYTES] == right_head[: len(head)][:-DIGEST_BYTES]:
            warn_of_damaged_cache(self._cache_path)
        return None

    def _write(self, path: str, purpose: str, value: Any) -> None:
        data = dumps(value)
        with self._open_for_write(path) as file:
            file.write(self._head(purpose, data) + data)

    def _head(self, purpose: str, data: bytes) -> bytes:
        subject = f"{self._version} {self._source_stamp} {purpose}".encode()
        return MARK + b"".join(blake2b(part, digest_size=DIGEST_BYTES).digest() for part in (subject, data))


@contextmanager
def without_disk_errors() -> Iterator[None]:
    """Compile what cannot be read, and do not keep what cannot be written; one line in the log says so."""
    try:
        yield
    except OSError:
        warn_of_missing_cache()


# Logged, not warned: where warnings are errors, a disk without space must not make a query fail.


@cache
def warn_of_damaged_cache(folder: str) -> None:
    LOG.warning("the cache of compiled kernels in %s is damaged; what cannot be read is compiled again", folder)


@cache
def warn_of_missing_cache() -> None:
    problem = "compiled kernels cannot be kept on disk, and each process compiles anew"
    LOG.warning("%s: set NUMBA_CACHE_DIR to a writable folder, or run `juncture warmup` where one is writable", problem)
