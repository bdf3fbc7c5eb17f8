"""Long arrays in blocks that fit a core's cache, on all cores. Blocks do not depend on the number of cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from math import prod
from threading import Thread
from typing import TypeVar

BLOCK = 65_536  # numbers
MANY_BLOCKS = 3  # below this, threads cost more than they save

Result = TypeVar("Result")


def block_rows(*shapes: tuple[int, ...], numbers: int = BLOCK) -> int:
    """How many rows make a block, where rows have these shapes."""
    return max(256, int(numbers // max(1, *map(prod, shapes))))


def over_blocks(function: Callable[[slice], Result], num_rows: int, size: int = BLOCK) -> list[Result]:
    """`function` of each block of rows, in order; of several errors, that of the first block."""
    blocks = [slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size)]
    if len(blocks) < MANY_BLOCKS:
        return [function(block) for block in blocks]
    waiting, results, errors = deque(enumerate(blocks)), dict[int, Result](), dict[int, BaseException]()

    def work() -> None:
        while waiting and not errors:
            try:
                place, block = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[place] = function(block)
            except BaseException as error:  # noqa: BLE001
                errors[place] = error  # raised below, in the caller's thread

    # Threads of our own, not a pool: cheaper than a task per block, and nothing is left over for a fork to lose.
    threads = [Thread(target=copy_context().run, args=(work,)) for _ in range(num_cores() - 1)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
    return [results[place] for place in range(len(blocks))]


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
