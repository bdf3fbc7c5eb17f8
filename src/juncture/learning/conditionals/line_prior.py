"""The conjugate prior of a `LinearGaussian`: normal-inverse-gamma, for each combination of discrete parents' states.

variance ~ InverseGamma(shape, scale), intercept | variance ~ N(mean, variance / strength), and each slope | variance ~
N(0, variance / strength): a ridge regression towards a line that is flat at `mean`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.factors.gaussian import LinearGaussian
from juncture.learning.conditionals.contract import EstimationOptions, Point, log_prior, takes_prior
from juncture.learning.conditionals.table import prior_of
from juncture.variables import Scope


@dataclass(frozen=True, eq=False)
class LinePrior:
    """The parameters of the prior, each in the shape of the discrete parents' states, and the point to take."""

    mean: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    scale: np.ndarray
    point: Point

    def variance(self, weight: np.ndarray, squares: np.ndarray, num_slopes: int, name: str) -> np.ndarray:
        """The variance at the point of the posterior, from the rows' weight and the penalised squares about the line.

        The mean is that of the variance's own distribution, the mode that of all parameters together.
        """
        scale = self.scale + 0.5 * squares
        if self.point == "mode":
            return np.asarray(scale / (self.shape + 0.5 * weight + 1.0 + 0.5 * (num_slopes + 1)))
        excess = self.shape + 0.5 * weight - 1.0
        if not (excess > 0).all():
            raise InvalidData(
                f"the variance of {name!r} has no posterior mean where its parents' states have no rows: give its prior"
                ' a shape above 1, or ask for point="mode"'
            )
        return np.asarray(scale / excess)

    def log_density(self, conditional: LinearGaussian) -> float:
        """What the estimate maximises together with the log-likelihood, up to a constant."""
        num_slopes = conditional.coefficients.shape[-1]
        power = self.shape - 1.0 if self.point == "mean" else self.shape + 1.0 + 0.5 * (num_slopes + 1)
        squares = (conditional.intercept - self.mean) ** 2 + (conditional.coefficients**2).sum(axis=-1)
        variance = conditional.variance
        return float(-np.sum(power * np.log(variance) + (self.scale + 0.5 * self.strength * squares) / variance))


def line_prior(options: EstimationOptions, family: Any) -> LinePrior | None:
    """The prior of this child; None when it has none, as a prior for all children may be one of tables."""
    from juncture.families.vectors.normal_gamma import NormalInverseGamma

    name = family.child.name
    prior: Any = prior_of(options.prior, name)
    is_normal = isinstance(prior, NormalInverseGamma)
    if prior is None or (options.prior is prior and not is_normal):
        return None
    if not is_normal:
        raise InvalidData(
            f"the prior of {name!r}, a linear function of its parents with Gaussian noise, is a"
            f" jt.NormalInverseGamma(mean, strength, shape, scale); got {prior!r}"
        )
    shape = Scope(parent for parent in family.parents if not parent.is_real).shape
    try:
        given = (prior.mean, prior.strength, prior.shape, prior.scale)
        mean, strength, alpha, scale = (np.broadcast_to(np.asarray(one, float), shape) for one in given)
    except ValueError:
        raise InvalidData(
            f"the prior of {name!r} is a batch of the shape {prior.batch_shape}; its parents' states have {shape}"
        ) from None
    return LinePrior(mean, strength, alpha, scale, options.point)


@log_prior.register
def _(conditional: LinearGaussian, options: EstimationOptions) -> float:
    prior = line_prior(options, conditional)
    return 0.0 if prior is None else prior.log_density(conditional)


@takes_prior.register
def _(conditional: LinearGaussian) -> bool:
    return True
