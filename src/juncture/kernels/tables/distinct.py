"""Distinct rows by hashing (open addressing, linear probing): each row's number among the distinct rows."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd and well mixed: 2^64 over the golden ratio
SHIFT = np.uint64(32)
ONE = np.uint64(1)


@kernel
def number_keys(keys, codes, firsts):
    """Number the 64-bit keys in order of appearance; how many distinct keys there are.

    `codes` receives each row's number, and `firsts` the row where each number appears first.
    """
    slots = np.full(1024, -1, np.int32)
    last = np.uint64(len(slots) - 1)  # the number of slots is a power of 2
    count = 0
    for row in range(len(keys)):
        slot = ((keys[row] * MULTIPLIER) >> SHIFT) & last
        while slots[slot] >= 0 and keys[firsts[slots[slot]]] != keys[row]:
            slot = (slot + ONE) & last
        if slots[slot] < 0:
            slots[slot] = count
            firsts[count] = row
            count += 1
        codes[row] = slots[slot]
        if 2 * count > len(slots):
            slots = np.full(4 * len(slots), -1, np.int32)
            last = np.uint64(len(slots) - 1)
            for number in range(count):
                slot = ((keys[firsts[number]] * MULTIPLIER) >> SHIFT) & last
                while slots[slot] >= 0:
                    slot = (slot + ONE) & last
                slots[slot] = number
    return count


@kernel
def hash_words(words, keys):
    """A key for each row of `words` (row, word): equal for equal rows, almost surely different for others."""
    for row in range(len(words)):
        key = np.uint64(0)
        for word in range(words.shape[1]):
            key = (key ^ np.uint64(words[row, word])) * MULTIPLIER
            key ^= key >> SHIFT
        keys[row] = key


@kernel
def are_as_numbered(words, codes, firsts):
    """Whether each row of `words` equals the first row of its number; not so if two different rows share a key."""
    for row in range(len(words)):
        first = firsts[codes[row]]
        for word in range(words.shape[1]):
            if words[row, word] != words[first, word]:
                return False
    return True
