"""Sorting whole numbers in place, and finding one among sorted ones: little code, which compiles quickly."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

SHORT = 16  # keys: so few are sorted by insertion
DIGIT = 10  # bits of a digit, at most


@kernel
def sort_keys(keys, number):
    """Sort the first keys in place: quicksort by the median of three; the longer part waits, so that few parts do."""
    waiting = np.empty((64, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, number
    height = 1
    while height > 0:
        height -= 1
        first, last = waiting[height, 0], waiting[height, 1]
        if last - first <= SHORT:
            insert_keys(keys, first, last)
            continue
        one, two, three = keys[first], keys[(first + last) // 2], keys[last - 1]
        pivot = max(min(one, two), min(max(one, two), three))
        low, high = first, last - 1
        while low <= high:
            while keys[low] < pivot:
                low += 1
            while keys[high] > pivot:
                high -= 1
            if low <= high:
                keys[low], keys[high] = keys[high], keys[low]
                low += 1
                high -= 1
        is_left_longer = high + 1 - first > last - low
        waiting[height, 0] = first if is_left_longer else low
        waiting[height, 1] = high + 1 if is_left_longer else last
        waiting[height + 1, 0] = low if is_left_longer else first
        waiting[height + 1, 1] = last if is_left_longer else high + 1
        height += 2


@kernel
def sort_digits(keys, number, shift, num_bits):
    """The first keys, in order by so many bits from bit `shift` on, in a new array; keys with equal bits keep theirs.

    Counting sort by one digit after the other, the lowest first. Few keys are sorted by `sort_keys` instead, by all
    their bits: those below `shift` must be in order already.
    """
    num_passes = max(1, (num_bits + DIGIT - 1) // DIGIT)
    width = (num_bits + num_passes - 1) // num_passes
    size = 1 << width
    if number < 2 * size:
        sort_keys(keys, number)
        return keys
    spare, starts = np.empty(number, np.int64), np.empty(size, np.int64)
    for _ in range(num_passes):
        for digit in range(size):
            starts[digit] = 0
        for place in range(number):
            starts[(keys[place] >> shift) & (size - 1)] += 1
        total = 0
        for digit in range(size):
            count = starts[digit]
            starts[digit] = total
            total += count
        for place in range(number):
            digit = (keys[place] >> shift) & (size - 1)
            spare[starts[digit]] = keys[place]
            starts[digit] += 1
        keys, spare = spare, keys
        shift += width
    return keys


@kernel
def insert_keys(keys, first, last):
    """Sort a few keys by insertion."""
    for place in range(first + 1, last):
        key, before = keys[place], place - 1
        while before >= first and keys[before] > key:
            keys[before + 1] = keys[before]
            before -= 1
        keys[before + 1] = key


@kernel
def find_key(keys, number, key):
    """The position of a key among the first ones, which are sorted: that of the first key that is not below it."""
    low, high = 0, number
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
