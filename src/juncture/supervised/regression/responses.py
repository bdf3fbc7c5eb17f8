"""Response families of generalised linear models: variance, deviance and members of each family, by the mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from juncture.base.checks import check_number
from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson

PairFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Response:
    """A family as the response of a generalised linear model.

    `variance` and `deviance` are those of one observation with dispersion 1. The means lie between `low` and `high`,
    which are no means themselves.
    """

    canonical: str
    low: float
    high: float
    variance: Callable[[np.ndarray], np.ndarray]
    deviance: PairFunction  # of target and mean: 2 (log p(target | target) - log p(target | mean))
    member: Callable[[np.ndarray, float], Any]  # of mean and dispersion
    is_target: Callable[[np.ndarray], np.ndarray]
    targets: str
    has_dispersion: bool = False

    def holds(self, means: np.ndarray) -> bool:
        """Whether all are means of the family."""
        return bool(((means > self.low) & (means < self.high) & np.isfinite(means)).all())

    def check_targets(self, targets: np.ndarray) -> None:
        wrong = ~self.is_target(targets)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidData(
                f"row {row} of the targets is {targets[row]:g}; targets of this family are {self.targets}"
            )


def ratio_terms(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """target · log(target / mean), 0 where the target is."""
    return np.asarray(xlogy(target, target / mean))


def squared(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return (target - mean) ** 2


def bernoulli_deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return 2 * (ratio_terms(target, mean) + ratio_terms(1 - target, 1 - mean))


def poisson_deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return 2 * (ratio_terms(target, mean) - (target - mean))


def gamma_deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
    return 2 * (target / mean - 1 - np.log(target / mean))


def is_count(target: np.ndarray) -> np.ndarray:
    return (target >= 0) & (target == np.floor(target))


def is_positive(target: np.ndarray) -> np.ndarray:
    return target > 0


def negative_binomial(successes: float) -> Response:
    """Counts with variance mean + mean² / successes."""

    def variance(mean: np.ndarray) -> np.ndarray:
        return mean + mean**2 / successes

    def deviance(target: np.ndarray, mean: np.ndarray) -> np.ndarray:
        rest = (target + successes) * np.log((target + successes) / (mean + successes))
        return np.asarray(2 * (ratio_terms(target, mean) - rest))

    def member(mean: np.ndarray, _: float) -> NegativeBinomial:
        return NegativeBinomial(successes, successes / (successes + mean))

    return Response("log", 0.0, np.inf, variance, deviance, member, is_count, "whole numbers of at least 0")


GEOMETRIC = negative_binomial(1.0)
RESPONSES: dict[type, Response] = {
    Gaussian: Response(
        "identity", -np.inf, np.inf, np.ones_like, squared, Gaussian, np.isfinite, "finite numbers", True
    ),
    Bernoulli: Response(
        "logit", 0.0, 1.0, lambda mean: mean * (1 - mean), bernoulli_deviance, lambda mean, _: Bernoulli(mean),
        lambda target: (target == 0) | (target == 1), "0 or 1",
    ),
    Poisson: Response(
        "log", 0.0, np.inf, lambda mean: mean, poisson_deviance, lambda mean, _: Poisson(mean), is_count,
        "whole numbers of at least 0",
    ),
    Geometric: Response(
        "log", 0.0, np.inf, GEOMETRIC.variance, GEOMETRIC.deviance, lambda mean, _: Geometric(1 / (1 + mean)), is_count,
        "whole numbers of at least 0",
    ),
    Exponential: Response(
        "inverse", 0.0, np.inf, np.square, gamma_deviance, lambda mean, _: Exponential(1 / mean), is_positive,
        "positive numbers",
    ),
    Gamma: Response(
        "inverse", 0.0, np.inf, np.square, gamma_deviance,
        lambda mean, dispersion: Gamma(1 / dispersion, 1 / (dispersion * mean)), is_positive, "positive numbers", True,
    ),
}  # fmt: skip


def as_response(family: Any, successes: Any = None) -> Response:
    """The response of a family class; a negative binomial needs the number of successes."""
    if family is NegativeBinomial:
        if successes is None:
            raise InvalidData("a negative binomial needs successes=, a positive number, which is known")
        return negative_binomial(check_number(successes, "successes", above=0, finite=True))
    if successes is not None:
        raise InvalidData("successes= is for jt.NegativeBinomial only")
    if family is Binomial:
        return RESPONSES[Bernoulli]
    found = RESPONSES.get(family) if isinstance(family, type) else None
    if found is None:
        names = ", ".join(kind.__name__ for kind in (*RESPONSES, Binomial, NegativeBinomial))
        raise Unsupported(
            f"the family of a generalised linear model is one of the classes {names} of jt; got {family!r}"
        )
    return found
