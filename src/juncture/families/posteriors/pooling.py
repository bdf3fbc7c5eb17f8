"""Groups that share a prior: the concentration of a Dirichlet or a Beta by evidence, and the posterior of each group.

The data choose a point between the two limits: one distribution for all groups (full pooling), and a separate
distribution for each group (no pooling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.numerics.newton import DampedNewton, Expansion
from juncture.numerics.stable import log

MAX_STEPS = 500
LEAST_GAIN = 1e-18  # of the evidence: far below its last digit, and the step that gains it is taken
MAX_STEP = 3.0  # in log α, along a principal direction of the curvature


@dataclass(frozen=True, eq=False)
class PooledGroups:
    """A prior fitted to groups of counts: `strength` · `frequencies` is its concentration.

    The strength is inf when the groups differ no more than chance makes them, 0 when each group holds one state only.
    """

    counts: np.ndarray  # (group, state)
    frequencies: np.ndarray  # (state,)
    strength: float
    log_evidence: float
    """Σ log p(counts of a group), for counts in a given order, without the multinomial coefficients."""

    @property
    def is_fully_pooled(self) -> bool:
        return self.strength == np.inf

    @property
    def is_not_pooled(self) -> bool:
        return self.strength == 0

    @property
    def estimates(self) -> np.ndarray:
        """Posterior means, as (group, state): between the group's own frequencies and the common ones."""
        totals = self.counts.sum(axis=1, keepdims=True)
        if self.is_fully_pooled:
            return np.broadcast_to(self.frequencies, self.counts.shape).copy()
        weight = totals + self.strength
        own = self.counts + self.strength * self.frequencies
        return np.where(weight > 0, own / np.where(weight > 0, weight, 1.0), self.frequencies)

    @property
    def concentration(self) -> np.ndarray:
        if self.is_fully_pooled or self.is_not_pooled:
            limit = "infinite: the groups are alike" if self.is_fully_pooled else "0: each group holds one state only"
            raise Unsupported(f"the evidence is largest in a limit, the concentration is {limit}; use `estimates`")
        return self.strength * self.frequencies

    @property
    def prior(self) -> Any:
        """The Dirichlet over states; see `beta` for two."""
        from juncture.families.vectors.dirichlet import Dirichlet

        return Dirichlet(self.concentration)

    @property
    def beta(self) -> Beta:
        """The Beta of the first of two states."""
        if len(self.frequencies) != 2:
            raise Unsupported(f"a Beta has two states; these groups have {len(self.frequencies)}")
        return Beta(*self.concentration)


def fit_concentration(group_counts: Any) -> PooledGroups:
    """The Dirichlet that gives the groups' counts (group, state) the highest evidence; fractions are counts, too.

    Parameters
    ----------
    group_counts
        The counts, (group, state).

    Returns
    -------
    PooledGroups
        The Dirichlet, and the posterior of each group under it.

    Examples
    --------
    >>> fit_concentration([[9, 1], [1, 9], [5, 5]]).beta.mean
    0.5
    """
    counts = _check_counts(group_counts)
    frequencies = counts.sum(axis=0) / counts.sum()
    if _gain_of_differing(counts, frequencies) <= 0:
        return PooledGroups(counts, frequencies, np.inf, float((counts.sum(axis=0) * log(frequencies)).sum()))
    if ((counts > 0).sum(axis=1) <= 1).all():
        shares = (counts > 0).sum(axis=0) / (counts > 0).sum()
        return PooledGroups(counts, shares, 0.0, float((counts > 0).sum(axis=0) @ np.log(shares)))
    concentration = _find_concentration(counts, frequencies)
    strength = float(concentration.sum())
    return PooledGroups(counts, concentration / strength, strength, _log_evidence(counts, concentration))


def _check_counts(group_counts: Any) -> np.ndarray:
    try:
        counts = np.asarray(group_counts, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"counts are numbers, as (group, state): {error}") from error
    if counts.ndim != 2 or counts.shape[0] < 1 or counts.shape[1] < 2:
        raise InvalidData(
            f"counts have a row per group and a column for each of two or more states; got {counts.shape}"
        )
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise InvalidData("counts are finite and at least 0")
    if not (unseen := counts.sum(axis=0) > 0).all():
        raise InvalidData(f"state {int(np.argmin(unseen))} was seen in no group: leave its column out")
    return counts


def _gain_of_differing(counts: np.ndarray, frequencies: np.ndarray) -> float:
    """The derivative of the evidence in 1/strength at 0: not above 0, the groups are alike (Levin and Reeds, 1977)."""
    totals = counts.sum(axis=1)
    gain = (counts * (counts - 1) / frequencies).sum() - (totals * (totals - 1)).sum()
    return float(gain) if gain > 1e-12 * (counts**2 / frequencies).sum() else 0.0


def _find_concentration(counts: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Newton's method in log α, uphill also along directions in which the evidence is convex."""
    method = DampedNewton(_step, relative_tolerance=LEAST_GAIN, sufficient=0.0, rounding=1e-14, max_steps=MAX_STEPS)
    found = method.minimize(
        lambda log_alpha: _expand(counts, np.exp(log_alpha)), np.log(frequencies * len(frequencies))
    )
    if not found.converged:
        raise Unsupported(f"the concentration did not settle in {MAX_STEPS} steps")
    return np.exp(found.point)


def _expand(counts: np.ndarray, alpha: np.ndarray) -> Expansion:
    """Minus the log-evidence, with its derivatives in log α."""
    totals, strength = counts.sum(axis=1), alpha.sum()
    grown = (digamma(counts + alpha) - digamma(alpha)).sum(axis=0)
    shared = (digamma(totals + strength) - digamma(strength)).sum()
    slope = alpha * (grown - shared)
    curved = (polygamma(1, counts + alpha) - polygamma(1, alpha)).sum(axis=0)
    curved_together = (polygamma(1, totals + strength) - polygamma(1, strength)).sum()
    hessian = np.diag(alpha**2 * curved + slope) - curved_together * np.outer(alpha, alpha)
    return Expansion(-_log_evidence(counts, alpha), -slope, -hessian)


def _step(here: Expansion) -> np.ndarray:
    """Newton's step with the size of each curvature, whatever its sign, and at most MAX_STEP along its direction."""
    curvatures, directions = np.linalg.eigh(here.hessian)
    along = -(directions.T @ here.gradient) / np.maximum(np.abs(curvatures), np.finfo(float).tiny)
    return directions @ np.clip(along, -MAX_STEP, MAX_STEP)


def _log_evidence(counts: np.ndarray, alpha: np.ndarray) -> float:
    totals, strength = counts.sum(axis=1), alpha.sum()
    states = (gammaln(counts + alpha) - gammaln(alpha)).sum()
    return float(states - (gammaln(totals + strength) - gammaln(strength)).sum())
