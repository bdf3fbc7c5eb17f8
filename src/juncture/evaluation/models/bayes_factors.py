"""Evidence turned into judgements: Bayes factors, the posterior over models, and code lengths in bits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_mapping, check_number, shown
from juncture.base.shown import Shown
from juncture.errors import InvalidData
from juncture.numerics.stable import softmax

READINGS = (
    (1.0, "not worth more than a bare mention"),
    (3.0, "positive"),
    (5.0, "strong"),
    (math.inf, "very strong"),
)  # of log K, by Kass and Raftery (1995)


@dataclass(frozen=True)
class BayesFactor(Shown):
    """How much better one model predicts the data than another: K = p(data | first) / p(data | second).

    Attributes
    ----------
    log
        log K, natural.
    prior_odds
        p(first) / p(second) before the data.
    """

    log: float
    prior_odds: float = 1.0

    @property
    def value(self) -> float:
        """K; infinite where floating point cannot hold it."""
        return math.exp(self.log) if self.log < 700 else math.inf

    @property
    def log_posterior_odds(self) -> float:
        """log p(first | data) / p(second | data): log K plus the log of the prior odds."""
        return self.log + math.log(self.prior_odds)

    @property
    def probability(self) -> float:
        """p(first | data), where one of the two models is true."""
        return float(softmax(np.array([self.log_posterior_odds, 0.0]))[0])

    @property
    def favours(self) -> str:
        """Which model: "first", "second", or "neither" where K is 1."""
        return "neither" if self.log == 0 else "first" if self.log > 0 else "second"

    @property
    def reading(self) -> str:
        """The words of Kass and Raftery (1995) for the evidence in favour of the better model."""
        return next(words for limit, words in READINGS if abs(self.log) < limit or limit == math.inf)

    def __str__(self) -> str:
        sides = {"first": "for the first model", "second": "for the second model", "neither": "for neither model"}
        return f"log K = {self.log:.4g}: {self.reading}, {sides[self.favours]}"


def bayes_factor(first: float, second: float, *, prior_odds: float = 1.0) -> BayesFactor:
    """The Bayes factor of two models from their log-evidences.

    Parameters
    ----------
    first, second
        log p(data | model) of each, of the same data.
    prior_odds
        p(first) / p(second) before the data; the posterior odds are K times these.

    Returns
    -------
    BayesFactor

    Examples
    --------
    >>> import juncture as jt
    >>> flips = [1] * 9 + [0]  # 9 heads of 10: a fair coin, or any coin?
    >>> fair = 10 * np.log(0.5)
    >>> any_coin = jt.Beta(1, 1).log_evidence(jt.Bernoulli.statistics(flips))
    >>> print(bayes_factor(any_coin, fair))
    log K = 2.231: positive, for the first model
    """
    logs = [check_number(value, "a log-evidence", finite=True) for value in (first, second)]
    return BayesFactor(logs[0] - logs[1], check_number(prior_odds, "prior_odds", above=0, finite=True))


def model_posterior(log_evidences: Mapping[str, float], prior: Mapping[str, float] | None = None) -> dict[str, float]:
    """p(model | data) ∝ p(data | model) p(model), over models of which one is taken to be true.

    Parameters
    ----------
    log_evidences
        log p(data | model) by the name of the model; -inf for one that the data rule out.
    prior
        p(model) by name, or numbers in proportion to it; by default all models are as probable.

    Returns
    -------
    dict
        The probabilities, which sum to 1.

    Examples
    --------
    >>> found = model_posterior({"line": -17.88, "cubic": -13.93, "quartic": -13.71})
    >>> {name: round(probability, 3) for name, probability in found.items()}
    {'line': 0.008, 'cubic': 0.441, 'quartic': 0.55}
    """
    named = check_mapping(log_evidences, "the log-evidences")
    logs = np.array([check_number(value, f"the log-evidence of {name!r}") for name, value in named.items()])
    if not len(logs) or logs.max() == math.inf:
        raise InvalidData("a posterior over models needs the log-evidence of at least one model, none of them infinite")
    weighted = logs + log_prior_of(prior, tuple(named))
    if weighted.max() == -math.inf:
        raise InvalidData("the data are impossible under every model that has a prior probability")
    return dict(zip(named, softmax(weighted).tolist(), strict=True))


def log_prior_of(prior: Any, names: tuple[str, ...]) -> np.ndarray:
    """(model,): log p(model), normalised."""
    if prior is None:
        return np.full(len(names), -math.log(len(names)))
    given = check_mapping(prior, "the prior")
    if set(given) != set(names):
        odd = next(iter(set(given) ^ set(names)))
        raise InvalidData(f"the prior has a probability for each model and for no others; {shown(odd)} is in one only")
    masses = check_array([given[name] for name in names], "the prior", ndim=1)
    if not (np.isfinite(masses) & (masses >= 0)).all() or not masses.sum() > 0:
        raise InvalidData("the prior probabilities of models are finite, at least 0, and not all 0")
    with np.errstate(divide="ignore"):
        return np.log(masses / masses.sum())


def description_length(log_likelihood: float, log_prior: float = 0.0) -> float:
    """The bits of a two-part code: first the parameters, then the data given them, -log2 p(θ) - log2 p(data | θ).

    Parameters
    ----------
    log_likelihood
        log p(data | θ), natural; or the log-evidence, for the code of the data alone.
    log_prior
        log p(θ) at the same θ. Of real parameters it is a density: lengths then compare up to the precision to which
        parameters are written, which is the same for all models.

    Returns
    -------
    float
        The code length in bits; smallest at the most probable parameters.

    Examples
    --------
    >>> description_length(8 * np.log(0.5))  # eight flips of a fair coin
    8.0
    """
    total = check_number(log_likelihood, "log_likelihood") + check_number(log_prior, "log_prior")
    return 0.0 - total / math.log(2)
