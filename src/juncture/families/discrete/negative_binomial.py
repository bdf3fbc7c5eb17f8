"""NegativeBinomial: how many trials fail before a given number of successes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc, gammaincc

from juncture.families.constraints import POSITIVE, POSITIVE_PROBABILITY
from juncture.families.discrete.whole_numbers import as_counts, poisson_draws, whole_quantile
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Real, plain
from juncture.families.incomplete import beta_parts, log_beta_below, log_gamma_above, log_gamma_below
from juncture.families.log_factorial import binomial_log_mass, log_weight, look_up
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Integers
from juncture.numerics import stable

FAR = 1e12  # so many failures for each success come like a Poisson process, in which the waiting time is a Gamma


class NegativeBinomial(ExponentialFamily):
    """p(x) = Γ(x+r) / (x! Γ(r)) p^r (1-p)^x for x = 0, 1, 2, …: u = x, η = log(1-p), A = -r log p; r is known.

    p is the probability of success in each trial, and r, the number of successes waited for, may be any positive
    number: it is a Poisson whose rate is Gamma(r, p/(1-p)). Some books call p what is 1-p here.

    Parameters
    ----------
    successes
        The number r of successes waited for, positive.
    probability
        The probability p of success in each trial.

    Examples
    --------
    >>> NegativeBinomial.estimate(NegativeBinomial.statistics([4, 2, 6], successes=4))
    NegativeBinomial(successes=4.0, probability=0.5)
    """

    parameters: ClassVar = {"successes": POSITIVE, "probability": POSITIVE_PROBABILITY}
    counts: ClassVar = True
    required: ClassVar = {"successes": POSITIVE}
    successes: Real
    probability: Real

    def __init__(self, successes: Any, probability: Any) -> None:
        self._declare(successes=successes, probability=probability)

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers()

    def _natural(self) -> np.ndarray:
        return stable.log1p(-self._given["probability"])[..., None]

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(known["successes"], -np.expm1(natural[..., 0]))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return -known["successes"][..., None] * np.exp(natural) / np.expm1(natural)

    def _mean(self) -> np.ndarray:
        return np.asarray(self.mean)[..., None]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(known["successes"], known["successes"] / (known["successes"] + mean[..., 0]))

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(-known["successes"] * np.log(-np.expm1(natural[..., 0])))

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return np.asarray(x, dtype=float)[..., None]

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray:
        if known["successes"].ndim:
            return log_weight(x, known["successes"])
        return look_up(lambda values: log_weight(values, known["successes"]), x)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:  # near the mean: the parts of η·u - A + log h may be huge
        return self._log_mass(x) if self.batch_shape else look_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        """The last of x + r trials is a success: r/(x+r) of those with r successes."""
        successes = self._given["successes"]
        trials = x + successes
        return np.asarray(np.log(successes / trials) + binomial_log_mass(successes, trials, self._given["probability"]))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        p = self._given["probability"]
        with np.errstate(over="ignore"):  # a success may be as rare as never
            rates = rng.standard_gamma(self._given["successes"], shape) * np.minimum((1 - p) / p, np.finfo(float).max)
        return poisson_draws(rates, rng)

    @property
    def mean(self) -> Real:
        p = self._given["probability"]
        with np.errstate(over="ignore"):  # beyond the largest number it is infinite
            return plain(self._given["successes"] * (1 - p) / p)

    @property
    def variance(self) -> Real:
        p = self._given["probability"]
        with np.errstate(over="ignore"):  # beyond the largest number it is infinite
            return plain(self._given["successes"] * (1 - p) / p / p)

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts."""
        p = self._given["probability"]
        with np.errstate(over="ignore"):
            top = np.ceil((self._given["successes"] - 1) * (1 - p) / p) - 1
        return plain(as_counts(np.maximum(top, 0.0)))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        successes, p, most, waited, far = self._waiting(x)
        found = np.where(far, gammainc(successes, waited), beta_parts(successes, most + 1, p, 1 - p)[0])
        return np.where(x < 0, 0.0, found)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        successes, p, most, waited, far = self._waiting(x)
        found = np.where(far, gammaincc(successes, waited), beta_parts(successes, most + 1, p, 1 - p)[1])
        return np.where(x < 0, 1.0, found)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        successes, p, most, waited, far = self._waiting(x)
        found = np.where(far, log_gamma_below(successes, waited), log_beta_below(successes, most + 1, p, 1 - p))
        return np.where(x < 0, -np.inf, found)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        successes, p, most, waited, far = self._waiting(x)
        found = np.where(far, log_gamma_above(successes, waited), log_beta_below(most + 1, successes, 1 - p, p))
        return np.where(x < 0, 0.0, found)

    def _waiting(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """r and p, ⌊x⌋, and where that is FAR, the waiting time of a Poisson process instead."""
        most = np.floor(np.maximum(x, 0.0))
        successes, p = self._given["successes"], self._given["probability"]
        far = most > FAR * np.maximum(successes, 1.0)
        waited = -np.where(far, most, 0.0) * stable.log1p(-np.where(far, p, 0.5))
        return successes, p, np.where(far, 0.0, most), waited, far

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)
