"""Means and covariances of Gaussian emissions that fit their moments best.

A state that shrinks to a point would have an infinite density there. So these are the best ones whose variance in no
direction is below FLOOR of the data's own, measured in units in which each column of the data has variance 1. A state
that was below it before may stay where it was: so the emissions that were there are among those the best is chosen of,
and no step of EM makes the fit worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.models.emissions.contract import DEAD
from juncture.models.emissions.regularized import name_of, named, warn_regularized

if TYPE_CHECKING:
    from juncture.models.emissions.gaussian import GaussianEmissions

FLOOR = 1e-8  # of the data's variance
LEAST = float(np.finfo(float).tiny) / FLOOR  # of data whose squares vanish: its floor is an ordinary number still

Estimate = tuple[np.ndarray, np.ndarray]  # means (state, d), and the covariance of the structure


def best_fit(emissions: GaussianEmissions, moments: Any) -> Estimate:
    """The means and the covariance that fit the moments best; what has no data stays as it is."""
    means = np.where(wide(moments.weight > DEAD, moments), moments.center, emissions.means)
    return means, BY_MOMENTS[emissions.structure](emissions, moments)


def diagonal_variances(emissions: GaussianEmissions, moments: Any) -> np.ndarray:
    found = divided(moments.scatter, moments.weight, emissions.variances)
    return lifted(found, FLOOR * spread(moments), emissions.variances)


def spherical_variances(emissions: GaussianEmissions, moments: Any) -> np.ndarray:
    found = divided(moments.scatter.sum(axis=1), moments.weight.sum(axis=1), emissions.covariance)
    return lifted(found, FLOOR * spread(moments).mean(), emissions.covariance)


def full_covariances(emissions: GaussianEmissions, moments: Any) -> np.ndarray:
    found = divided(moments.scatter, moments.weight[:, None, None], emissions.full.covariance)
    return lifted_matrices(found, spread(moments), emissions.full.covariance)


def tied_covariance(emissions: GaussianEmissions, moments: Any) -> np.ndarray:
    own = emissions.covariance.reshape(1, emissions.dimension, emissions.dimension)
    found = divided(moments.scatter.sum(axis=0)[None], moments.weight.sum()[None, None, None], own)
    with named(lambda place, state: "all states"):
        return np.asarray(lifted_matrices(found, spread(moments), own)[0])


BY_MOMENTS = {
    "diagonal": diagonal_variances,
    "spherical": spherical_variances,
    "full": full_covariances,
    "tied": tied_covariance,
}


def divided(scatter: np.ndarray, weight: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """scatter / weight; what is kept where nothing weighs anything."""
    return np.asarray(np.divide(scatter, weight, out=np.broadcast_to(kept, scatter.shape).copy(), where=weight > DEAD))


def wide(mask: np.ndarray, moments: Any) -> np.ndarray:
    """A truth value for each coordinate."""
    return mask if mask.shape == moments.center.shape else mask[:, None]


def spread(moments: Any) -> np.ndarray:
    """(d,): the variance of all data, whatever the state; where there is none, the square of the mean, or 1."""
    weight = moments.weight if moments.weight.ndim == 2 else moments.weight[:, None]
    own = moments.scatter if moments.weight.ndim == 2 else np.diagonal(moments.scatter, axis1=1, axis2=2)
    total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    center = (weight * moments.center).sum(axis=0) / total
    variance = (own + weight * (moments.center - center) ** 2).sum(axis=0) / total
    square = np.where(center != 0, center**2, 1.0)
    return np.maximum(np.where(variance > np.finfo(float).eps ** 2 * square, variance, square), LEAST)


def lifted(variances: np.ndarray, floor: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Variances that are at least the floor, or what they were."""
    floor = np.minimum(floor, before)
    low = variances < floor
    if low.any():
        warn_of_floor(int(np.nonzero(low)[0][0]))
    return np.where(low, floor, variances)


def lifted_matrices(covariances: np.ndarray, data_variance: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Covariances whose eigenvalues, in units of the data's deviations, are at least FLOOR, or their old least ones."""
    units = np.sqrt(data_variance)
    scale = units[:, None] * units
    values, vectors = np.linalg.eigh(covariances / scale)
    suspect = values[:, 0] < FLOOR
    if not suspect.any():
        return covariances
    floor = np.minimum(FLOOR, np.linalg.eigvalsh(before / scale)[:, 0])
    low = values[:, 0] < floor
    if low.any():
        warn_of_floor(int(np.argmax(low)))
        kept = np.maximum(values[low], floor[low, None])
        covariances = covariances.copy()
        covariances[low] = (vectors[low] * kept[:, None, :]) @ np.swapaxes(vectors[low], 1, 2) * scale
    return covariances


def warn_of_floor(state: int) -> None:
    warn_regularized(
        f"the variance of {name_of(state)} shrank below {FLOOR:g} of the data's variance and was kept there; "
        "give a prior, more data or fewer states"
    )
