"""`kernel`: how the functions of this folder are compiled and cached.

Numba keeps compiled code on disk for each source file, and does not see when a function that was compiled into
another one changes. Here the cache is stamped with the content of the whole folder instead, and every file of it with
a digest (`cache_files.py`). Where no cache can be written, or it is damaged, kernels are compiled anew, and one warning
says so.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

from juncture.kernels.cache_files import CheckedCacheFile, warn_of_missing_cache, without_disk_errors


@cache
def folder_stamp() -> str:
    """A digest of every source file of this folder and the folders in it."""
    digest, folder = hashlib.sha256(), Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
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
    check_cache(dispatcher._cache)
    return dispatcher


def check_cache(cache: Any) -> None:
    """Make Numba's cache of one kernel look at all sources, at digests, and not at trouble with the disk."""
    cache._cache_file = CheckedCacheFile(cache.cache_path, cache._impl.filename_base, folder_stamp())
    cache._guard_against_spurious_io_errors = without_disk_errors


def summing_kernel(function: Any) -> Any:
    """A kernel whose sums are taken in whatever order is fastest, several terms at once."""
    return kernel(function, liberties=frozenset({"reassoc", "contract"}))


@cache
def announce_first_compilation(cache_path: str) -> None:
    """Tell someone at a terminal why the first question of an installation takes a while."""
    if sys.stderr and sys.stderr.isatty() and not any(Path(cache_path).glob("*.nbi")):
        sys.stderr.write("juncture: compiling kernels, once for this installation (some 20 s) …\n")
