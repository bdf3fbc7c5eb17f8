"""Facts of families: a member is a fixed distribution; a class is learned from the rows, with a prior or without.

Conjugate priors have closed forms. Evidence under other priors is by quadrature, and so is that of a prior whose own
parameter is unknown: `HierarchicalPrior`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from juncture.base.checks import check_function, check_kind, shown
from juncture.base.values import Value
from juncture.components.family import num_free
from juncture.data.observations import as_rows
from juncture.data.rows import Rows
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.models.facts import Candidate, Evidence, Facts, check_logs
from juncture.families.conjugacy import ConjugatePrior, pairs_of
from juncture.families.family import Family
from juncture.families.posteriors.quadrature import quadrature_posterior
from juncture.families.statistics.statistics import Statistics
from juncture.numerics.quadrature.line_density import LineDensity

CELLS = 2**22  # weights of rows at a time


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


def facts_of_member(candidate: Candidate, data: Any) -> Facts:
    """A distribution without free parameters: its likelihood is its evidence, and no row teaches it anything."""
    member = candidate.model
    if candidate.prior is not None:
        raise InvalidData(
            f"{member!r} has no free parameters, and so no prior: give the class, Candidate(jt.{type(member).__name__},"
            " prior)"
        )
    if member.batch_shape:
        raise InvalidData(f"a model of all rows is one member of a family; got a batch of shape {member.batch_shape}")
    read = Rows.of(data)
    is_column = member.event_shape == () and read.columns is not None and read.values.shape[1] == 1
    rows = as_rows(read.values[:, 0] if is_column else read.values, member.event_shape, name=type(member).__name__)
    logs = check_logs(member.log_prob(rows), repr(member))
    return Facts(
        num_rows=len(logs),
        sample_size=len(logs),
        num_parameters=0,
        log_likelihoods=lambda: logs,
        log_evidence=lambda: Evidence(float(logs.sum()), "exact", "a distribution without free parameters"),
        ahead=lambda order: logs[order],
        left_out=lambda: logs,
        held_out=lambda train, test: logs[test],
        draws=lambda number, rng: np.broadcast_to(logs, (number, len(logs))),
    )


def facts_of_family(candidate: Candidate, data: Any) -> Facts:
    """A family learned from the rows; with a prior, everything Bayesian has a closed form."""
    family, prior, known = candidate.model, candidate.prior, candidate.known
    read = Rows.of(data)
    given = read.values[:, 0] if read.columns is not None and read.values.shape[1] == 1 else read.values
    statistics = family.statistics(given, **known)
    if statistics.batch_shape:
        raise InvalidData(f"rows of {family.__name__} are one event each; got an array of the shape {np.shape(given)}")
    event_shape = family._event_shape_given(given, family._known_from(given, dict(statistics.known)))
    rows = as_rows(given, event_shape, name=family.__name__)
    facts = Facts(
        num_rows=len(rows),
        sample_size=len(rows),
        num_parameters=num_parameters(family.estimate(statistics), known),
        log_likelihoods=lambda: check_logs(family.estimate(statistics).log_prob(rows), family.__name__),
    )
    if prior is None:
        return replace_held_out(facts, lambda part: family.estimate(family.statistics(part, **known)), rows)
    if isinstance(prior, HierarchicalPrior):
        return add_hierarchy(facts, prior, statistics)
    if is_conjugate(prior, statistics):
        return add_bayes(facts, family, prior, known, rows, statistics)
    return add_quadrature(facts, family, prior, known, rows, statistics)


def is_conjugate(prior: Any, statistics: Any) -> bool:
    """Whether a prior is conjugate for the family of these statistics, with what is known."""
    kinds = pairs_of(type(prior)) if isinstance(prior, ConjugatePrior) and not prior.batch_shape else ()
    return any(pair.is_for(statistics.family, frozenset(statistics.known)) for pair in kinds)


def replace_held_out(facts: Facts, learn: Any, rows: np.ndarray) -> Facts:
    """The same facts, with rows held out of learning."""
    return replace(facts, held_out=lambda train, test: np.asarray(learn(rows[train]).log_prob(rows[test])))


def add_bayes(
    facts: Facts, family: type[Family], prior: ConjugatePrior, known: dict[str, Any], rows: np.ndarray, statistics: Any
) -> Facts:
    """The facts with those of the posterior, all in closed form but for draws."""
    total = float(prior.log_evidence(statistics))

    def evidence_of(weights: np.ndarray) -> np.ndarray:
        """The log-evidence of rows weighted by each column of (row, column)."""
        return np.asarray(prior.log_evidence(family.statistics(rows, weights, **known)))

    def draws(number: int, rng: np.random.Generator) -> np.ndarray:
        members = prior.posterior(statistics).likelihood_at(prior.posterior(statistics).sample((number, 1), rng=rng))
        return np.asarray(members.log_prob(rows))

    def held_out(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        seen = prior.posterior(family.statistics(rows[train], **known))
        return np.asarray(seen.predictive().log_prob(rows[test]))

    return replace(
        facts,
        log_evidence=lambda: Evidence(total, "exact", "the integral over the conjugate prior"),
        ahead=lambda order: score_ahead(evidence_of, order),
        left_out=lambda: total - in_blocks(evidence_of, 1.0 - np.eye(len(rows))),
        held_out=held_out,
        draws=draws,
    )


def score_ahead(evidence_of: Any, order: np.ndarray) -> np.ndarray:
    """log p(row | the rows before it): differences of the evidence of more and more rows."""
    before = np.argsort(order)  # when each row comes
    weights = (before[:, None] <= np.arange(len(order))).astype(float)
    return np.diff(in_blocks(evidence_of, weights), prepend=0.0)


def in_blocks(evidence_of: Any, weights: np.ndarray) -> np.ndarray:
    """The evidence of each column of weights, some columns at a time; rows of no weight have the evidence 1."""
    size = max(1, CELLS // max(1, len(weights)))
    is_some = weights.any(axis=0)
    found, kept = np.zeros(weights.shape[1]), weights[:, is_some]
    parts = [evidence_of(kept[:, start : start + size]) for start in range(0, kept.shape[1], size)]
    found[is_some] = np.concatenate(parts) if parts else 0.0
    return found


def num_parameters(member: Family, known: dict[str, Any]) -> int:
    """The free numbers of the parameters that are learned."""
    learned = (name for name in member.parameters if name not in member.required and name not in known)
    return sum(num_free(member, name) for name in learned)


NO_CLOSED_FORM = "its prior is not conjugate, so that predictions from some of the rows have no closed form: take 'cv'"


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
