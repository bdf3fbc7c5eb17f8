"""Counts that are saved while a source is read, so that an interrupted run goes on where it ended.

Blocks are fixed and their counts are added in order: a run that was interrupted gives the bits of one that was not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from juncture.base.documents.json_text import decode, parse_strictly
from juncture.data.sources.contract import Block, MakeBlock, RowSource, make_blocks
from juncture.errors import FormatError, InvalidData
from juncture.learning.networks.statistics import NetworkStatistics, check_complete, count_complete
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.runtime import parallel
from juncture.runtime.files import read_bytes, write_text

SAVE_SECONDS = 20.0
KIND = "juncture counts"


class SavedCounts(NamedTuple):
    """The statistics of the first blocks of some files; `files` has the name, size and time of change of each."""

    files: list[list[Any]]
    num_blocks: int = 0
    statistics: NetworkStatistics | None = None

    def plus(self, part: NetworkStatistics) -> SavedCounts:
        total = part if self.statistics is None else self.statistics + part
        return self._replace(num_blocks=self.num_blocks + 1, statistics=total)

    def save(self, path: str) -> None:
        counts = None if self.statistics is None else self.statistics.to_dict()
        document = {"kind": KIND, "files": self.files, "num_blocks": self.num_blocks, "statistics": counts}
        write_text(path, json.dumps(document, ensure_ascii=False, allow_nan=False))

    @classmethod
    def load(cls, path: str, files: list[list[Any]]) -> SavedCounts:
        """The counts that were saved for these files; none where there is no such file yet."""
        if not Path(path).exists():
            return cls(files)
        try:
            return cls.parse(decode(read_bytes(path)), path, files)
        except FormatError as error:
            raise error.in_file(path) from None

    @classmethod
    def parse(cls, text: str, path: str, files: list[list[Any]]) -> SavedCounts:
        document = parse_strictly(text, path)
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise FormatError("the file does not hold counts that can be resumed; give another name")
        if document.get("files") != files:
            raise InvalidData(
                f"{path} holds counts of other files, or the files have changed: remove it, to start anew"
            )
        number, counts = document.get("num_blocks"), document.get("statistics")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0 or (counts is None) != (number == 0):
            raise FormatError("the counts are not complete: remove the file, to start anew")
        return cls(files, number, None if counts is None else NetworkStatistics.from_dict(counts))


def count_resumably(
    template: BayesianNetwork,
    source: RowSource,
    path: str,
    files: Sequence[Sequence[Any]],
    watch: Callable[[int], None] = lambda rows: None,
) -> NetworkStatistics:
    """The statistics of complete rows; after an interruption, `path` holds those of the blocks that were counted."""
    saved = SavedCounts.load(path, [list(file) for file in files])
    last = time.monotonic()
    blocks = islice(make_blocks(source.coded(template.variables)), saved.num_blocks, None)
    try:
        for part in parallel.map_stream(partial(count_block, template), blocks):
            saved = saved.plus(part)
            watch(round(part.weight))
            if time.monotonic() - last > SAVE_SECONDS:
                saved.save(path)
                last = time.monotonic()
    finally:
        saved.save(path)
    if saved.statistics is None:
        raise InvalidData("there are no rows to count")
    return saved.statistics


def count_block(template: BayesianNetwork, make: MakeBlock) -> NetworkStatistics:
    block: Block = make()
    check_complete(block.rows, template.variables.names, block.describe_row)
    return count_complete(template, block.rows)
