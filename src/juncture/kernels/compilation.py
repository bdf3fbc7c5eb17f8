"""Whether kernels are compiled: `set_compilation`, else `JUNCTURE_COMPILATION`, else "auto".

With "auto" a kernel runs interpreted until the work that was asked of it, by the sizes of its arguments, passes
`WORK_TO_COMPILE`; from then on it is compiled. So a small question is answered without Numba, and which way is taken
depends on what was asked alone, never on what a cache holds. Where Numba is not installed, nothing is compiled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal

from juncture.checks import shown
from juncture.errors import InvalidData, MissingExtra

Compilation = Literal["auto", "always", "never"]
MODES = ("auto", "always", "never")
COMPILATION_SETTING = "JUNCTURE_COMPILATION"
WORK_TO_COMPILE = 1_000_000  # elements that interpreted loops pass in about half a second
LEAST_WORK = 10_000  # of one call, however small its arguments

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
