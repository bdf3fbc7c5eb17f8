"""Sets of positions as the bits of a whole number: small, hashable, quick to join and to compare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Positions: TypeAlias = int


def members(positions: Positions) -> list[int]:
    """The positions in the set, rising.

    >>> members(0b1101)
    [0, 2, 3]
    """
    found = []
    while positions:
        lowest = positions & -positions
        found.append(lowest.bit_length() - 1)
        positions ^= lowest
    return found


def set_of(positions: Iterable[int]) -> Positions:
    total = 0
    for position in positions:
        total |= 1 << position
    return total
