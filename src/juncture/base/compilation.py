"""Whether kernels run interpreted or compiled: `set_compilation`, else `JUNCTURE_COMPILATION`, else "auto".

With "auto" the way is chosen once a public call, where it begins, and holds for all kernels of the call, in all of its
threads: sums have the same bits however many threads share them. A call is interpreted where its predicted work
(`dispatch.py`) is small and Numba is not loaded yet; so a small question is answered without Numba. Else every kernel
whose machine code is on disk is taken from there, and one without is compiled where that pays. Where Numba is not
installed, nothing is compiled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from importlib.util import find_spec
from threading import Lock
from typing import Any, Literal

from juncture.base.checks import shown
from juncture.errors import InvalidData, MissingExtra

Compilation = Literal["auto", "always", "never"]
MODES = ("auto", "always", "never")
COMPILATION_SETTING = "JUNCTURE_COMPILATION"
SMALL_WORK = 60_000  # operations of a call that interpreted loops do in some tens of milliseconds
LEAST_WORK = 10_000  # of one call, however small its arguments
WORK_OF_SMALL_CALLS = 1_000_000  # operations that interpreted loops do while Numba is imported
WORK_TO_COMPILE = 4_000_000  # operations that interpreted loops do while a kernel is compiled

_chosen: Compilation | None = None
_followers: list[Callable[[], None]] = []  # called where the choice changes


def set_compilation(mode: Compilation | None) -> None:
    """Choose when the loops on numbers are compiled; None returns to the setting of the environment, or "auto".

    Parameters
    ----------
    mode
        "auto" compiles what much is asked of, "always" compiles at the first call (for a service, after
        `juncture warmup`), "never" interprets (for debugging, or where Numba is not to be had).

    Examples
    --------
    >>> set_compilation("never")
    >>> compilation()
    'never'
    >>> set_compilation(None)
    """
    global _chosen  # noqa: PLW0603 (a setting of the process)
    _chosen = None if mode is None else check_mode(mode, "the compilation")
    for follow in _followers:
        follow()


@contextmanager
def compiling() -> Iterator[None]:
    """Compile whatever is called meanwhile."""
    before = _chosen
    set_compilation("always")
    try:
        yield
    finally:
        set_compilation(before)


def compilation() -> Compilation:
    """The mode in force."""
    if _chosen is not None:
        return _chosen
    setting = os.environ.get(COMPILATION_SETTING, "").strip()
    mode = check_mode(setting, COMPILATION_SETTING) if setting else "auto"
    return mode if can_compile() else "never"


def check_mode(mode: Any, where: str) -> Compilation:
    is_known = isinstance(mode, str) and mode in MODES
    if not is_known:
        raise InvalidData(f"{where} is one of {', '.join(MODES)}; got {shown(mode)}")
    if mode == "always" and not can_compile():
        raise MissingExtra("compiled kernels need Numba, which is not installed; run: pip install numba")
    return mode


@cache
def can_compile() -> bool:
    return find_spec("numba") is not None


def follow(change: Callable[[], None]) -> None:
    """Call `change` whenever the mode changes."""
    _followers.append(change)


# --- the path of one public call -------------------------------------------------------------------------------------


class Path:
    """The way of the kernels of one public call: each of them one way, in all threads of the call.

    `compiles` says whether all of them are compiled or none; with None each takes the machine code that there is, and
    one without is compiled only if the work predicted for this call, or done by it in earlier ones, passes what
    compiling costs.
    """

    def __init__(self, compiles: bool | None, predict: Callable[[], float] = float) -> None:
        self.compiles, self.predict = compiles, predict
        self.ways: dict[Any, bool] = {}  # of kernels without machine code when the call met them
        self.lock = Lock()

    def takes_machine_code(self, kernel: Any) -> bool:
        """Whether a kernel is compiled in this call."""
        if self.compiles is not None:
            return self.compiles
        if kernel in self.ways:
            return self.ways[kernel]
        if kernel.has_machine_code():
            return True
        with self.lock:
            is_worth_it = kernel.work_done > WORK_TO_COMPILE or self.predict() > WORK_TO_COMPILE
            return self.ways.setdefault(kernel, is_worth_it)

    def __reduce__(self) -> tuple[type[Path], tuple[Any, ...]]:
        return Path, (self.compiles,) if self.compiles is not None else (None, partial(float, self.predict()))


INTERPRETED, COMPILED = Path(compiles=False), Path(compiles=True)
PATH: ContextVar[Path | None] = ContextVar("PATH", default=None)  # None outside of public calls


@cache
def is_automatic() -> bool:
    """Whether each public call chooses its path; looked up once, until `set_compilation`."""
    return compilation() == "auto"


_followers.append(is_automatic.cache_clear)


def choose_path(predict: Callable[[], float]) -> Path:
    """The path of a call, by its predicted operations and by what the process has loaded and done."""
    if not is_automatic():
        return COMPILED if compilation() == "always" else INTERPRETED
    if not is_loaded():
        operations = predict()
        if operations <= SMALL_WORK and _small_calls.add(max(operations, LEAST_WORK)) <= WORK_OF_SMALL_CALLS:
            return INTERPRETED
    return Path(None, predict)


def is_loaded() -> bool:
    """Whether this process has imported Numba."""
    return "numba" in sys.modules


class SmallCalls:
    """The predicted operations of all interpreted calls of this process: many small calls are compiled too."""

    def __init__(self) -> None:
        self.operations, self.lock = 0.0, Lock()

    def add(self, operations: float) -> float:
        with self.lock:
            self.operations += operations
            return self.operations


_small_calls = SmallCalls()


@contextmanager
def on_path(path: Path | None) -> Iterator[None]:
    """Run kernels meanwhile on this path, which a caller has chosen, perhaps in another process."""
    token = PATH.set(path)
    try:
        yield
    finally:
        PATH.reset(token)
