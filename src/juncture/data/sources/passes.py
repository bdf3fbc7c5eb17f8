"""`map_blocks`: one pass over a source, in which blocks are read while others are coded and worked on.

The blocks are those of the source and the results come in their order, so that sums of results are the same to the last
bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from juncture import parallel
from juncture.data.sources.contract import Block, RowSource

Result = TypeVar("Result")
MakeBlock = Callable[[], Block]


def map_blocks(function: Callable[[Block], Result], source: RowSource) -> Iterator[Result]:
    """`function` of each block, in order.

    A source whose rows lie elsewhere has its own `map_blocks`, which calls the function there. A source may have
    `uncoded_blocks`, which gives functions that code a block: threads call them beside each other.
    """
    own: Callable[[Callable[[Block], Result]], Iterator[Result]] | None = getattr(source, "map_blocks", None)
    if own is not None:
        return own(function)
    return parallel.map_stream(lambda make: function(make()), make_blocks(source))


def make_blocks(source: RowSource) -> Iterator[MakeBlock]:
    uncoded = getattr(source, "uncoded_blocks", None)
    if uncoded is not None:
        yield from uncoded()
        return
    for block in source.blocks():
        yield partial(same, block)


def same(block: Block) -> Block:
    return block
