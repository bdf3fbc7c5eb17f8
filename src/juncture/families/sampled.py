"""`Sampled`: a family whose sufficient statistic is the sample itself."""

from __future__ import annotations

import numpy as np

from juncture.errors import InvalidData
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.known import Known
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Statistics


class Sampled(Family):
    """A family for which nothing shorter than the values themselves is enough."""

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Sample:
        return Sample.of(cls, rows, weights, known)

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x) of the sample."""
        if not isinstance(statistics, Sample) or statistics.family is not type(self):
            raise InvalidData(f"these are not statistics of {type(self).__name__}: {statistics!r}")
        return plain(statistics.log_likelihood_of(self))
