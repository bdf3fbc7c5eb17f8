"""Long arrays in blocks that fit a core's cache, on all cores. Blocks do not depend on the number of cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

BLOCK = 16_384
MANY_BLOCKS = 8  # below this, threads cost more than they save

Result = TypeVar("Result")


def over_blocks(function: Callable[[slice], Result], num_rows: int, size: int = BLOCK) -> list[Result]:
    """`function` of each block of rows, in order."""
    blocks = [slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size)]
    if len(blocks) < MANY_BLOCKS:
        return [function(block) for block in blocks]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(function, blocks))
