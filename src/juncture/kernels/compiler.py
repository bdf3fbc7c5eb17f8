"""`kernel`: how the functions of this folder are compiled and cached.

Numba keeps compiled code on disk for each source file, and does not see when a function that was compiled into
another one changes. Here the cache is stamped with the content of the whole folder instead. Where no cache can be
written, kernels are compiled anew in each process, and one warning says so.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit


@cache
def folder_stamp() -> str:
    """A digest of every source file of this folder."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def kernel(function: Any, *, liberties: frozenset[str] = frozenset()) -> Any:
    """Compile at the first call, without the interpreter's lock, and keep the machine code on disk.

    Division by zero gives inf or NaN as in NumPy: kernels look before they divide.
    """
    dispatcher: Any = njit(nogil=True, error_model="numpy", fastmath=set(liberties))(function)
    if dispatcher is function:  # Numba was told not to compile
        return function
    try:
        dispatcher.enable_caching()
    except RuntimeError:
        warn_of_missing_cache()
        return dispatcher
    announce_first_compilation(dispatcher._cache.cache_path)
    dispatcher._cache._cache_file._source_stamp = folder_stamp()
    return dispatcher


def summing_kernel(function: Any) -> Any:
    """A kernel whose sums are taken in whatever order is fastest, several terms at once."""
    return kernel(function, liberties=frozenset({"reassoc", "contract"}))


@cache
def announce_first_compilation(cache_path: str) -> None:
    """Tell someone at a terminal why the first question of an installation takes a while."""
    if sys.stderr.isatty() and not any(Path(cache_path).glob("*.nbi")):
        sys.stderr.write("juncture: compiling kernels, once for this installation (some 20 s) …\n")


@cache
def warn_of_missing_cache() -> None:
    message = (
        "compiled kernels cannot be kept on disk (set NUMBA_CACHE_DIR to a writable folder); each process compiles anew"
    )
    warnings.warn(message, UserWarning, stacklevel=3)
