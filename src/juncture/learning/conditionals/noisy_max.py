"""Learning a noisy maximum from complete rows: EM over what each cause produced, with leaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.errors import InvalidData
from juncture.factors.noisy import NoisyMax
from juncture.iteration import iterate
from juncture.learning.conditionals.causes import Causes, causes_of, counted_causes
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.em.squarem import leap

TOLERANCE = 1e-12
MAX_STEPS = 5_000
START = 0.2  # the share of the leak that starts spread over all states


def fitted_causes(conditional: NoisyMax, part: RowCounts) -> Causes:
    """The causes of the largest likelihood that EM finds."""
    if not part.weights.sum() > 0:
        raise InvalidData(f"nothing is known of {part.child.name!r}: its noisy causes need at least one row")
    return iterate(CauseEM(part, causes_of(conditional)), tolerance=TOLERANCE, max_steps=MAX_STEPS)[0]


@dataclass(frozen=True, eq=False)
class CauseEM:
    """EM on the values that the causes produced; the leak counts as a cause that is always there."""

    part: RowCounts
    start: Causes

    def init(self) -> Causes:
        """Even odds wherever the model allows anything: EM would never leave a zero."""
        return Causes(tuple(spread(table) for table in self.start.tables), spread(self.start.leak, START))

    def step(self, causes: Causes) -> Causes:
        """Two steps of EM, then a leap along them if that is better."""
        once = self.once(causes)
        twice = self.once(once)
        found = leap(*([*stage.tables, stage.leak] for stage in (causes, once, twice)))
        if found is None:
            return twice
        reached = Causes(tuple(found[:-1]), found[-1])
        return reached if self.objective(reached) > self.objective(twice) else twice

    def once(self, causes: Causes) -> Causes:
        return counted_causes(self.part, causes).normalized(causes)

    def objective(self, causes: Causes) -> float:
        return self.part.log_likelihood(NoisyMax(self.part.child, self.part.parents, causes.tables, causes.leak))


def spread(rows: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Rows with `share` of their weight spread evenly; one that allows a single state stays as it is."""
    certain = (rows == 1.0).any(axis=-1, keepdims=True) & (rows.ndim > 1)
    even = (1 - share) * np.eye(rows.shape[-1])[0] + share / rows.shape[-1]
    return np.where(certain, rows, even)
