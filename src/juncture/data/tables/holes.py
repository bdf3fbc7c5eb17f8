"""Holes in what users give as arrays and lists: masked entries, and None for a vector of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any

import numpy as np

from juncture.variables import is_missing


def unmask(array: np.ndarray) -> np.ndarray:
    """A plain array: NaN for what a mask hides among numbers, None among all else."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    is_number = array.dtype.kind in "biuf"
    found = array.data.astype(np.float64 if is_number else object)
    found[np.ma.getmaskarray(array)] = np.nan if is_number else None
    return found


def unmask_items(items: Sequence[Any]) -> Sequence[Any]:
    """A list with plain arrays for masked ones, and None for a masked scalar."""
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in set(map(type, items))):
        return items
    return [None if item is np.ma.masked else unmask(item) for item in items]


def fill_missing_vectors(items: Sequence[Any]) -> Sequence[Any]:
    """A list of vectors with one of None for each that is missing; any other list as it is."""
    kinds = set(map(type, items))
    if not any(issubclass(kind, NoneType | float) for kind in kinds) or not any(map(is_vector, kinds)):
        return items
    width = next(len(item) for item in items if is_vector(type(item)))
    return [[None] * width if not is_vector(type(item)) and is_missing(item) else item for item in items]


def is_vector(kind: type) -> bool:
    return issubclass(kind, list | tuple | np.ndarray)
