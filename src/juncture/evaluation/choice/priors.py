"""Evidence under priors that are not conjugate, by quadrature; and priors whose own parameter is unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from juncture.base.checks import check_function, check_kind, shown
from juncture.base.values import Value
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.choice.facts import Evidence, Facts
from juncture.families.conjugacy import ConjugatePrior
from juncture.families.family import Family
from juncture.families.posteriors.quadrature import quadrature_posterior
from juncture.families.statistics.statistics import Statistics
from juncture.numerics.quadrature.line_density import LineDensity

NO_CLOSED_FORM = "its prior is not conjugate, so that predictions from some of the rows have no closed form: take 'cv'"


class HierarchicalPrior(Value):
    """A conjugate prior whose own parameter α is unknown: θ ~ prior_at(α), α ~ hyperprior.

    Parameters
    ----------
    prior_at
        A function from α to a conjugate prior, such as `lambda a: jt.Dirichlet([a, a, a])`.
    hyperprior
        The distribution of α, a family of numbers on the line.

    Examples
    --------
    >>> import juncture as jt
    >>> prior = HierarchicalPrior(lambda a: jt.Dirichlet([a, a]), jt.Gamma(2.0, 1.0))
    >>> round(prior.log_evidence(jt.Categorical.statistics([0, 0, 0, 1], num_states=2)), 4)
    -2.9448
    """

    _fields = ("prior_at", "hyperprior")
    prior_at: Callable[[float], ConjugatePrior]
    hyperprior: Family

    def __init__(self, prior_at: Callable[[float], ConjugatePrior], hyperprior: Family) -> None:
        check_function(prior_at, "prior_at")
        check_kind(hyperprior, Family, "the hyperprior")
        if hyperprior.event_shape or hyperprior.batch_shape or hyperprior.support.is_discrete:
            raise InvalidData(f"the hyperprior is one density on the line; got {hyperprior!r}")
        self._set(prior_at=prior_at, hyperprior=hyperprior)

    def posterior(self, statistics: Statistics) -> LineDensity:
        """The density of α given the data; its `log_total` is the log-evidence."""
        check_kind(statistics, Statistics, "what a prior learns from")

        def log_height(alphas: np.ndarray) -> np.ndarray:
            logs = np.asarray(self.hyperprior.log_prob(alphas), dtype=float)
            found = np.full(np.shape(logs), -np.inf)
            for place in np.ndindex(np.shape(logs)):
                if np.isfinite(logs[place]):
                    found[place] = logs[place] + self._log_evidence_at(float(alphas[place]), statistics)
            return found

        support = self.hyperprior.support
        return LineDensity(log_height, float(support.low), float(support.high))

    def log_evidence(self, statistics: Statistics) -> float:
        """log ∫ p(data | α) p(α) dα, by quadrature."""
        return float(self.posterior(statistics).log_total)

    def _log_evidence_at(self, alpha: float, statistics: Statistics) -> float:
        prior = self.prior_at(alpha)
        if not isinstance(prior, ConjugatePrior):
            raise InvalidData(f"prior_at gives a conjugate prior; at {alpha:.4g} it gives {shown(prior)}")
        return float(prior.log_evidence(statistics))

    def __repr__(self) -> str:
        return f"HierarchicalPrior({self.hyperprior!r})"


def add_hierarchy(facts: Facts, prior: HierarchicalPrior, statistics: Statistics) -> Facts:
    """The facts with the evidence, the parameter of the prior integrated out by quadrature."""
    how = "the integral over the conjugate prior, and by quadrature over its parameter"
    return replace(
        facts, log_evidence=lambda: Evidence(prior.log_evidence(statistics), "exact", how), ahead=NO_CLOSED_FORM
    )


def add_quadrature(
    facts: Facts, family: type[Family], prior: Any, known: dict[str, Any], rows: np.ndarray, statistics: Statistics
) -> Facts:
    """The facts with the evidence under any prior of one parameter, or a pair of priors of two, by quadrature."""
    free = [name for name in family.parameters if name not in known and name not in family.required]
    number = len(prior) if isinstance(prior, tuple) else 1
    if len(free) != number or not 1 <= number <= 2 or any(family.parameters[name].axes for name in free):
        raise Unsupported(
            f"a prior of {family.__name__} is conjugate, or a density of its only parameter, or a pair for two; here"
            f" {', '.join(free)} {'has' if len(free) == 1 else 'have'} the prior {shown(prior)}"
        )

    def likelihood(*values: Any) -> Any:
        return family(**dict(zip(free, values, strict=True)), **known)

    def evidence() -> Evidence:
        found = quadrature_posterior(prior, likelihood, statistics)
        return Evidence(float(found.log_evidence), "exact", "by quadrature over its parameters")

    def held_out(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        seen = quadrature_posterior(prior, likelihood, family.statistics(rows[train], **known))
        return np.asarray(seen.predictive_log_prob(rows[test]))

    return replace(facts, log_evidence=evidence, held_out=held_out, ahead=NO_CLOSED_FORM, left_out=NO_CLOSED_FORM)
