"""Which cells of a long column, and which rows of a table, are the same: found by compiled code."""

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
    """Fixed-width texts by a hash of their letters; None if two different texts share a hash."""
    return distinct_words(np.ascontiguousarray(cells).view(np.uint32).reshape(len(cells), cells.dtype.itemsize // 4))


def distinct_rows(table: np.ndarray) -> Numbering:
    """The rows of (row, column) numbers, which are the same when their bits are, in order of first appearance."""
    return number_words(as_words(table))


def number_words(words: np.ndarray) -> Numbering:
    """The same of the words of each row."""
    return distinct_words(words) or distinct_rows_exactly(words)


def as_words(table: np.ndarray) -> np.ndarray:
    """(row, word): the bytes of each row, filled up with zeros."""
    num_bytes = table.dtype.itemsize * table.shape[1]
    padded = np.zeros((len(table), -(-num_bytes // 4) * 4), dtype=np.uint8)
    padded[:, :num_bytes] = np.ascontiguousarray(table).view(np.uint8).reshape(len(table), num_bytes)
    return padded.view(np.uint32)


def distinct_words(words: np.ndarray) -> Numbering | None:
    """The rows of (row, word) by a hash; None if two different rows share a hash."""
    from juncture.kernels.counting import are_as_numbered, hash_words

    keys = np.empty(len(words), np.uint64)
    hash_words(words, keys)
    codes, firsts = distinct_keys(keys)
    return (codes, firsts) if are_as_numbered(words, codes, firsts) else None


def distinct_rows_exactly(words: np.ndarray) -> Numbering:
    """The same numbering without a hash."""
    _, first, group = np.unique(words, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return ranks[group.reshape(-1)], first[order]


def distinct_keys(keys: np.ndarray) -> Numbering:
    """Keys of 64 bits, in order of first appearance."""
    from juncture.kernels.counting import number_keys

    codes, firsts = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    count = number_keys(keys, codes, firsts)
    return codes, firsts[:count].copy()
