"""Learning a noisy OR or maximum: EM over what each cause produced, which no row shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.iteration import iterate
from juncture.learning.kinds.causes import CauseCounts, CauseEM, Causes, causes_of, chained_causes, counted_causes
from juncture.learning.kinds.contract import Wishes, estimated, expected_part, log_likelihood_of, summarise
from juncture.learning.kinds.row_counts import RowCounts

TOLERANCE = 1e-12
MAX_STEPS = 20_000


@summarise.register(NoisyOr)
@summarise.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax, data: Dataset) -> RowCounts:
    return RowCounts.of(conditional, data)


@log_likelihood_of.register(NoisyOr)
@log_likelihood_of.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax, part: RowCounts) -> float:
    return part.log_likelihood(conditional)


@estimated.register
def _(conditional: NoisyOr, part: RowCounts | CauseCounts, wishes: Wishes) -> NoisyOr:
    """A cause that is off produces nothing: only its second row is free."""
    causes = fitted_causes(conditional, part)
    return NoisyOr(part.child, part.parents, [table[1, 1] for table in causes.tables], causes.leak[1])


@estimated.register
def _(conditional: NoisyMax, part: RowCounts | CauseCounts, wishes: Wishes) -> NoisyMax:
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


def fitted_causes(conditional: NoisyOr | NoisyMax, part: RowCounts | CauseCounts) -> Causes:
    """The causes of the largest likelihood; from expected counts of what each produced, in one step."""
    start = causes_of(conditional)
    if isinstance(part, CauseCounts):
        return part.normalized(start)
    if not part.weights.sum() > 0:
        raise InvalidData(f"nothing is known of {part.child.name!r}: its noisy causes need at least one row")
    return iterate(CauseEM(part, start), tolerance=TOLERANCE, max_steps=MAX_STEPS)[0]
