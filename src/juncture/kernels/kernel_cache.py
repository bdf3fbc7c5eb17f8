"""The cache of compiled kernels: in which folders it lies, who compiles, and what is said about it.

Folders are read in order, up to the first that can be written, and new code is kept there: `NUMBA_CACHE_DIR` if that is
set, `__pycache__` beside the source, the cache folder of the user. So a warm cache that is read-only is used. Of the
processes that need the same kernel one compiles it, and the others wait for its file.

No machine code depends on this file: it is no part of `folder_stamp`.
"""

from __future__ import annotations

import gc
import inspect
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import numba.core.config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.typing.templates import signature
from numba.misc.appdirs import AppDirs

from juncture.kernels.cache_files import CheckedCacheFile, warn_of_missing_cache, without_disk_errors

try:
    import fcntl
except ImportError:  # on Windows each process compiles for itself; files are replaced whole, so that is safe
    fcntl = None  # type: ignore[assignment]

numba_config: Any = numba.core.config
LOG = logging.getLogger("juncture")
LOCK_SECONDS = 120.0  # after which a process compiles what another one does not finish
POLL_SECONDS = 0.05


class KernelLocator(_CacheLocator):
    """The folders in which the machine code of one source file may lie; of these the last may be writable."""

    def __init__(self, function: Any) -> None:
        self._py_file, self._line = inspect.getfile(function), function.__code__.co_firstlineno
        self.folders, self.is_writable = find_folders(self._py_file, numba_config.CACHE_DIR)

    def get_cache_path(self) -> str:
        return self.folders[-1]

    def ensure_cache_path(self) -> None:
        if self.is_writable:
            Path(self.folders[-1]).mkdir(parents=True, exist_ok=True)

    def get_source_stamp(self) -> str:
        raise NotImplementedError  # the stamp is that of all sources

    def get_disambiguator(self) -> str:
        return str(self._line)


@cache
def find_folders(file: str, chosen: str) -> tuple[list[str], bool]:
    """The folders to read, and whether the last of them can be written."""
    subpath = KernelLocator.get_suitable_cache_subpath(file)
    places = [str(Path(file).parent / "__pycache__"), str(Path(AppDirs("numba", False).user_cache_dir) / subpath)]
    if chosen:
        places.insert(0, str(Path(chosen) / subpath))
    writable = next((number for number, place in enumerate(places) if can_write(place)), None)
    return (places, False) if writable is None else (places[: writable + 1], True)


@cache
def can_write(folder: str) -> bool:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


class KernelCacheImpl(CompileResultCacheImpl):
    """Where and under which name Numba looks for the code of one kernel."""

    def __init__(self, function: Any) -> None:
        self._locator, self._lineno = KernelLocator(function), function.__code__.co_firstlineno
        name = f"{Path(inspect.getfile(function)).stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class LayeredCacheFile:
    """The files of one kernel in several folders: read from the first that has them, written to the last."""

    def __init__(self, locator: KernelLocator, name: str, stamp: str) -> None:
        self.layers = [CheckedCacheFile(folder, name, stamp) for folder in locator.folders]
        self.is_writable = locator.is_writable

    def load(self, key: Any) -> Any:
        for layer in self.layers:
            with suppress(OSError):  # what cannot be read is compiled
                if (code := layer.load(key)) is not None:
                    return code
        return None

    def save(self, key: Any, code: Any) -> None:
        if self.is_writable:
            self.layers[-1].save(key, code)

    def flush(self) -> None:
        if self.is_writable:
            self.layers[-1].flush()


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, which depends on all sources and survives errors of the disk."""

    def __init__(self, function: Any, stamp: str) -> None:
        self._name, self._py_func, self._impl = repr(function), function, KernelCacheImpl(function)
        self._cache_path = self._impl.locator.get_cache_path()
        self._cache_file: Any = LayeredCacheFile(self._impl.locator, self._impl.filename_base, stamp)
        self.enable()

    def _guard_against_spurious_io_errors(self) -> Any:
        return without_disk_errors()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Do nothing: `compile_once` has kept it, while it held the lock."""

    def keep(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)

    def lock(self) -> Path | None:
        """The file whose lock the process holds that compiles this kernel."""
        return Path(self.cache_path) / f"{self._impl.filename_base}.lock" if self._cache_file.is_writable else None


def keep_on_disk(dispatcher: Any, stamp: str) -> None:
    """Give a kernel a cache, and let only one process at a time compile it."""
    kept = KernelCache(dispatcher.py_func, stamp)
    compile_now, context = dispatcher._compiler.compile, dispatcher.targetctx

    def compile_once(args: Any, return_type: Any) -> Any:
        sig = args if return_type is None else signature(return_type, *args)
        warn_of_compiling() if kept.lock() else warn_of_missing_cache()
        with hold_lock(kept.lock()):
            code = kept.load_overload(sig, context)  # which another process may have written meanwhile
            if code is not None:
                context.insert_user_function(code.entry_point, code.fndesc, [code.library])
                return code
            with announce(dispatcher.py_func), without_collection():
                code = compile_now(args, return_type)
            kept.keep(sig, code)
        return code

    dispatcher._cache, dispatcher._compiler.compile = kept, compile_once


@contextmanager
def announce(function: Any) -> Iterator[None]:
    """Log which kernel was compiled, and how long it took."""
    name, started = f"{function.__module__.removeprefix('juncture.kernels.')}.{function.__qualname__}", time.monotonic()
    yield
    LOG.info("compiled the kernel %s in %.1f s", name, time.monotonic() - started)


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: the compiler makes many objects in cycles, and looking through them takes long."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@cache
def warn_of_compiling() -> None:
    """One line in each process that compiles or waits for another, at a level that is shown to whoever sits there."""
    message = "juncture compiles numerical kernels, each once for this installation, and keeps them on disk"
    logging.getLogger("juncture.compiling").warning("%s; `juncture warmup` compiles all of them ahead …", message)


@contextmanager
def hold_lock(path: Path | None) -> Iterator[None]:
    """Wait for the lock of a file, but not for ever, and not where files cannot be locked."""
    file = None if path is None or fcntl is None else open_lock(path)
    if path is None or file is None:
        yield
        return
    with file:
        try:
            yield
        finally:
            with suppress(OSError):
                if is_open_at(path, file):
                    path.unlink()


def open_lock(path: Path) -> IO[bytes] | None:
    """The locked file; None where there is none to have."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            file = path.open("ab")
        except OSError:
            return None
        if not wait_for_lock(file, deadline):
            file.close()
            return None
        if is_open_at(path, file):
            return file
        file.close()  # who held it has removed it


def wait_for_lock(file: IO[bytes], deadline: float) -> bool:
    """Whether the lock was had before the deadline, in seconds of the monotonic clock."""
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process has it
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)
        except OSError:  # a file system without locks
            return False
        else:
            return True


def is_open_at(path: Path, file: IO[bytes]) -> bool:
    """Whether the open file is the one at the path, which others may have removed and made anew."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return False
