"""Jeffreys priors: √det of the Fisher information, the same in every parametrisation. Many are improper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.statistics import Statistics, check_known
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.normal_gamma import NormalInverseGamma


@dataclass(frozen=True, repr=False)
class ImproperPrior:
    """A density that does not integrate to 1; enough data make a proper posterior of it."""

    family: type[Family]
    parameter: str
    log_root: Callable[..., Any]  # log √det J, up to a constant
    update: Callable[[Any], Any]
    excess: Callable[[Any], Any]  # what must be positive
    needs: str  # the same in words
    is_proper = False

    def log_density(self, *point: Any) -> Real:
        """log √det J, up to a constant; one argument for each parameter."""
        return plain(self.log_root(*(np.asarray(part, dtype=float) for part in point)))

    def posterior(self, statistics: Statistics) -> Any:
        """The conjugate posterior; InvalidData if the data are too few to make it proper."""
        if not isinstance(statistics, Statistics) or statistics.family is not self.family:
            raise InvalidData(f"this prior is of the {self.parameter} of {self.family.__name__}; got {statistics!r}")
        if (frozenset(statistics.known), self.parameter) not in _variants_of(self.family):
            raise InvalidData(
                f"this prior is of the {self.parameter} of {self.family.__name__}; the statistics know "
                f"{' and '.join(statistics.known) or 'nothing'}: pass the same to jeffreys"
            )
        if not ((statistics.weight > 0).all() and (np.asarray(self.excess(statistics)) > 0).all()):
            raise InvalidData(f"these data leave the posterior of the {self.parameter} improper: give {self.needs}")
        posterior = self.update(statistics)
        posterior._set(_seen=(statistics.family, dict(statistics.known)))
        return posterior

    def log_evidence(self, statistics: Statistics) -> Real:
        raise Unsupported("an improper prior gives data no evidence: it has no constant that makes it a probability")

    def predictive(self, *_: Any, **__: Any) -> Family:
        raise Unsupported("an improper prior predicts nothing; ask its posterior")

    def __repr__(self) -> str:
        return f"ImproperPrior(the {self.parameter} of {self.family.__name__})"


def jeffreys(family: type[Family], **known: Any) -> Any:
    """The Jeffreys prior p(θ) ∝ √det I(θ), where I is the Fisher information.

    Parameters
    ----------
    family
        The family whose parameters have the prior.
    **known
        The parameters of the family that are known, such as the variance of a Gaussian.

    Returns
    -------
    Family or ImproperPrior
        A conjugate prior where the Jeffreys prior is one, else an `ImproperPrior`. Both have `posterior`.

    Examples
    --------
    >>> jeffreys(Bernoulli)
    Beta(a=0.5, b=0.5)
    >>> jeffreys(Poisson).posterior(Poisson.statistics([2, 3]))
    Gamma(shape=5.5, rate=2.0)
    """
    if not (isinstance(family, type) and issubclass(family, Family)):
        raise InvalidData(f"jeffreys takes a family, such as Poisson; got {family!r}")
    given = frozenset(known)
    if family is Categorical and given == {"num_states"}:
        return Dirichlet(np.full(int(check_known(family, known)["num_states"]), 0.5))
    if (family, given) in PROPER:
        return PROPER[family, given]
    for prior, needed in IMPROPER:
        if prior.family is family and needed == given:
            return prior
    others = [" and ".join(sorted(needed)) or "nothing" for needed, _ in _variants_of(family)]
    raise Unsupported(
        f"there is no Jeffreys prior here for {family.__name__} with {' and '.join(sorted(given)) or 'nothing'} known"
        + (f"; there is one with {' or '.join(others)} known" if others else "")
    )


def _variants_of(family: type[Family]) -> list[tuple[frozenset[str], str]]:
    """For each prior of a family, what must be known, and the parameters that the prior is of."""
    improper = [(needed, prior.parameter) for prior, needed in IMPROPER if prior.family is family]
    proper = [(given, "probability") for of, given in PROPER if of is family]
    states = [(frozenset({"num_states"}), "probabilities")] if family is Categorical else []
    return improper + proper + states


PROPER = {
    (Bernoulli, frozenset()): Beta(0.5, 0.5),
    (Binomial, frozenset()): Beta(0.5, 0.5),
    (Binomial, frozenset({"trials"})): Beta(0.5, 0.5),
}

ONE_VALUE = "at least one value"


def _weight(statistics: Any) -> Any:
    return statistics.weight


def _squares(statistics: Any) -> Any:
    return statistics.scatter_about(statistics.known["mean"])


def _log_of_waiting(probability: np.ndarray) -> np.ndarray:
    """1 / p √(1 - p): of every number of successes waited for."""
    return np.asarray(-np.log(probability) - 0.5 * np.log1p(-probability))


IMPROPER: tuple[tuple[ImproperPrior, frozenset[str]], ...] = (
    (ImproperPrior(
        Geometric, "probability", _log_of_waiting,
        lambda s: Beta(s.weight, 0.5 + s.total[..., 0]), _weight, ONE_VALUE,
    ), frozenset()),
    (ImproperPrior(
        NegativeBinomial, "probability", _log_of_waiting,
        lambda s: Beta(s.weight * s.known["successes"], 0.5 + s.total[..., 0]), _weight, ONE_VALUE,
    ), frozenset({"successes"})),
    (ImproperPrior(
        Poisson, "rate", lambda rate: -0.5 * np.log(rate),
        lambda s: Gamma(0.5 + s.total[..., 0], s.weight), _weight, ONE_VALUE,
    ), frozenset()),
    (ImproperPrior(
        Exponential, "rate", lambda rate: -np.log(rate),
        lambda s: Gamma(s.weight, s.total[..., 0]), lambda s: s.total[..., 0], "at least one value above 0",
    ), frozenset()),
    (ImproperPrior(
        Gaussian, "mean", np.zeros_like,
        lambda s: Gaussian(s.center, s.known["variance"] / s.weight), _weight, ONE_VALUE,
    ), frozenset({"variance"})),
    (ImproperPrior(
        Gaussian, "variance", lambda variance: -np.log(variance),
        lambda s: InverseGamma(s.weight / 2, _squares(s) / 2), _squares, "at least one value apart from the mean",
    ), frozenset({"mean"})),
    (ImproperPrior(
        Gaussian, "mean and variance", lambda mean, variance: -1.5 * np.log(variance) + 0.0 * mean,
        lambda s: NormalInverseGamma(s.center, s.weight, s.weight / 2, s.scatter / 2),
        lambda s: s.scatter, "at least two different values",
    ), frozenset()),
    (ImproperPrior(
        MultivariateGaussian, "mean", lambda mean: np.zeros(mean.shape[:-1]),
        lambda s: MultivariateGaussian(s.center, s.known["covariance"] / s.weight[..., None, None]),
        _weight, "at least one row",
    ), frozenset({"covariance"})),
)  # fmt: skip
