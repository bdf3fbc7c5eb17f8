"""The densities of independent sources, as mixtures of Gaussians: finite ones, or over a continuous scale.

A source is a `Gaussian`, a `Laplace`, a `StudentT`, or a `Mixture` of Gaussians. The first three have the form
z = location + scale √τ g with g ~ N(0, 1): τ is 1, exponential with mean 2 (Andrews and Mallows 1974), or
inverse gamma with shape and scale degrees/2. Two views of that are needed:

- `pull` gives E[1/τ | z], or of a mixture the probability of each part: they say the quadratic function of z that
  touches log p from below, which EM of independent components maximises.
- `parts_of` gives a finite mixture. That of a continuous scale is the trapezoidal rule in log τ, whose error falls
  exponentially with the number of nodes (about 1e-6 of the density here, out to 8 scales from its location).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from scipy.special import loggamma

from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture
from juncture.errors import InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.student_t import StudentT
from juncture.families.family import Family
from juncture.numerics import stable

CLOSEST = 1e-9  # to the location of a Laplace, in scales: nearer values pull no more
COARSEST, PRECISION = 0.6, 1e-6  # the largest distance of nodes of log τ, and the error of the trapezoidal rule
FINE = 0.4  # that distance for a Laplace, whose far values are of a narrow range of τ
FAR = 8.0  # from the location, in scales: so far the tails of a density are those of its nodes
NEGLIGIBLE = 28.0  # tails of τ with less than exp(-28) of the probability are left out


class Parts(NamedTuple):
    """A finite mixture of Gaussians."""

    weights: np.ndarray  # (part,)
    means: np.ndarray  # (part,)
    variances: np.ndarray  # (part,)


def as_sources(given: Any, number: int) -> tuple[Any, ...]:
    """One density a source, from one for all or a list of them."""
    listed = list(given) if isinstance(given, list | tuple) else [given] * number
    if len(listed) != number:
        raise InvalidModel(f"there are {number} sources, but {len(listed)} densities; give one, or one a source")
    return tuple(map(check_source, listed))


def check_source(source: Any) -> Any:
    """The source, if it is one of numbers that are Gaussian given their scale, or given their part."""
    is_mixture = isinstance(source, Mixture)
    if is_mixture and isinstance(source.components, GaussianEmissions) and source.event_shape == ():
        return source
    parts = list(source) if is_mixture else [source]
    allowed = (Gaussian,) if is_mixture else (Gaussian, Laplace, StudentT)
    if not all(isinstance(part, allowed) and not part.batch_shape for part in parts):
        raise InvalidModel(
            "a source is a Gaussian, a Laplace, a StudentT, or a Mixture of Gaussians, of single numbers;"
            f" got {source!r}"
        )
    return source


def standard_mixture() -> Mixture:
    """Three Gaussians with mean 0 and variance 1 in all, near a Gaussian: learning bends it either way."""
    return Mixture([0.25, 0.5, 0.25], Gaussian([-1.0, 0.0, 1.0], [0.5, 0.5, 0.5]))


def is_learned(source: Any) -> bool:
    """Whether learning moves the density: that of a mixture; the others keep their form."""
    return isinstance(source, Mixture)


def log_prob_of(sources: Sequence[Any], values: np.ndarray) -> np.ndarray:
    """(row, source): log p of the value of each source."""
    found = [np.asarray(source.log_prob(column)) for source, column in zip(sources, values.T, strict=True)]
    return np.stack(found, axis=1)


def pull(source: Any, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row,): log p(z); and (row, part): how much each value pulls the Gaussian of each part toward itself.

    That is E[1/τ | z] of a scale mixture, and of a finite mixture the probability of the part given z.
    """
    if isinstance(source, Mixture):
        parts = parts_of(source)
        logs = stable.log(parts.weights) - 0.5 * (np.log(parts.variances) + stable.LOG_TWO_PI)
        joint = logs - 0.5 * (z[:, None] - parts.means) ** 2 / parts.variances
        log_p = stable.log_sum_exp(joint, axis=1)
        return log_p, np.exp(joint - log_p[:, None])
    return np.asarray(source.log_prob(z)), precisions(source, z)[:, None]


@singledispatch
def precisions(source: Any, z: np.ndarray) -> np.ndarray:
    """(row,): E[1/τ | z]."""
    raise NotImplementedError


@precisions.register
def _(source: Gaussian, z: np.ndarray) -> np.ndarray:
    return np.ones(len(z))


@precisions.register
def _(source: Laplace, z: np.ndarray) -> np.ndarray:
    distance = np.abs(z - float(source.location)) / float(source.scale)
    return np.asarray(1 / np.maximum(distance, CLOSEST))


@precisions.register
def _(source: StudentT, z: np.ndarray) -> np.ndarray:
    degrees, distance = float(source.degrees), (z - float(source.location)) / float(source.scale)
    return np.asarray((degrees + 1) / (degrees + distance**2))


