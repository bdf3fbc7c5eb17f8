"""Families that are estimated from the sample itself, always or where a parameter is unknown.

`Sampled` is the base class of families whose sufficient statistic is the sample. `PartlyExponential` is that of
families which are exponential for each value of a fixed parameter: with that parameter known their statistics are sums.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.statistics.sums import with_batch


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


class PartlyExponential(ExponentialFamily):
    """If the `fixed` parameter is known, the statistics are sums; if not, they are the sample, and all is estimated."""

    @classmethod
    def _from_sample(cls, sample: Sample) -> Self:
        """The maximum likelihood estimate of all parameters."""
        raise NotImplementedError

    def _divergence(self, other: Any) -> np.ndarray:
        """KL(self ‖ other) for two members whose fixed parameters may differ."""
        raise NotImplementedError

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Statistics:
        if not cls.fixed.keys() <= known.keys():
            return Sample.of(cls, rows, weights, known)
        batch = np.broadcast_shapes(*(value.shape for value in known.values()))
        if batch:  # each member of the batch has a fixed parameter of its own, so sums of its own
            wide = with_batch(rows, max(rows.ndim - 1, len(batch)))
            rows = np.broadcast_to(wide, (len(rows), *np.broadcast_shapes(wide.shape[1:], batch)))
        return super()._summarise(rows, weights, known)

    @classmethod
    def _estimate(cls, statistics: Any) -> Self:
        return cls._from_sample(statistics) if isinstance(statistics, Sample) else super()._estimate(statistics)

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x), from sums or from the sample."""
        if isinstance(statistics, Sample) and statistics.family is type(self):
            return plain(statistics.log_likelihood_of(self))
        return super().log_likelihood(statistics)

    def _check_statistics(self, statistics: Statistics) -> None:
        super()._check_statistics(statistics)
        for name, value in self._known().items():
            if name not in statistics.known or not (statistics.known[name] == value).all():
                raise InvalidData(
                    f"{self!r} can use sums over data only for its own {name}: pass {name}= to statistics"
                )

    def cross_entropy(self, other: Family) -> Real:
        """Entropy plus divergence, also where the fixed parameters differ; otherwise by quadrature."""
        if type(other) is not type(self):
            return super().cross_entropy(other)
        return plain(np.asarray(self.entropy()) + self._divergence(other))

    def kl_divergence(self, other: Family) -> Real:
        """KL(self ‖ other), in nats, also where the fixed parameters differ; otherwise by quadrature."""
        if type(other) is not type(self):
            return super().kl_divergence(other)
        return plain(np.maximum(self._divergence(other), 0.0))
