"""`kernel`: the decorator by which the functions of this folder are compiled and cached.

Numba keeps the compiled code of each source file on disk, and does not notice when a function that was inlined into
another file changes. Here the cache is stamped with a digest of all sources of the folder, and every cache file carries
a digest of its content (`cache_files.py`). Where no cache can be written (`kernel_cache.py`), or where it is damaged,
kernels are compiled again, and one line in the log says so.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

from juncture.kernels.kernel_cache import keep_on_disk

CACHE_MODULES = {"cache_files.py", "kernel_cache.py"}  # on which no machine code depends


@cache
def folder_stamp() -> str:
    """A digest of every source file of this folder and the folders in it, except those of the cache itself."""
    digest, folder = hashlib.sha256(), Path(__file__).parent
    for path in sorted(path for path in folder.rglob("*.py") if path.name not in CACHE_MODULES):
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
    keep_on_disk(dispatcher, folder_stamp())
    return dispatcher


def summing_kernel(function: Any) -> Any:
    """A kernel whose sums may be reordered, so that the compiler adds several terms at once."""
    return kernel(function, liberties=frozenset({"reassoc", "contract"}))
