"""Facts of families: a member is a fixed distribution; a class is learned from the rows, with a prior or without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from juncture.components.family import num_free
from juncture.data.observations import as_rows
from juncture.data.rows import read_columns
from juncture.data.sequence_steps import unwrap_frame
from juncture.errors import InvalidData
from juncture.evaluation.choice.facts import Candidate, Evidence, Facts, check_logs
from juncture.evaluation.choice.priors import HierarchicalPrior, add_hierarchy, add_quadrature
from juncture.families.conjugacy import ConjugatePrior, pairs_of
from juncture.families.family import Family

CELLS = 2**22  # weights of rows at a time


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
    rows = read_rows(data, member.event_shape, type(member).__name__)
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
    columns = read_columns(data)
    given = unwrap_frame(data) if columns is None else columns[:, 0] if columns.shape[1] == 1 else columns
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


def read_rows(data: Any, event_shape: tuple[int, ...], name: str) -> np.ndarray:
    """Rows as an array; a frame is a table of its columns."""
    columns = read_columns(data)
    if columns is None:
        return as_rows(unwrap_frame(data), event_shape, name=name)
    return columns[:, 0] if event_shape == () and columns.shape[1] == 1 else columns
