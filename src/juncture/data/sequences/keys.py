"""`SeenKeys`: which keys of sequences have come already, in eight bytes a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class SeenKeys:
    """The hashes (64 bits) of keys, in sorted arrays, each of which is larger than the next."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def add(self, keys: Sequence[Any]) -> int | None:
        """Remember further keys; the position of the first that came before, or None."""
        hashes = np.array([hash((key,)) for key in keys], np.int64)
        known = np.zeros(len(hashes), bool)
        for array in self.arrays:
            known |= array[np.minimum(np.searchsorted(array, hashes), len(array) - 1)] == hashes
        if known.any():
            return int(np.argmax(known))
        if len(hashes):
            self._merge(np.sort(hashes))
        return None

    def _merge(self, hashes: np.ndarray) -> None:
        while self.arrays and len(self.arrays[-1]) <= len(hashes):
            hashes = np.sort(np.concatenate([self.arrays.pop(), hashes]))
        self.arrays.append(hashes)
