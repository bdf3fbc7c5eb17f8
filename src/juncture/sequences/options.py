"""How sequences are given: the options that models of sequences share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from juncture.base.options import Options


@dataclass(frozen=True)
class SequenceOptions(Options):
    """How the data say where a sequence ends.

    Parameters
    ----------
    lengths
        The lengths of the sequences in one stacked array.
    group
        The name of a column of a table (a frame, a file, a query or a source, which is read block by block at every
        step): rows with the same cell there, which must lie together, are one sequence in time order. `weights` is
        then the name of a column, too.
    """

    lengths: Any = None
    group: str | None = None


@dataclass(frozen=True)
class LabelledSequences(SequenceOptions):
    """How the data say where a sequence ends, and which states its steps have.

    Parameters
    ----------
    states
        The name of the column of a table, with `group`, that holds labels of states. All other columns are observed.
    """

    states: str | None = None
