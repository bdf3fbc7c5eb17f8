"""`WatchedSource`: a source that tells how many rows were read, for a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from juncture.data.sources.contract import Block, RowSource
from juncture.data.sources.passes import MakeBlock, make_blocks
from juncture.variables import Variable


@dataclass(frozen=True, eq=False)
class WatchedSource:
    """The same source; `begin` is called at the start of each pass, `watch` with the number of rows of each block."""

    source: RowSource
    begin: Callable[[], None]
    watch: Callable[[int], None]

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.source.variables

    @property
    def num_rows(self) -> int | None:
        return self.source.num_rows

    @property
    def weights(self) -> str | None:
        return self.source.weights

    def blocks(self) -> Iterator[Block]:
        return (make() for make in self.uncoded_blocks())

    def uncoded_blocks(self) -> Iterator[MakeBlock]:
        self.begin()
        for make in make_blocks(self.source):
            yield partial(self._count, make)

    def _count(self, make: MakeBlock) -> Block:
        block = make()
        self.watch(len(block.rows))
        return block

    def only(self, names: Iterable[str]) -> WatchedSource:
        return replace(self, source=self.source.only(names))

    def coded(self, variables: Iterable[Variable], weights: str | None = None) -> WatchedSource:
        return replace(self, source=self.source.coded(variables, weights))
