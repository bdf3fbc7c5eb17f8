"""`JointPrior`: a prior of a Gaussian's mean together with its variance, precision or covariance. Its values are pairs.

The second entry of a pair has a distribution of its own. The mean, given the second entry, is Gaussian with `strength`
times the precision of an observation.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import is_iterable, shown
from juncture.base.options import as_generator, as_sizes
from juncture.data.observations import as_values, check_answer
from juncture.data.tables.weights import as_weight_columns
from juncture.errors import InvalidData
from juncture.families.conjugacy import ConjugatePrior
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family, Real, plain
from juncture.families.gamma_divergence import ratio_excess
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.statistics.statistics_method import StatisticsMethod
from juncture.families.statistics.sums import weighted_sum
from juncture.families.supports import Interval, Pairs
from juncture.families.vectors.vector_family import check_nothing_known, check_same_dimension
from juncture.numerics.stable import LOG_TWO_PI


class PairStatisticsMethod(StatisticsMethod):
    """`statistics((means, seconds), weights=None)`: Σ w u over pairs; rows are the first axis of both."""

    def __get__(self, instance: Family | None, owner: Any) -> Any:
        def statistics(x: Any, weights: Any = None, **known: Any) -> Statistics:
            check_nothing_known(owner, known)
            found: Statistics = owner._summarise_pairs(owner._as_pair(x), weights)
            return found

        statistics.__doc__ = self.__doc__
        return statistics


class JointPrior(ExponentialFamily, ConjugatePrior):
    """A prior of the pairs that its `pair_type` names."""

    pair_type: ClassVar[Any]
    mean_axes: ClassVar[int] = 0  # of the first value; the second has twice as many
    statistics: ClassVar[StatisticsMethod] = PairStatisticsMethod()

    # -- supplied by each prior

    def _marginal_of_second(self) -> Any:
        """The marginal distribution of the variance, precision or covariance."""
        raise NotImplementedError

    @classmethod
    def _log_precision(cls, second: np.ndarray) -> np.ndarray:
        """log of the precision, or of its determinant."""
        raise NotImplementedError

    @classmethod
    def _squared_distance(cls, shift: np.ndarray, second: np.ndarray) -> np.ndarray:
        """precision · shift², or shiftᵀ precision shift."""
        raise NotImplementedError

    @classmethod
    def _color(cls, noise: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Standard normal noise with the precision taken on."""
        raise NotImplementedError

    def _expected_square(self, shift: np.ndarray) -> np.ndarray:
        """E of precision · shift², or of shiftᵀ precision shift."""
        raise NotImplementedError

    def _expected_log_precision(self) -> np.ndarray:
        """E log of the precision, or of its determinant."""
        raise NotImplementedError

    @classmethod
    def _supports(cls, event_shape: tuple[int, ...]) -> Pairs:
        raise NotImplementedError

    # -- densities and draws

    @property
    def support(self) -> Pairs:
        return self._supports(self.event_shape)

    @classmethod
    def _as_pair(cls, x: Any) -> tuple[np.ndarray, np.ndarray]:
        """The two values, checked; each may have rows."""
        names = " and ".join(cls.pair_type._fields)
        try:
            first, second = x
        except (TypeError, ValueError):
            raise InvalidData(f"a value of {cls.__name__} is a pair of {names}; got {x!r}") from None
        mean = as_values(first, (), name=f"the mean in {cls.__name__}")
        event = mean.shape[max(mean.ndim - cls.mean_axes, 0) :]
        if len(event) < cls.mean_axes:
            raise InvalidData(f"the mean in a value of {cls.__name__} is a vector; got {first!r}")
        other = as_values(second, event * 2, name=f"the {cls.pair_type._fields[1]} in {cls.__name__}")
        rows, other_rows = mean.shape[: mean.ndim - cls.mean_axes], other.shape[: other.ndim - 2 * cls.mean_axes]
        if rows and other_rows and rows != other_rows:
            raise InvalidData(f"pairs of {names} have as many of each; got {rows} and {other_rows}")
        return mean, other

    def log_prob(self, x: Any) -> Real:
        """log p of a pair, or of rows of pairs; -inf outside the support."""
        mean, second = self._as_pair(x)
        if mean.shape[mean.ndim - self.mean_axes :] != self.event_shape:
            raise InvalidData(f"the mean in {type(self).__name__} has the shape {self.event_shape}; got {mean.shape}")
        if np.isnan(mean).any() or np.isnan(second).any():
            raise InvalidData(f"{type(self).__name__}.log_prob was given a missing value (NaN); leave it out")
        support, axes = self.support, self.mean_axes
        inside = support.contains((mean, second))
        mean = np.where(inside[(...,) + (None,) * axes], mean, support.first.inside())
        second = np.where(inside[(...,) + (None,) * (2 * axes)], second, support.second.inside())
        found = np.asarray(self._marginal_of_second().log_prob(second)) + self._log_prob_of_mean_given(mean, second)
        return plain(np.where(inside, found, -np.inf))

    @np.errstate(over="ignore")
    def _log_prob_of_mean_given(self, mean: np.ndarray, second: np.ndarray) -> np.ndarray:
        strength = self._given["strength"]
        squares = strength * self._squared_distance(mean - self._given["mean"], second)
        scale = self._log_precision(second) + self._dimension() * (np.log(strength) - LOG_TWO_PI)
        return np.asarray(0.5 * (scale - squares))

    @np.errstate(divide="ignore", over="ignore", invalid="ignore")  # a draw may be beyond all numbers
    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Any = None) -> Any:
        """Draws, as a pair of arrays (*size, *batch, *event)."""
        shape, generator = as_sizes(size) + self.batch_shape, as_generator(rng)
        second = self._marginal_of_second()._draw_inside(shape, generator)
        noise = self._color(generator.standard_normal(shape + self.event_shape), second)
        strength = self._given["strength"][(...,) + (None,) * self.mean_axes]
        mean = Interval().clip_inside(self._given["mean"] + noise / np.sqrt(strength))
        return check_answer(self.pair_type(plain(mean), plain(second)), self, "a draw")

    def sufficient_statistics(self, x: Any) -> np.ndarray:
        """u of the pair, along a new last axis."""
        return np.asarray(self._sufficient(self._as_pair(x), {}))  # type: ignore[arg-type]

    # -- information: centred, since squares of a large mean would cancel

    def entropy(self) -> Real:
        """H of the second value, and of the mean given it."""
        strength, dimension = self._given["strength"], self._dimension()
        given = 0.5 * (dimension * (LOG_TWO_PI + 1 - np.log(strength)) - self._expected_log_precision())
        return plain(np.broadcast_to(self._marginal_of_second().entropy() + given, self.batch_shape))

    def cross_entropy(self, other: Any) -> Real:
        """-E log q: entropy and divergence."""
        return plain(np.asarray(self.entropy()) + self.kl_divergence(other))

    def kl_divergence(self, other: Any) -> Real:
        """KL of the marginals of the second value, and the expected KL of the means given it."""
        if type(other) is not type(self):
            return super().kl_divergence(other)
        check_same_dimension(self, other)
        second = np.asarray(self._marginal_of_second().kl_divergence(other._marginal_of_second()))
        squares = self._expected_square(self._given["mean"] - other._given["mean"])
        excess = self._dimension() * ratio_excess(other._given["strength"], self._given["strength"])
        return plain(second + 0.5 * (excess + other._given["strength"] * squares))

    def _pair(self, second: np.ndarray) -> Any:
        """The mean beside this second value, one of both for each member of the batch."""
        shapes = [self.batch_shape + self.event_shape * times for times in (1, 2)]
        parts = zip((self._given["mean"], second), shapes, strict=True)
        return self.pair_type(*(plain(np.broadcast_to(part, shape)) for part, shape in parts))

    def _dimension(self) -> int:
        return 1 if not self.mean_axes else self.event_shape[0]

    # -- statistics of pairs

    @classmethod
    def _summarise_pairs(cls, pair: tuple[np.ndarray, np.ndarray], weights: Any) -> Statistics:
        mean, second = cls._rows_of(*pair)
        support = cls._supports(mean.shape[mean.ndim - cls.mean_axes :])
        inside = support.contains((mean, second))
        if not inside.all():
            row = int(np.nonzero(~inside)[0][0])
            raise InvalidData(f"row {row} of the data of {cls.__name__} must be one of {support}")
        rows = cls._sufficient((mean, second), {})  # type: ignore[arg-type]
        checked = as_weight_columns(weights, len(rows))
        weight = weighted_sum(np.ones(rows.shape[:-1]), checked, axes=0)
        total = weighted_sum(rows, checked, axes=1)
        if not np.isfinite(total).all():
            raise InvalidData(f"the statistics of {cls.__name__} are infinite for a value so extreme; leave it out")
        return Statistics(cls, weight=weight, total=total, log_base=np.zeros(weight.shape))

    @classmethod
    def _rows_of(cls, mean: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Both with the same rows; a pair alone counts as one row."""
        split, second_split = mean.ndim - cls.mean_axes, second.ndim - 2 * cls.mean_axes
        rows = np.broadcast_shapes(mean.shape[:split], second.shape[:second_split]) or (1,)
        means = np.broadcast_to(mean, rows + mean.shape[split:])
        return means.astype(float), np.broadcast_to(second, rows + second.shape[second_split:]).astype(float)


def strength_of(prior: Any, known: Known) -> Any:
    return prior.strength


def as_pair(point: Any, second: str) -> tuple[Any, Any]:
    """The parameter value of a joint prior: a pair."""
    if not isinstance(point, tuple | list | np.ndarray) or not is_iterable(point) or len(point) != 2:
        raise InvalidData(f"the parameter is a pair of a mean and a {second}; got {shown(point)}")
    return point[0], point[1]
