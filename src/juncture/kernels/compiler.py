"""`kernel`: the decorator by which the functions of this folder are compiled and cached.

Numba keeps the compiled code of each source file on disk, and does not notice when a function that was inlined into
another file changes. Here the cache is stamped with a digest of all sources of the folder, and every cache file carries
a digest of its content (`cache_files.py`). Where no cache can be written, or where it is damaged, kernels are compiled
again, and one warning says so.
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

    Division by zero gives inf or NaN as in NumPy: kernels check before they divide. A variable that is handed to
    another kernel starts as `np.int64(0)`, not `0`: for a literal Numba would compile that kernel once more.
    """
    dispatcher: Any = njit(nogil=True, error_model="numpy", fastmath=set(liberties))(function)
    if dispatcher is function:  # compilation is switched off in Numba
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
    """Make Numba's cache of one kernel depend on all sources and on digests, and survive errors of the disk."""
    cache._cache_file = CheckedCacheFile(cache.cache_path, cache._impl.filename_base, folder_stamp())
    cache._guard_against_spurious_io_errors = without_disk_errors


def summing_kernel(function: Any) -> Any:
    """A kernel whose sums may be reordered, so that the compiler adds several terms at once."""
    return kernel(function, liberties=frozenset({"reassoc", "contract"}))


@cache
def announce_first_compilation(cache_path: str) -> None:
    """Tell a user at a terminal why the first call of an installation takes a while."""
    if sys.stderr and sys.stderr.isatty() and not any(Path(cache_path).glob("*.nbi")):
        sys.stderr.write("juncture: compiling kernels, once for this installation (some 20 s) …\n")
