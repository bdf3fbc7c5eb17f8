"""What the causes of a noisy maximum produced, from a clique tree's beliefs about its chain of partial maxima."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.learning.conditionals.causes import CauseCounts, Causes, causes_of, counted_causes
from juncture.learning.conditionals.row_counts import RowCounts


def chained_causes(conditional: NoisyOr | NoisyMax, causes: Causes, tables: Sequence[np.ndarray]) -> CauseCounts:
    """From the chain A1 = max(leak, Z1), A2 = max(A1, Z2), …: a link that rises shows Z, one that stays bounds it."""
    first = NoisyMax(conditional.child, conditional.parents[:1], [causes.tables[0]], causes.leak)
    start = counted_causes(RowCounts.of_table(first, tables[0]), causes_of(first))
    later = [link_counts(link, table) for link, table in zip(tables[1:], causes.tables[1:], strict=True)]
    return CauseCounts(conditional.child, conditional.parents, (start.tables[0], *later), start.leak)


def link_counts(link: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The weights of Z by the parent's state, (x, z), from those of (before, x, after)."""
    states = np.arange(table.shape[1])
    rises = np.where(states[:, None, None] < states, link, 0.0).sum(axis=0)  # (x, after): Z is what it rose to
    stays = link[states, :, states].T  # (x, a): Z is at most a
    cumulative = np.cumsum(table, axis=1)
    share = np.divide(stays, cumulative, out=np.zeros_like(stays), where=cumulative > 0)
    return np.asarray(rises + table * np.cumsum(share[:, ::-1], axis=1)[:, ::-1])
