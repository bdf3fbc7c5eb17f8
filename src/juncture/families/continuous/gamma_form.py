"""The exponential form that Gamma and InverseGamma share: log-partition, mean parameters, divergence, estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma, loggamma

from juncture.errors import InvalidData
from juncture.families.batches import common_shape
from juncture.families.exponential_family import columns
from juncture.families.gamma_divergence import gamma_divergence
from juncture.families.matching import match_shape

ROUNDING = 16 * float(np.finfo(float).eps)


def divergence_of(member: Any, other: Any, scale: str) -> np.ndarray:
    """KL of two with a shape and this parameter: the same for a Gamma by its rate and for its inverse by its scale."""
    batch = common_shape(member, other)
    own, others = ((family._given["shape"], family._given[scale]) for family in (member, other))
    return np.broadcast_to(gamma_divergence(*own, *others), batch)


def log_normalizer(shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """log ∫ x^(shape-1) exp(-rate x) dx = log Γ(shape) - shape log rate."""
    return np.asarray(loggamma(shape) - shape * np.log(rate))


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
