"""Learning a noisy OR or maximum, from complete rows or from beliefs about what each cause produced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.learning.conditionals.cause_chain import chained_causes
from juncture.learning.conditionals.causes import CauseCounts, causes_of, counted_causes
from juncture.learning.conditionals.contract import Wishes, estimated, expected_part, learns_from
from juncture.learning.conditionals.noisy_max import fitted_causes
from juncture.learning.conditionals.noisy_or import noisy_or_probabilities
from juncture.learning.conditionals.row_counts import RowCounts


@learns_from.register(NoisyOr)
@learns_from.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax) -> tuple[type, ...]:
    return (RowCounts, CauseCounts)


@estimated.register
def _(conditional: NoisyOr, part: RowCounts | CauseCounts, wishes: Wishes) -> NoisyOr:
    """A cause that is off produces nothing: only its second row is free."""
    if isinstance(part, CauseCounts):
        causes = part.normalized(causes_of(conditional))
        return NoisyOr(part.child, part.parents, [table[1, 1] for table in causes.tables], causes.leak[1])
    leak, *probabilities = noisy_or_probabilities(part)
    return NoisyOr(part.child, part.parents, probabilities, leak)


@estimated.register
def _(conditional: NoisyMax, part: RowCounts | CauseCounts, wishes: Wishes) -> NoisyMax:
    if isinstance(part, CauseCounts):
        causes = part.normalized(causes_of(conditional))
    else:
        causes = fitted_causes(conditional, part)
    return NoisyMax(part.child, part.parents, causes.tables, causes.leak)


@expected_part.register(NoisyOr)
@expected_part.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax, tables: Sequence[np.ndarray]) -> CauseCounts:
    """What each cause is believed to have produced: from the whole table, or along the chain of partial maxima."""
    causes = causes_of(conditional)
    if len(tables) == 1:
        return counted_causes(RowCounts.of_table(conditional, tables[0]), causes)
    return chained_causes(conditional, causes, tables)
