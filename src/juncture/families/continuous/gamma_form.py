"""The exponential form that Gamma and InverseGamma share: log-partition, mean parameters, divergence, estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, loggamma

from juncture.errors import InvalidData
from juncture.families.expectation import common_shape
from juncture.families.exponential_family import columns
from juncture.families.gamma_divergence import gamma_divergence
from juncture.families.incomplete import LARGE, log_with_far
from juncture.families.log_factorial import poisson_log_mass
from juncture.families.matching import match_shape
from juncture.numerics.stable import SMALLEST

ROUNDING = 16 * float(np.finfo(float).eps)


def divergence_of(member: Any, other: Any, scale: str) -> np.ndarray:
    """KL of two with a shape and this parameter: the same for a Gamma by its rate and for its inverse by its scale."""
    batch = common_shape(member, other)
    own, others = ((family._given["shape"], family._given[scale]) for family in (member, other))
    return np.broadcast_to(gamma_divergence(*own, *others), batch)


def log_normalizer(shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """log ∫ x^(shape-1) exp(-rate x) dx = log Γ(shape) - shape log rate."""
    return np.asarray(loggamma(shape) - shape * np.log(rate))


def log_density(shape: np.ndarray, rate: np.ndarray, x: np.ndarray, log_value: np.ndarray, direct: Any) -> np.ndarray:
    """log p of a Gamma or its inverse, from Poisson's mass where the parts of what is found directly would cancel.

    (rate x)^shape exp(-rate x) / Γ(shape) is `shape` times the mass at `shape` of a Poisson with the mean rate x; the
    density of the value, x or 1/x, is this over the value.
    """
    shape, mean, log_value, direct = np.broadcast_arrays(shape, rate * x, log_value, direct)
    is_far = (shape > LARGE) & (mean >= SMALLEST) & (mean < np.inf)
    return log_with_far(
        direct, is_far, lambda a, m, log_v: np.log(a) + poisson_log_mass(a, m) - log_v, shape, mean, log_value
    )


def means(shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """E log X and E X."""
    return columns(digamma(shape) - np.log(rate), shape / rate)


def shape_from(gap: np.ndarray, mean_log: np.ndarray, name: str) -> np.ndarray:
    """The shape whose log E X - E log X is the gap of the data, which rounding does not explain."""
    if not (gap > ROUNDING * np.maximum(np.abs(mean_log), 1.0)).all():
        raise InvalidData(
            f"{name} cannot be estimated from equal values: give at least two different ones, a known shape or a prior"
        )
    return match_shape(gap)