def target_of(source: Any) -> Parts:
    """The Gaussians toward which values are pulled: of a scale mixture the one with τ = 1."""
    if isinstance(source, Mixture | Gaussian):
        return parts_of(source)
    return Parts(np.ones(1), np.array([float(source.location)]), np.array([float(source.scale) ** 2]))


@singledispatch
def parts_of(source: Any) -> Parts:
    """The finite mixture of Gaussians that a source is, or is to within the rounding of a quadrature."""
    raise NotImplementedError


@parts_of.register
def _(source: Gaussian) -> Parts:
    return Parts(np.ones(1), np.array([float(source.mean)]), np.array([float(source.variance)]))


@parts_of.register
def _(source: Mixture) -> Parts:
    held: Any = source.components
    if not isinstance(held, GaussianEmissions):  # such as a list of classes of one's own that derive Gaussian
        means, variances = np.transpose([(float(part.mean), float(part.variance)) for part in source])
        return Parts(source.weights, means, variances)
    return Parts(source.weights, held.mean, held.covariance.reshape(-1))


@parts_of.register
def _(source: Laplace) -> Parts:
    """τ is exponential with mean 2: log τ has a density ∝ exp(s - eˢ/2). The first node has what lies below it too."""
    nodes = np.arange(np.log(1e-4), np.log(10 * FAR), FINE)
    weights = np.exp(nodes - 0.5 * np.exp(nodes))
    weights[0] /= -np.expm1(-FINE)
    return scaled_parts(source, nodes, weights)


@parts_of.register
def _(source: StudentT) -> Parts:
    """1/τ is gamma with shape and rate ν/2: log τ has a density ∝ exp(-ν/2 (s + e⁻ˢ))."""
    half = 0.5 * float(source.degrees)
    spread = NEGLIGIBLE / half
    high = max(2 + spread, np.log1p(FAR**2 / half) + 6 / np.sqrt(half))
    nodes = np.arange(-np.log1p(2 * np.sqrt(spread) + spread), high, step_of(half + 0.5))
    return scaled_parts(source, nodes, np.exp(-half * (nodes + np.exp(-nodes) - 1)))


def step_of(shape: float) -> float:
    """The distance of nodes whose trapezoidal rule errs by less than 1e-6: twice |Γ(shape + 2πi/step)| / Γ(shape)."""
    steps = COARSEST * 0.9 ** np.arange(60)
    errors = 2 * np.exp(loggamma(shape + 2j * np.pi / steps).real - loggamma(shape).real)
    return float(steps[np.argmax(errors < PRECISION)])


def scaled_parts(source: Any, log_scales: np.ndarray, weights: np.ndarray) -> Parts:
    means = np.full(len(weights), float(source.location))
    return Parts(weights / weights.sum(), means, float(source.scale) ** 2 * np.exp(log_scales))


def mixture_of(weights: np.ndarray, means: np.ndarray, variances: np.ndarray) -> Mixture:
    return Mixture(weights / weights.sum(), Gaussian(means, variances))


def shifted(source: Mixture, shift: float, scale: float) -> Mixture:
    """The density of (z - shift) / scale; a negative scale mirrors it."""
    found = parts_of(source)
    return mixture_of(found.weights, (found.means - shift) / scale, found.variances / scale**2)


def mirrored(source: Any) -> Any:
    """The density of -z."""
    if isinstance(source, Mixture):
        return shifted(source, 0.0, -1.0)
    name = "mean" if isinstance(source, Gaussian) else "location"
    known: dict[str, Any] = {each: getattr(source, each) for each in source.parameters}
    family: type[Family] = type(source)
    return family(**{**known, name: -known[name]})


def combinations(sources: Sequence[Any]) -> Combinations:
    """All ways of choosing a part of each source."""
    found = [parts_of(source) for source in sources]
    grids = np.meshgrid(*(np.arange(len(parts.weights)) for parts in found), indexing="ij")
    chosen = np.stack([grid.ravel() for grid in grids], axis=1)
    pick = [Parts(*(field[codes] for field in parts)) for parts, codes in zip(found, chosen.T, strict=True)]
    log_weights = np.sum([stable.log(each.weights) for each in pick], axis=0)
    return Combinations(
        chosen, log_weights, np.stack([p.means for p in pick], axis=1), np.stack([p.variances for p in pick], axis=1)
    )


class Combinations(NamedTuple):
    """A part of each source, chosen together."""

    chosen: np.ndarray  # (combination, source)
    log_weights: np.ndarray  # (combination,)
    means: np.ndarray  # (combination, source)
    variances: np.ndarray  # (combination, source)


def count_combinations(sources: Sequence[Any]) -> int:
    return int(np.prod([float(len(parts_of(source).weights)) for source in sources]))
