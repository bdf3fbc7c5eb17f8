"""`map_blocks`: one pass over a source, in which blocks are read while others are coded and worked on.

The blocks are those of the source and the results come in their order, so that sums of results are the same to the last
bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from operator import add
from typing import Any, Protocol, Self, TypeGuard, TypeVar

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import Block, Origin, RowSource
from juncture.runtime import parallel

Result = TypeVar("Result")
Sum = TypeVar("Sum", bound="Addable")
MakeBlock = Callable[[], Block]


class Addable(Protocol):
    """What blocks give and adds up."""

    def __add__(self, other: Any, /) -> Self: ...


class MapsBlocks(RowSource, Protocol):
    """A source whose rows lie on a cluster."""

    def map_blocks(self, function: Callable[[Block], Result]) -> Iterator[Result]:
        """`function` of each block, in order, called where the rows are; it is pickled, and so are its results."""


def map_blocks(function: Callable[[Block], Result], source: RowSource) -> Iterator[Result]:
    """`function` of each block, in order.

    A source whose rows lie elsewhere has its own `map_blocks`, which calls the function there. A source may have
    `uncoded_blocks`, which gives functions that code a block: threads call them beside each other.
    """
    if is_elsewhere(source):
        return source.map_blocks(function)
    return parallel.map_stream(lambda make: function(make()), make_blocks(source))


def is_elsewhere(source: RowSource) -> TypeGuard[MapsBlocks]:
    """Whether the rows of a source lie on a cluster, and work goes to them."""
    return hasattr(type(source), "map_blocks")


def add_up(function: Callable[[Block], Sum], data: Dataset | RowSource) -> Sum:
    """`function` of all rows in memory, or of each block of a source, added in order."""
    if isinstance(data, Dataset):
        return function(Block(data, Origin()))
    return reduce(add, map_blocks(function, data))


def add_up_complete(function: Callable[[Block], Sum | None], data: Dataset | RowSource) -> Sum | None:
    """The sum over all blocks; None as soon as one of them gives None."""
    if isinstance(data, Dataset):
        return function(Block(data, Origin()))
    total: Sum | None = None
    for part in map_blocks(function, data):
        if part is None:
            return None
        total = part if total is None else total + part
    return total


def make_blocks(source: RowSource) -> Iterator[MakeBlock]:
    uncoded = getattr(source, "uncoded_blocks", None)
    if uncoded is not None:
        yield from uncoded()
        return
    for block in source.blocks():
        yield partial(same, block)


def same(block: Block) -> Block:
    return block
