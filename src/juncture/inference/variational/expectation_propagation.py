"""`expectation_propagation`: a Gaussian approximation of a Gaussian prior times likelihoods of linear functions.

p(w | data) ∝ N(w; m, S) Π tᵢ(aᵢ·w). Each likelihood tᵢ is stood in for by exp(νᵢ u - ½ τᵢ u²), u = aᵢ·w. In turn, a
stand-in is taken out (the cavity), its likelihood is put in, and the stand-in is set so that q has the mean and
variance of that product: an M-projection of each likelihood in the context of the others (Minka 2001). The evidence at
a fixed point is no bound of log p(data). A cavity without positive variance leaves its likelihood for the next sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_function, check_number, shown
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, warn_user
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.iteration import check_stopping_rule, iterate
from juncture.numerics.stable import LOG_TWO_PI

NUM_POINTS = 2001  # of the cavity's grid
WIDTH = 12.0  # standard deviations of the cavity on each side
RESOLVED = 1e-5  # how far, in standard deviations, moments by half of the points may be from those by all

LogLikelihood = Callable[[np.ndarray, int], Any]


@dataclass(frozen=True, eq=False)
class GaussianApproximation:
    """The answer of expectation propagation.

    Attributes
    ----------
    distribution
        The approximate posterior: a `Gaussian` for a prior that is one, else a `MultivariateGaussian`.
    log_evidence
        The approximation of log p(data); not a bound.
    precisions, loadings
        (observation,): τ and ν of the stand-ins exp(ν u - ½ τ u²).
    converged, steps, residual
        How the iteration ended: the largest change of a mean or standard deviation of aᵢ·w in the last sweep, in
        standard deviations.
    skipped
        How many likelihoods the last sweep left out, because their cavity had no positive variance.
    """

    distribution: Any
    log_evidence: float
    precisions: np.ndarray
    loadings: np.ndarray
    converged: bool
    steps: int
    residual: float
    skipped: int

    def __repr__(self) -> str:
        ended = "converged" if self.converged else "not converged"
        return f"GaussianApproximation({self.distribution!r}, log_evidence={self.log_evidence:.6g}, {ended})"


class Sites(NamedTuple):
    """The stand-ins, the approximate posterior, and log Z of each likelihood in its cavity."""

    precisions: np.ndarray  # (site,)
    loadings: np.ndarray  # (site,)
    mean: np.ndarray  # (dimension,)
    covariance: np.ndarray  # (dimension, dimension)
    log_constants: np.ndarray  # (site,)
    skipped: int = 0


def expectation_propagation(
    prior: Gaussian | MultivariateGaussian,
    log_likelihood: LogLikelihood,
    design: Any,
    *,
    damping: float = 0.0,
    tolerance: float = 1e-8,
    max_steps: int = 100,
) -> GaussianApproximation:
    """A Gaussian approximation of p(w) Π p(yᵢ | aᵢ·w), by expectation propagation.

    Parameters
    ----------
    prior
        p(w).
    log_likelihood
        A function of an array of values u and of the number i of an observation: log p(yᵢ | u) at each value.
    design
        (observation, dimension): aᵢ, a row for each observation; for a `Gaussian` prior also (observation,).
    damping
        How much of the old stand-in stays: 0 replaces it, 0.5 goes half the way, which helps where sweeps oscillate.
    tolerance, max_steps
        When to end: by the largest change of a mean or standard deviation of aᵢ·w, in standard deviations.

    Returns
    -------
    GaussianApproximation
        The approximate posterior and evidence, and how the iteration ended.

    Examples
    --------
    >>> from scipy.special import log_ndtr
    >>> labels = np.array([1, 1, -1])
    >>> found = expectation_propagation(Gaussian(0.0, 1.0), lambda u, i: log_ndtr(labels[i] * u), [1.0, 2.0, 0.5])
    >>> round(found.distribution.mean, 4), found.converged
    (0.6597, True)
    """
    mean, covariance = prior_moments(prior)
    rows = check_array(design, "the design")
    rows = rows[:, np.newaxis] if rows.ndim == 1 and len(mean) == 1 else rows
    if rows.ndim != 2 or rows.shape[1] != len(mean):
        raise InvalidData(f"the design has a row of {len(mean)} numbers for each observation; got {shown(design)}")
    check_stopping_rule(tolerance, max_steps)
    share = check_number(damping, "damping", least=0, below=1)
    check_function(log_likelihood, "log_likelihood")
    sweeps = SiteSweeps(mean, covariance, rows, log_likelihood, 1.0 - share)
    sites, trace = iterate(sweeps, tolerance=tolerance, max_steps=max_steps)
    if not trace.converged:
        warn_user(f"expectation propagation {trace.reason}; damping= may help", NotConvergedWarning)
    return GaussianApproximation(
        as_family(prior, sites),
        sweeps.log_evidence(sites),
        sites.precisions,
        sites.loadings,
        trace.converged,
        trace.num_steps,
        trace.values[-1],
        sites.skipped,
    )


def prior_moments(prior: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(prior, Gaussian) and not prior.batch_shape:
        return np.array([prior.mean]), np.array([[prior.variance]])
    if isinstance(prior, MultivariateGaussian) and not prior.batch_shape:
        return np.asarray(prior.mean), np.asarray(prior.covariance)
    raise InvalidData(f"the prior is one Gaussian or MultivariateGaussian; got {shown(prior)}")


def as_family(prior: Any, sites: Sites) -> Any:
    if isinstance(prior, Gaussian):
        return Gaussian(float(sites.mean[0]), float(sites.covariance[0, 0]))
    return MultivariateGaussian(sites.mean, sites.covariance)


@dataclass(frozen=True, eq=False)
class SiteSweeps:
    """Sweeps over all likelihoods: a `FixedPoint`."""

    mean: np.ndarray  # (dimension,), of the prior
    covariance: np.ndarray  # (dimension, dimension), of the prior
    design: np.ndarray  # (site, dimension)
    log_likelihood: LogLikelihood
    pace: float

    def init(self) -> Sites:
        zeros = np.zeros(len(self.design))
        return Sites(zeros, zeros, self.mean, self.covariance, zeros)

    def step(self, sites: Sites) -> Sites:
        precisions, loadings, constants = sites.precisions.copy(), sites.loadings.copy(), sites.log_constants.copy()
        covariance, mean, skipped = sites.covariance.copy(), sites.mean, 0
        shift = np.linalg.solve(self.covariance, self.mean)
        for site, row in enumerate(self.design):
            spread = covariance @ row
            variance, center = float(row @ spread), float(row @ mean)
            left = 1.0 / variance - precisions[site] if variance > 0 else 0.0
            if left <= 0:
                skipped += 1
                continue
            cavity = 1.0 / left, (center / variance - loadings[site]) / left
            constants[site], tilted_mean, tilted_variance = self.tilt(site, *cavity)
            gain = self.pace * (1.0 / tilted_variance - left - precisions[site])
            if 1.0 + gain * variance <= 0:
                skipped += 1
                continue
            target = tilted_mean / tilted_variance - cavity[1] * left
            precisions[site] += gain
            loadings[site] += self.pace * (target - loadings[site])
            covariance -= gain / (1.0 + gain * variance) * np.outer(spread, spread)
            mean = covariance @ (shift + self.design.T @ loadings)
        mean, covariance = self.posterior(precisions, loadings)
        return Sites(precisions, loadings, mean, covariance, constants, skipped)

    def posterior(self, precisions: np.ndarray, loadings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean and covariance of the prior times all stand-ins."""
        inverse = np.linalg.inv(self.covariance)
        covariance = np.linalg.inv(inverse + (self.design.T * precisions) @ self.design)
        return covariance @ (inverse @ self.mean + self.design.T @ loadings), 0.5 * (covariance + covariance.T)

    def tilt(self, site: int, variance: float, mean: float) -> tuple[float, float, float]:
        """log Z, mean and variance of the cavity times the likelihood: the trapezoidal rule on a fine grid."""
        points = np.linspace(-WIDTH, WIDTH, NUM_POINTS)
        values = mean + np.sqrt(variance) * points
        found = self.log_likelihood(values, site)
        try:
            logs = np.asarray(found, dtype=float)
        except (TypeError, ValueError) as error:
            raise InvalidData(f"log_likelihood gives an array of numbers; got {shown(found)}") from error
        if logs.shape != values.shape or np.isnan(logs).any() or not (logs < np.inf).all():
            raise InvalidData(f"log_likelihood gives a number below infinity for each value; for {site} it does not")
        logs = logs - 0.5 * points**2
        fine, coarse = (grid_moments(points[::step], logs[::step]) for step in (1, 2))
        if abs(fine[1] - coarse[1]) + abs(fine[2] - coarse[2]) > RESOLVED * fine[2]:
            raise Unsupported(
                f"the likelihood of observation {site} is much narrower than what the others say of it: a Gaussian"
                " prior of smaller variance, or other units, would resolve it"
            )
        log_total = fine[0] - 0.5 * LOG_TWO_PI
        return log_total, mean + np.sqrt(variance) * fine[1], variance * fine[2] ** 2

    def change(self, before: Sites, after: Sites) -> float:
        """The largest change of a mean or standard deviation of aᵢ·w, in standard deviations."""
        old, new = (np.sqrt(np.einsum("ij,jk,ik->i", self.design, s.covariance, self.design)) for s in (before, after))
        means = np.abs(self.design @ (after.mean - before.mean))
        scale = np.where(new > 0, new, 1.0)
        return float(np.max(np.maximum(means, np.abs(new - old)) / scale, initial=0.0))

    def log_evidence(self, sites: Sites) -> float:
        """Log of the integral of the prior times all stand-ins, each scaled to the likelihood it stands for."""
        total = log_integral(sites.mean, sites.covariance) - log_integral(self.mean, self.covariance)
        for site, row in enumerate(self.design):
            variance, center = float(row @ sites.covariance @ row), float(row @ sites.mean)
            if variance <= 0:
                total += float(np.asarray(self.log_likelihood(np.array([center]), site))[0])
                continue
            left = 1.0 / variance - sites.precisions[site]
            mean = (center / variance - sites.loadings[site]) / left
            constant = self.tilt(site, 1.0 / left, mean)[0] if left > 0 else sites.log_constants[site]
            total += constant + log_integral(np.array([mean]), np.array([[1.0 / left]]))
            total -= log_integral(np.array([center]), np.array([[variance]]))
        return float(total)


def grid_moments(points: np.ndarray, logs: np.ndarray) -> tuple[float, float, float]:
    """Log of the integral, mean and standard deviation of exp(logs)."""
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    mean = float(weights @ points) / total
    deviation = float(np.sqrt(weights @ (points - mean) ** 2 / total))
    return top + float(np.log(total * (points[1] - points[0]))), mean, deviation


def log_integral(mean: np.ndarray, covariance: np.ndarray) -> float:
    """Log of ∫ exp(h·x - ½ xᵀΛx), Λ the inverse of the covariance and h = Λ mean."""
    size, log_determinant = len(mean), np.linalg.slogdet(covariance)[1]
    return float(0.5 * (mean @ np.linalg.solve(covariance, mean) + log_determinant + size * LOG_TWO_PI))
