"""A posterior by quadrature, for pairs that are not conjugate and as an oracle for those that are.

Choose it for one or two parameters and any prior and likelihood; a conjugate prior is exact and faster. `LogJoint` is
log p(data, θ) = log p(θ) + log p(data | θ), also where floating point cannot hold the likelihood.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_function, check_number, check_tuples, is_iterable, shown
from juncture.base.options import as_generator
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.constraints import InvalidParameter
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.statistics import Statistics
from juncture.families.supports import Interval
from juncture.numerics.quadrature.changes import change_for
from juncture.numerics.quadrature.line_density import LineDensity
from juncture.numerics.quadrature.panels import NO_HINTS, scan_of
from juncture.numerics.quadrature.plane_density import Intervals, PlaneDensity, slice_scan
from juncture.numerics.stable import log_sum_exp

TAIL = 10.0 ** -np.arange(1.0, 15.5)
QUANTILES = np.sort(np.concatenate([TAIL, np.arange(0.05, 1.0, 0.05), 1 - TAIL]))  # where the prior is looked at
Prior = Family | Callable[..., Any]
ROWS = 4096  # at a time
NEGLIGIBLE = 46.0  # prior heights below exp(-46) of the highest do not count
Likelihood = Callable[..., Any]


class QuadraturePosterior:
    """p(θ | data) and log p(data); every other question goes to the density behind it."""

    def __init__(self, density: LineDensity | PlaneDensity, likelihood: Likelihood) -> None:
        self.density, self._likelihood = density, likelihood

    @property
    def log_evidence(self) -> float:
        """log ∫ p(data | θ) p(θ) dθ."""
        return self.density.log_total

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "density":
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.density, name)

    def predictive_log_prob(self, x: Any) -> Real:
        """log ∫ p(x | θ) p(θ | data) dθ for each observation x."""
        points, log_mass = self.density.nodes()
        member = self._likelihood(*_arguments(points))
        axes = len(member.event_shape)
        values = np.asarray(x)
        rows = values.reshape(-1, 1, *values.shape[values.ndim - axes :])
        found = [log_sum_exp(log_mass + np.asarray(member.log_prob(row)), axis=-1) for row in rows]
        return plain(np.array(found).reshape(values.shape[: values.ndim - axes]))

    def predictive_sample(self, size: int, *, rng: Any = None) -> Any:
        """Draws of new observations: a parameter from the posterior, then an observation given it."""
        generator = as_generator(rng)
        draws = self.density.sample(size, rng=generator)
        return self._likelihood(*_arguments(draws.T if np.ndim(draws) > 1 else draws)).sample(rng=generator)

    def __repr__(self) -> str:
        return f"QuadraturePosterior(mean={np.asarray(self.mean).tolist()}, log_evidence={self.log_evidence:.6g})"


def quadrature_posterior(
    prior: Prior | tuple[Prior, Prior],
    likelihood: Likelihood,
    data: Any,
    *,
    interval: Any = None,
) -> QuadraturePosterior:
    """The posterior of one parameter, or of two when the prior is a pair or the interval is a pair of intervals.

    Parameters
    ----------
    prior
        A family, a function that gives log-densities of an array of values, or a pair of these.
    likelihood
        A function that makes a batch of families from arrays of parameter values.
    data
        Statistics or observations.
    interval
        The interval of the parameter, or a pair of intervals. A family is truncated to the interval and normalised
        again. A function needs an interval, and is not normalised.

    Returns
    -------
    QuadraturePosterior
        The posterior density, its moments and quantiles, and the evidence.

    Where a parameter of the likelihood overflows, or is rounded to the end of its range, the density is 0 if it falls
    off on the way there. A prior with mass where there is no likelihood (a negative rate) is an error.

    Examples
    --------
    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> posterior = quadrature_posterior(Gaussian(0.0, 1.0), lambda mean: Gaussian(mean, 4.0), [2.0, 4.0])
    >>> round(posterior.mean, 10), round(posterior.variance, 10)
    (1.0, 0.6666666667)
    """
    prior = tuple(prior) if isinstance(prior, list) else prior
    check_function(likelihood, "the likelihood, a family or what makes one of parameter values,")
    if isinstance(prior, tuple) or is_plane(interval):
        return _in_the_plane(prior, likelihood, data, interval)
    low, high = _range_of(prior, interval)
    hints = _hints(prior, (low, high))
    log_joint = LogJoint(_log_prior(prior, (low, high)), likelihood, data)
    change = change_for(low, high)
    scan = scan_of(change.ends, change.coordinate(hints))
    log_joint.check_domain((change.point(scan),), change.log_slope(scan))
    return QuadraturePosterior(LineDensity(log_joint, low, high, hints=hints), likelihood)


def _in_the_plane(prior: Any, likelihood: Likelihood, data: Any, intervals: Any) -> QuadraturePosterior:
    log_prior, ranges = _independent(prior, intervals) if isinstance(prior, tuple) else _joint(prior, intervals)
    priors = prior if isinstance(prior, tuple) else (None, None)
    hints = _hints(priors[0], ranges[0]), _hints(priors[1], ranges[1])
    log_joint = LogJoint(log_prior, likelihood, data)
    first, second = change_for(*ranges[0]), change_for(*ranges[1])
    scans = slice_scan(first.ends, first.coordinate(hints[0])), slice_scan(second.ends, second.coordinate(hints[1]))
    z, w = (part.ravel() for part in np.meshgrid(*scans))
    log_joint.check_domain((first.point(z), second.point(w)), first.log_slope(z) + second.log_slope(w))
    return QuadraturePosterior(PlaneDensity(log_joint, ranges, hints=hints), likelihood)


def _hints(prior: Any, interval: tuple[float, float]) -> np.ndarray:
    """Quantiles of the prior inside the interval: where to look first; none of a function."""
    if not isinstance(prior, Family):
        return NO_HINTS
    try:
        quantiles = np.asarray(prior.quantile(QUANTILES))
    except Unsupported:
        return NO_HINTS
    return np.unique(quantiles[(quantiles > interval[0]) & (quantiles < interval[1]) & np.isfinite(quantiles)])


def _joint(prior: Any, intervals: Any) -> tuple[Callable[..., Any], Intervals]:
    """A function of both parameters."""
    check_function(prior, "a prior of two parameters that is no pair")
    first, second = map(as_interval, intervals)
    return prior, (first, second)


def _independent(priors: tuple[Prior, Prior], intervals: Any) -> tuple[Callable[..., Any], Intervals]:
    """The log-density of two independent priors, and the intervals of both."""
    if len(priors) != 2:
        raise InvalidData(f"a prior of two parameters is a pair of priors; got {len(priors)}")
    given = (None, None) if intervals is None else check_tuples(intervals, 2, "interval")
    if len(given) != 2:
        raise InvalidData(f"two parameters have a pair of intervals; got {shown(intervals)}")
    first, second = (_range_of(prior, interval) for prior, interval in zip(priors, given, strict=True))
    log_first, log_second = _log_prior(priors[0], first), _log_prior(priors[1], second)
    return lambda one, two: np.asarray(log_first(one)) + np.asarray(log_second(two)), (first, second)


def is_plane(interval: Any) -> bool:
    """Whether it is a pair of intervals."""
    is_list = isinstance(interval, tuple | list | np.ndarray) and is_iterable(interval)
    return is_list and len(interval) == 2 and all(map(is_iterable, interval))


def as_interval(interval: Any) -> tuple[float, float]:
    """Two ends, the lower one first."""
    if not isinstance(interval, tuple | list | np.ndarray) or np.ndim(interval) != 1 or len(interval) != 2:
        raise InvalidData(f"an interval is a pair of numbers, (low, high); got {shown(interval)}")
    low, high = (check_number(end, "an end of the interval") for end in interval)
    if not low < high:
        raise InvalidData(f"an interval runs from low to high; got {low:g} and {high:g}")
    return low, high


def _range_of(prior: Prior, interval: Any) -> tuple[float, float]:
    if interval is not None:
        return as_interval(interval)
    if not isinstance(prior, Family):
        if not callable(prior):
            raise InvalidData(f"a prior is a family or a function that gives log-densities; got {prior!r}")
        raise InvalidModel("a prior that is a function needs the interval of its values: pass interval=(low, high)")
    support = prior.support
    if prior.event_shape or prior.batch_shape or support.is_discrete or not isinstance(support, Interval):
        raise InvalidData(f"a prior is one distribution of one real number, or a pair of these; {prior!r} is not")
    return float(support.low), float(support.high)


def _log_prior(prior: Prior, interval: tuple[float, float]) -> Callable[[np.ndarray], np.ndarray]:
    """The log-density of the prior, normalised on the interval if it is a family."""
    if not isinstance(prior, Family):
        return prior
    density: Callable[[np.ndarray], np.ndarray] = prior.log_prob
    if interval == (prior.support.low, prior.support.high):
        return density
    log_share = LineDensity(density, *interval, hints=_hints(prior, interval)).log_total
    return lambda theta: density(theta) - log_share


def _arguments(points: Any) -> tuple[Any, ...]:
    """One array of parameter values, or two."""
    return tuple(points) if isinstance(points, tuple) or np.ndim(points) == 2 else (points,)


class Members(NamedTuple):
    """Members of a family for those values of θ at which it can be built, and why it cannot at the others."""

    family: Any  # a batch with one member for each value that is built
    is_built: np.ndarray  # (value,)
    is_limit: np.ndarray  # (value,): a parameter overflowed, or was rounded to the end of its range
    error: InvalidModel | None


class LogJoint:
    """The log-density of θ and data together; NaN where the likelihood cannot be built.

    It is not built where the prior is 0.
    """

    def __init__(self, log_prior: Callable[..., Any], likelihood: Likelihood, data: Any) -> None:
        self.log_prior, self.likelihood, self.data = log_prior, likelihood, data

    def __call__(self, *theta: np.ndarray) -> np.ndarray:
        found = np.array(np.broadcast_to(self.log_prior(*theta), theta[0].shape), dtype=float)
        is_possible = ~np.isneginf(found)
        if is_possible.any():
            found[is_possible] += self._log_likelihood(tuple(part[is_possible] for part in theta))
        return found

    def _log_likelihood(self, theta: tuple[np.ndarray, ...]) -> np.ndarray:
        members = build(self.likelihood, theta)
        found = np.full(theta[0].shape, np.nan)
        if members.is_built.any():
            found[members.is_built] = log_likelihood(members.family, self.data)
        return found

    def check_domain(self, theta: tuple[np.ndarray, ...], log_slope: np.ndarray) -> None:
        """Refuse a prior with mass at values for which the likelihood does not exist, not even as a limit."""
        with np.errstate(all="ignore"):
            heights = np.asarray(self.log_prior(*theta)) + log_slope
            counts = heights > np.nanmax(heights) - NEGLIGIBLE
            members = build(self.likelihood, tuple(part[counts] for part in theta))
        is_wrong = ~members.is_built & ~members.is_limit
        if is_wrong.any():
            first = ", ".join(f"{part[counts][is_wrong][0]:.6g}" for part in theta)
            raise InvalidModel(
                f"the prior has mass at {first}, where the likelihood does not exist: {members.error}; "
                "pass the interval on which it does, or another likelihood"
            )


def build(likelihood: Likelihood, theta: tuple[np.ndarray, ...]) -> Members:
    """The likelihood at each value, built once for all of them if that goes."""
    size = theta[0].size
    try:
        return Members(likelihood(*theta), np.ones(size, bool), np.zeros(size, bool), None)
    except InvalidModel as error:
        is_wrong, is_limit = _wrong_members(likelihood, theta, error)
        kept = np.flatnonzero(~is_wrong)
        if not len(kept):
            return Members(None, np.zeros(size, bool), is_limit, error)
        rest = build(likelihood, tuple(part[kept] for part in theta))  # another parameter may be wrong elsewhere
        is_built = np.zeros(size, bool)
        is_built[kept] = rest.is_built
        is_limit[kept] = rest.is_limit
        is_outside = not (is_limit[is_wrong]).all()
        return Members(rest.family, is_built, is_limit, error if is_outside or rest.error is None else rest.error)


def _wrong_members(
    likelihood: Likelihood, theta: tuple[np.ndarray, ...], error: InvalidModel
) -> tuple[np.ndarray, np.ndarray]:
    """Which values of θ the error is about, and which of them it calls limits."""
    if isinstance(error, InvalidParameter) and error.is_wrong.shape == theta[0].shape:
        return error.is_wrong.copy(), error.is_limit.copy()
    is_wrong = ~_build_one_by_one(likelihood, theta)
    return is_wrong, np.zeros(theta[0].size, bool)


def _build_one_by_one(likelihood: Likelihood, theta: tuple[np.ndarray, ...]) -> np.ndarray:
    """At which values the likelihood can be built, by halving what cannot be built at once."""
    try:
        likelihood(*theta)
    except InvalidModel:
        half = theta[0].size // 2
        if not half:
            return np.zeros(1, bool)
        sides = (tuple(part[:half] for part in theta), tuple(part[half:] for part in theta))
        return np.concatenate([_build_one_by_one(likelihood, side) for side in sides])
    return np.ones(theta[0].size, bool)


def log_likelihood(member: Any, data: Any) -> np.ndarray:
    """log p(data) for each member of a batch."""
    if not isinstance(member, Family):
        raise InvalidData(f"the likelihood makes a family out of parameter values; it made a {type(member).__name__}")
    if isinstance(data, Statistics):
        total: Any = member.log_likelihood  # type: ignore[attr-defined]  # of an exponential family
        return np.asarray(total(data))
    rows = np.atleast_1d(check_array(data, "the data"))
    rows = rows.reshape(len(rows), 1, *rows.shape[1:])
    total = np.zeros(member.batch_shape)
    for start in range(0, len(rows), ROWS):
        total = total + np.asarray(member.log_prob(rows[start : start + ROWS])).sum(axis=0)
    return total
