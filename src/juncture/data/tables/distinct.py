"""Which cells of a long column are the same: found in compiled code, without a look at each from Python."""

from __future__ import annotations

import ctypes
from typing import TypeAlias

import numpy as np

MANY = 20_000  # rows; for fewer, loading compiled code takes longer than what it saves

Numbering: TypeAlias = tuple[np.ndarray, np.ndarray]
"""Each row's number among the different cells, and the row where each of them comes first."""


def distinct_numbers(cells: np.ndarray) -> Numbering:
    """Booleans, integers or floats; floats are the same when their bits are."""
    wide = cells.astype(np.float64 if cells.dtype.kind == "f" else np.int64, copy=False)
    return distinct_keys(np.ascontiguousarray(wide).view(np.uint64))


def distinct_objects(cells: np.ndarray) -> Numbering:
    """Objects are the same when they are one object in memory: an array of objects holds their addresses."""
    held = np.ascontiguousarray(cells)
    address = ctypes.cast(held.ctypes.data, ctypes.POINTER(ctypes.c_size_t))
    return distinct_keys(np.ctypeslib.as_array(address, shape=held.shape).astype(np.uint64))


def distinct_texts(cells: np.ndarray) -> Numbering | None:
    """Fixed-width texts by a hash of their letters; None on the day when two different ones share it."""
    from juncture.kernels.tables.distinct import are_as_numbered, hash_words

    words = np.ascontiguousarray(cells).view(np.uint32).reshape(len(cells), cells.dtype.itemsize // 4)
    keys = np.empty(len(cells), np.uint64)
    hash_words(words, keys)
    codes, firsts = distinct_keys(keys)
    return (codes, firsts) if are_as_numbered(words, codes, firsts) else None


def distinct_keys(keys: np.ndarray) -> Numbering:
    from juncture.kernels.tables.distinct import number_keys

    codes, firsts = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    count = number_keys(keys, codes, firsts)
    return codes, firsts[:count].copy()
