"""Kernels as machine code, by Numba's `njit`, and the files in which it is kept.

Numba's own cache does not notice when a function that was inlined into another file changes, reads damaged files, and
needs a folder that it can write. So it caches into a folder that lives only while a kernel is loaded, and what it
leaves there is kept as one file a kernel: sealed with digests of its purpose and of its content, written whole or not
at all, in a folder whose name holds a digest of all sources of the kernels.

Folders are taken up to the first that can be written, and new code is kept there: `NUMBA_CACHE_DIR` if that is set,
`__pycache__` beside the sources, the cache folder of the user. So a warm cache that is read-only is used. Of the
processes that need the same kernel one compiles it, and the others wait for its file. A file of another version of
Numba is ignored; so is a damaged file, and one line in the log says so. In both cases the kernel is compiled again.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import IO, Any

try:
    import fcntl
except ImportError:  # on Windows each process compiles for itself; files are replaced whole, so that is safe
    fcntl = None  # type: ignore[assignment]

LOG = logging.getLogger("juncture")
SOURCES = Path(__file__).parent
UNCOMPILED = {"compilation.py", "compiler.py", "machine_code.py"}  # on which no machine code depends
OPTIONS = {"nogil": True, "error_model": "numpy"}  # without the interpreter's lock, and with divisions as in NumPy
OF_SUMS: dict[str, Any] = {"forceinline": True}  # callees that add: part of their callers, faster if small
REORDERING = {"reassoc", "contract"}  # so that several terms of a sum are added at once
ALL_OPTIONS = repr((OPTIONS, sorted(REORDERING), OF_SUMS))
NUMBAS = (".nbi", ".nbc")  # the files of Numba's cache
MARK = b"juncture kernel 2\n"
DIGEST_BYTES = 16
LOCK_SECONDS = 120.0  # after which a process compiles what another one does not finish
POLL_SECONDS = 0.05


class MachineCode:
    """The machine code of a kernel, loaded or compiled for the arguments of its first call."""

    def __init__(self, function: Any, bind: Callable[[Any], Any], *, reorders_sums: bool) -> None:
        """`bind` makes the function see the machine code of the kernels that it calls; it is called with the first."""
        self.function, self.bind, self.reorders_sums = function, bind, reorders_sums
        self.name = f"{function.__module__.removeprefix('juncture.kernels.')}.{function.__qualname__}"
        is_here = Path(function.__code__.co_filename).is_relative_to(SOURCES)  # else no digest shows its changes
        self.file = f"{self.name}-{function.__code__.co_firstlineno}.kernel" if is_here else None
        self.dispatcher: Any = None
        self.place = ""  # of Numba's cache, while there is one
        self.num_kept = 0  # types of arguments for which there is code in the file
        self.was_compiled = False  # in this process
        self.lock = RLock()

    def __call__(self, *args: Any) -> Any:
        dispatcher = self.dispatcher or self.load(args)
        result = dispatcher(*args)
        if len(dispatcher.overloads) > self.num_kept:  # Numba has met new types of arguments
            self.load(args)
        return result

    def is_at_hand(self) -> bool:
        """Whether it is loaded, or there is a file of it in any folder."""
        if self.dispatcher is not None:
            return True
        return self.file is not None and any((folder / self.file).exists() for folder in folders())

    def load(self, args: tuple[Any, ...]) -> Any:
        """A function of Numba that has machine code for these arguments, from the file or compiled, and then kept."""
        import numba

        with self.lock:  # threads that call at once share one
            types = tuple(numba.typeof(arg) for arg in args)
            if self.dispatcher is None or len(self.dispatcher.overloads) > self.num_kept:
                if self.place:
                    shutil.rmtree(self.place, ignore_errors=True)  # Numba has made it anew, for the new types
                self.dispatcher = self.load_or_compile(types)
                self.num_kept = len(self.dispatcher.overloads)
            return self.dispatcher

    def load_or_compile(self, types: tuple[Any, ...]) -> Any:
        target = writable_folder()
        content = self.read()
        if content is not None:
            return self.load_from(content, types, target)
        warn_of_missing_cache() if target is None else warn_of_compiling()
        target = None if self.file is None else target
        with hold_lock(None if target is None else target / f"{self.file}.lock"):
            return self.load_from(self.read(), types, target)  # which another process may have written meanwhile

    def read(self) -> dict[str, bytes] | None:
        """The files that Numba left in its cache, and the types that they are for.

        The folder that can be written is read first: it may have code for more types than a read-only one.
        """
        for folder in reversed(folders()) if self.file is not None else ():
            if (content := unseal(folder / str(self.file), self.purpose)) is not None:
                return content
        return None

    @property
    def purpose(self) -> str:
        import numba

        return f"{numba.__version__} {sys.version} {self.name}"

    def load_from(self, content: dict[str, bytes] | None, types: tuple[Any, ...], target: Path | None) -> Any:
        """Let Numba read what was kept, and keep what it compiles."""
        dispatcher = None
        if content is None:
            leave_out_unknown_options()
        try:
            with tempfile.TemporaryDirectory(prefix="juncture-kernel-", ignore_cleanup_errors=True) as place:
                self.place = place
                dispatcher = self.dispatch(Path(place))
                cache_of_numba = next(path for path in Path(place).iterdir() if path.is_dir())
                for kept in () if content is None else unpack(content, cache_of_numba):
                    dispatcher.compile(kept)  # which loads it
                self.compile(dispatcher, types)
                if self.was_compiled and target is not None:
                    seal(target / str(self.file), self.purpose, pack(cache_of_numba, dispatcher.signatures))
        except OSError:  # a full disk, say
            warn_of_missing_cache()
            if dispatcher is None or types not in dispatcher.signatures:
                dispatcher = self.dispatch(None)
                self.compile(dispatcher, types)
        return dispatcher

    def compile(self, dispatcher: Any, types: tuple[Any, ...]) -> None:
        """Compile for these types, unless Numba finds them in its cache; the log says which, and how long it took."""
        started = time.monotonic()
        with without_collection():
            dispatcher.compile(types)
        self.was_compiled = len(dispatcher.signatures) > sum(dispatcher.stats.cache_hits.values())
        if self.was_compiled:
            LOG.info("compiled the kernel %s in %.1f s", self.name, time.monotonic() - started)

    def dispatch(self, place: Path | None) -> Any:
        """A function of Numba that caches in this folder, if any."""
        return make_dispatcher(self.bind(self.function), place, reorders_sums=self.reorders_sums)


def make_dispatcher(function: Any, place: Path | None, *, reorders_sums: bool) -> Any:
    """A function of Numba: one with a cache in this place, or one that becomes part of the kernels that call it.

    Numba asks whether the source file has changed: it is shown one that never changes, since all sources together are
    part of the name of the folder.
    """
    import numba

    options: dict[str, Any] = {**OPTIONS, "fastmath": REORDERING if reorders_sums else False}
    if place is None:
        return numba.njit(**options, **(OF_SUMS if reorders_sums else {}))(function)
    source = place / "kernel.py"
    source.touch()
    os.utime(source, (0, 0))
    function.__code__ = function.__code__.replace(co_filename=str(source))
    settings: Any = numba.config
    with _settings_lock:
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(place)
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            settings.CACHE_DIR = before


@cache
def leave_out_unknown_options() -> None:
    """Do without the options of sums if this version of Numba, which is to compile some, does not know them."""
    import numba

    try:
        numba.njit(**OF_SUMS)(lambda: 0).compile(())
    except (KeyError, TypeError):
        OF_SUMS.clear()


_settings_lock = RLock()


# --- the folders -----------------------------------------------------------------------------------------------------


def folders() -> list[Path]:
    """The folders to read: up to the first that can be written."""
    return list(find_folders(chosen_folder())[0])


def writable_folder() -> Path | None:
    """The folder in which new code is kept."""
    found, is_writable = find_folders(chosen_folder())
    if not is_writable:
        return None
    if not found[-1].exists():
        with suppress(OSError):
            found[-1].mkdir(parents=True, exist_ok=True)
    return found[-1]


def chosen_folder() -> str:
    """What `NUMBA_CACHE_DIR` says, or the setting of Numba that takes it over."""
    numba: Any = sys.modules.get("numba")
    with _settings_lock:
        return str(numba.config.CACHE_DIR) if hasattr(numba, "config") else os.environ.get("NUMBA_CACHE_DIR", "")


@cache
def find_folders(chosen: str) -> tuple[tuple[Path, ...], bool]:
    """The folders to read, and whether the last of them can be written."""
    places = [SOURCES / "__pycache__", user_cache_folder()]
    if chosen:
        places.insert(0, Path(chosen))
    name = f"juncture-{sys.implementation.cache_tag}-{sources_digest()}"
    writable = next((number for number, place in enumerate(places) if can_write(str(place))), None)
    used = places if writable is None else places[: writable + 1]
    return tuple(place / name for place in used), writable is not None


def user_cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "juncture"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "juncture"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "juncture"


@cache
def can_write(folder: str) -> bool:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def sources_digest() -> str:
    """A digest of every source file of the kernels, and of the options with which they are compiled."""
    digest = blake2b(ALL_OPTIONS.encode(), digest_size=DIGEST_BYTES)
    for path in sorted(path for path in SOURCES.rglob("*.py") if path.name not in UNCOMPILED):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def remove_old_folders() -> None:
    """Remove the code of older sources beside the sources; that in other places may be of other installations."""
    kept = {folder.name for folder in folders()}
    for old in (SOURCES / "__pycache__").glob(f"juncture-{sys.implementation.cache_tag}-*"):
        if old.name not in kept:
            shutil.rmtree(old, ignore_errors=True)


# --- the files -------------------------------------------------------------------------------------------------------


def seal(path: Path, purpose: str, content: dict[str, bytes]) -> None:
    """Write a file whole or not at all, with digests of its purpose and of its content."""
    sizes = json.dumps([[name, len(part)] for name, part in content.items()]).encode()
    data = sizes + b"\n" + b"".join(content.values())
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", delete=False) as file:
        written = Path(file.name)
        try:
            file.write(head(purpose, data) + data)
            file.close()
            written.chmod(0o644)
            written.replace(path)
        except BaseException:
            with suppress(OSError):
                written.unlink()
            raise


def unseal(path: Path, purpose: str) -> dict[str, bytes] | None:
    """The content of a file; None if there is no such file, if it has another purpose, or if it is damaged."""
    try:
        whole = path.read_bytes()
    except OSError:  # what cannot be read is compiled
        return None
    size = len(MARK) + 2 * DIGEST_BYTES
    found, data = whole[:size], whole[size:]
    right = head(purpose, data)
    if found != right:
        if MARK.startswith(found) or found[:-DIGEST_BYTES] == right[: len(found)][:-DIGEST_BYTES]:
            warn_of_damaged_cache(str(path.parent))
        return None
    sizes, _, data = data.partition(b"\n")
    content, start = {}, 0
    for name, length in json.loads(sizes):
        content[name] = data[start : start + length]
        start += length
    return content


def head(purpose: str, data: bytes) -> bytes:
    return MARK + b"".join(blake2b(part, digest_size=DIGEST_BYTES).digest() for part in (purpose.encode(), data))


def pack(folder: Path, signatures: Any) -> dict[str, bytes]:
    """The files of Numba's cache, and the types that they are for."""
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in NUMBAS}
    return {"types": pickle.dumps(signatures), **files}


def unpack(content: dict[str, bytes], folder: Path) -> Any:
    """Write the files of Numba's cache; the types that they are for."""
    for name, data in content.items():
        if name.endswith(NUMBAS):
            (folder / name).write_bytes(data)
    return pickle.loads(content["types"])  # noqa: S301  written by `pack`: the digest is right


# --- what is said, and who compiles ----------------------------------------------------------------------------------
# Logged, not warned: where warnings are errors, a disk without space must not make a query fail.


@cache
def warn_of_compiling() -> None:
    """One line in each process that compiles or waits for another, at a level that is shown to whoever sits there."""
    message = "juncture compiles numerical kernels, each once for this installation, and keeps them on disk"
    logging.getLogger("juncture.compiling").warning("%s; `juncture warmup` compiles all of them ahead …", message)


@cache
def warn_of_damaged_cache(folder: str) -> None:
    LOG.warning("the cache of compiled kernels in %s is damaged; what cannot be read is compiled again", folder)


@cache
def warn_of_missing_cache() -> None:
    problem = "compiled kernels cannot be kept on disk, and each process compiles anew"
    LOG.warning("%s: set NUMBA_CACHE_DIR to a writable folder, or run `juncture warmup` where one is writable", problem)


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
