"""`GenericPrior`: the conjugate prior that every exponential family has, whether or not it has a name."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import as_float, check_array, check_kind, shown
from juncture.base.values import Value, read_only
from juncture.data.observations import as_values
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.exponential_family import ExponentialFamily, dot
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Statistics
from juncture.numerics.quadrature.line_density import LineDensity
from juncture.numerics.quadrature.plane_density import PlaneDensity
from juncture.numerics.stable import log_sum_exp

FAR = 1e6


class GenericPrior(Value):
    """p(η) = exp(η·χ - ν A(η) - B(χ, ν)): as if ν observations had been seen, whose statistics sum to χ.

    For families with one or two natural parameters; the normaliser B comes from quadrature.

    Parameters
    ----------
    family
        An exponential family.
    chi
        χ, the sum of the sufficient statistics of the pseudo-observations.
    nu
        ν, the number of pseudo-observations, positive.
    **known
        The parameters of the family that are known, such as the trials of a binomial.

    Examples
    --------
    >>> from juncture.families.discrete.bernoulli import Bernoulli
    >>> coin = GenericPrior(Bernoulli, [1.0], 2.0).posterior(Bernoulli.statistics([1, 1, 0, 0, 0, 1, 1]))
    >>> coin.likelihood_at_mode()
    Bernoulli(probability=0.5555555555555556)
    """

    family: type[ExponentialFamily]
    chi: np.ndarray  # (statistic,)
    nu: float
    known: dict[str, np.ndarray]

    def __init__(self, family: type[ExponentialFamily], chi: Any, nu: float, **known: Any) -> None:
        if not (isinstance(family, type) and issubclass(family, ExponentialFamily)):
            raise Unsupported(f"the generic prior is of an exponential family, such as Poisson; got {family!r}")
        if any(rule.axes for rule in family.parameters.values()):
            raise Unsupported(f"{family.__name__} has more natural parameters than this quadrature takes, which is two")
        held = dict(family._check_known(known))
        numbers = read_only(np.atleast_1d(check_array(chi, "χ", error=InvalidModel)))
        if numbers.shape != (family._num_statistics(held),) or not np.isfinite(numbers).all():
            raise InvalidModel(f"χ has one finite number for each statistic of {family.__name__}; got {chi!r}")
        if len(numbers) > 2:
            raise Unsupported(f"{family.__name__} has {len(numbers)} natural parameters; this quadrature takes two")
        if not 0 < as_float(nu) < np.inf:
            raise InvalidModel(f"ν must be a positive finite number; got {shown(nu)}")
        self._set(family=family, chi=numbers, nu=float(nu), known=held)
        self.likelihood_at_mode()  # there is none where χ/ν is no mean: then the prior cannot be normalised

    # -- learning

    def posterior(self, statistics: Statistics) -> GenericPrior:
        """(χ + Σu, ν + n)."""
        self._check_statistics(statistics)
        return GenericPrior(self.family, self.chi + statistics.total, self.nu + float(statistics.weight), **self.known)

    def log_evidence(self, statistics: Statistics) -> float:
        """B(χ + Σu, ν + n) - B(χ, ν) + Σ log h."""
        grown = self.posterior(statistics).log_normalizer - self.log_normalizer
        return float(grown + statistics.log_base)

    def _check_statistics(self, statistics: Statistics) -> None:
        check_kind(statistics, Statistics, "what a prior learns from")
        if statistics.family is not self.family or statistics.batch_shape:
            raise InvalidData(f"this prior takes statistics of one {self.family.__name__}; got {statistics!r}")

    # -- the density of η

    @property
    def density(self) -> LineDensity | PlaneDensity:
        """The density of the natural parameters, normalised."""
        if "density" not in self.derived:
            self.derived["density"] = self._build_density()
        density: LineDensity | PlaneDensity = self.derived["density"]
        return density

    def _build_density(self) -> LineDensity | PlaneDensity:
        intervals = [self._interval(axis) for axis in range(len(self.chi))]
        if len(intervals) == 1:
            return LineDensity(lambda natural: self._log_height(natural[..., None]), *intervals[0])
        return PlaneDensity(
            lambda first, second: self._log_height(np.stack([first, second], axis=-1)), (intervals[0], intervals[1])
        )

    def _log_height(self, natural: np.ndarray) -> np.ndarray:
        return np.asarray(dot(natural, self.chi) - self.nu * self.family._log_partition_of(natural, self.known))

    def _interval(self, axis: int) -> tuple[float, float]:
        """The values of one natural parameter at which A is finite, found by bisection from the mode."""
        mode = self.likelihood_at_mode().natural_parameters

        def is_allowed(value: float) -> bool:
            natural = mode.copy()
            natural[axis] = value
            with np.errstate(all="ignore"):
                return bool(np.isfinite(self.family._log_partition_of(natural, self.known)))

        return _edge(is_allowed, float(mode[axis]), -1.0), _edge(is_allowed, float(mode[axis]), 1.0)

    @property
    def log_normalizer(self) -> float:
        """B(χ, ν) = log ∫ exp(η·χ - ν A(η)) dη."""
        return self.density.log_total

    def log_prob(self, natural: Any) -> Real:
        """The log-density of natural parameters, along the last axis."""
        values = as_values(natural, self.chi.shape, name="the density of natural parameters").astype(float)
        return plain(self._log_height(values) - self.log_normalizer)

    @property
    def mean(self) -> np.ndarray:
        """E η, which is the gradient of B in χ."""
        return np.atleast_1d(self.density.mean)

    def likelihood_at_mode(self) -> Any:
        """The member whose mean parameters are χ/ν: the mode in η, a weighted average of prior and data."""
        return self.family._from_mean(self.chi / self.nu, self.known)

    def predictive_log_prob(self, x: Any) -> Real:
        """log ∫ p(x | η) p(η) dη of single observations."""
        points, log_mass = self.density.nodes()
        natural = np.atleast_2d(np.asarray(points)).T  # (node, statistic)
        values = as_values(x, (), name=self.family.__name__).astype(float)
        sufficient = self.family._sufficient(values, self.known)[..., None, :]
        fit = dot(natural, sufficient) - self.family._log_partition_of(natural, self.known)
        return plain(log_sum_exp(fit + log_mass, axis=-1) + self.family._log_base(values, self.known))

    def __repr__(self) -> str:
        return f"GenericPrior({self.family.__name__}, chi={self.chi.tolist()}, nu={self.nu:g})"


def _edge(is_allowed: Any, inside: float, side: float) -> float:
    """The last allowed value on one side; natural parameters end at whole numbers, if they end."""
    outside = inside + side * FAR
    if is_allowed(outside) or is_allowed(inside + side * 500):  # A may overflow far out without an end
        return side * np.inf
    for _ in range(100):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if is_allowed(middle) else (inside, middle)
    whole = round(outside)
    return float(whole) if abs(outside - whole) < 1e-6 else outside
