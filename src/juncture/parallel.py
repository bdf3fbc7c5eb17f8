"""Work on all cores: the parts do not depend on the number of cores, so that results do not depend on it either."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from math import prod
from threading import Thread
from typing import TypeVar

BLOCK = 65_536  # numbers: those of a block fit a core's cache
MANY_BLOCKS = 3  # below this, threads cost more than they save

Part = TypeVar("Part")
Result = TypeVar("Result")


def map(  # noqa: A001 (used as parallel.map)
    function: Callable[[Part], Result], parts: Sequence[Part], *, is_worth_threads: bool = True
) -> list[Result]:
    """`function` of each part, in order; of several errors, that of the first part."""
    if len(parts) < 2 or not is_worth_threads:
        return [function(part) for part in parts]
    waiting, results, errors = deque(enumerate(parts)), dict[int, Result](), dict[int, BaseException]()

    def work() -> None:
        while waiting and not errors:
            try:
                index, part = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[index] = function(part)
            except BaseException as error:  # noqa: BLE001
                errors[index] = error  # raised below, in the caller's thread

    # Threads of our own, not a pool: cheaper than a task per part, and nothing is left over for a fork to lose.
    threads = [Thread(target=copy_context().run, args=(work,)) for _ in range(min(num_cores(), len(parts)) - 1)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
    return [results[index] for index in range(len(parts))]


def map_blocks(function: Callable[[slice], Result], num_rows: int, size: int = BLOCK) -> list[Result]:
    """`function` of each block of rows, in order."""
    blocks = blocks_of(num_rows, size)
    return map(function, blocks, is_worth_threads=len(blocks) >= MANY_BLOCKS)


def blocks_of(num_rows: int, size: int) -> list[slice]:
    """All rows, `size` of them at a time."""
    return [slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size)]


def block_rows(*shapes: tuple[int, ...], numbers: int = BLOCK) -> int:
    """How many rows make a block, where rows have these shapes."""
    return max(256, int(numbers // max(1, *(prod(shape) for shape in shapes))))


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
