"""Facts of Bayesian networks whose tables have Dirichlet priors: complete rows have everything in closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from juncture.data.dataset import Dataset
from juncture.errors import Unsupported
from juncture.evaluation.choice.facts import Candidate, Evidence, Facts
from juncture.evaluation.choice.models import facts_of_model, learn_and_score, read_rows
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.table import prior_of, pseudo_counts
from juncture.learning.networks.estimation import resolve_prior
from juncture.learning.structure.scores.gaussian import BGe
from juncture.learning.structure.scores.scores import structure_score
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.verbs import fit, statistics


def facts_of_graph(candidate: Candidate, data: Any) -> Facts:
    """A graph or a network with a prior: learned by maximum likelihood, with the evidence of its tables."""
    if isinstance(candidate.model, BayesianNetwork) and candidate.prior is None:
        return facts_of_model(candidate, data)
    table = data if isinstance(data, Dataset) else Dataset(data)
    is_graph = isinstance(candidate.model, DirectedGraph)
    learned = fit(candidate.model, table.only(candidate.model.nodes) if is_graph else data).model
    template = learned if is_graph else candidate.model
    facts = facts_of_model(Candidate(learned), data if not is_graph else table.only(template.variables.names))
    rows, take = read_rows(learned, data if not is_graph else table.only(template.variables.names))
    facts = replace(
        facts,
        held_out=lambda train, test: learn_and_score(Candidate(template, candidate.prior), take(train), take(test)),
    )
    if isinstance(candidate.prior, BGe):
        return add_lines(facts, template, candidate.prior, rows)
    return facts if candidate.prior is None else add_tables(facts, template, candidate.prior, rows)


def add_lines(facts: Facts, template: BayesianNetwork, prior: BGe, rows: Dataset) -> Facts:
    """The facts of a network of real variables, with its evidence under a normal-Wishart prior."""
    how = "the integral over the normal-Wishart prior of its lines"
    reason = "predictions from some of the rows are not there for this prior"
    return replace(
        facts,
        log_evidence=lambda: Evidence(structure_score(template.graph, rows, prior), "exact", how),
        ahead=reason,
        left_out=reason,
        held_out=reason,
    )


def add_tables(facts: Facts, template: BayesianNetwork, prior: Any, rows: Dataset) -> Facts:
    """The facts with those of Dirichlet posteriors, which complete rows have in closed form."""
    reason = check_tables(template, prior, rows)
    if reason:
        return replace(facts, log_evidence=reason, ahead=reason, left_out=reason)
    tables = pseudo_tables(template, prior)
    parts = [(tables[part.child.name], cells_of(part, rows)) for part in template.conditionals]
    counts = statistics(template, rows)

    def evidence() -> Evidence:
        values = [
            log_table_evidence(counts[part.child.name].counts, tables[part.child.name])
            for part in template.conditionals
        ]
        return Evidence(float(sum(values)), "exact", "the integral over the Dirichlet priors of its tables")

    def ahead(order: np.ndarray) -> np.ndarray:
        return np.sum([score_table(alpha, codes[order], count_before) for alpha, codes in parts], axis=0)

    def left_out() -> np.ndarray:
        return np.sum([score_table(alpha, codes, count_others) for alpha, codes in parts], axis=0)

    return replace(facts, log_evidence=evidence, ahead=ahead, left_out=left_out)


def check_tables(template: BayesianNetwork, prior: Any, rows: Dataset) -> str:
    """Why there is no closed form; nothing where there is."""
    for part in template.conditionals:
        if not isinstance(part, Conditional):
            return f"the evidence in closed form is that of tables; {signature(part)} is no table"
        if prior_of(resolve_prior(prior, template), part.child.name) is None:
            return f"the table of {part.child.name!r} has no prior"
    return "" if rows.is_complete else "with holes in the rows the evidence has no closed form"


def pseudo_tables(template: BayesianNetwork, prior: Any) -> dict[str, np.ndarray]:
    """The pseudo-counts of each table; all must be positive, or there is no evidence."""
    resolved, found = resolve_prior(prior, template), {}
    for part in template.conditionals:
        name = part.child.name
        found[name] = pseudo_counts(prior_of(resolved, name), part.child, part.parents)
        if not (found[name] > 0).all():
            raise Unsupported(f"the prior of {name!r} has cells without pseudo-counts: the evidence needs all positive")
    return found


def cells_of(part: AnyConditional, rows: Dataset) -> np.ndarray:
    """(row, 2): the combination of the parents' states, and the state of the child, as whole numbers."""
    parents = [rows.columns[parent.name] for parent in part.parents]
    shape = tuple(parent.num_states for parent in part.parents)
    given = np.ravel_multi_index(tuple(parents), shape) if parents else np.zeros(len(rows), np.int64)
    return np.stack([given, rows.columns[part.child.name]], axis=1).astype(np.int64)


def log_table_evidence(counts: np.ndarray, alpha: np.ndarray) -> float:
    """Σ over the parents' states of log B(counts + α) - log B(α)."""
    totals = gammaln(alpha.sum(axis=-1)) - gammaln((alpha + counts).sum(axis=-1))
    return float((totals + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)).sum())


def score_table(alpha: np.ndarray, codes: np.ndarray, count: Any) -> np.ndarray:
    """(row,): log (α + n of the cell) / Σ (α + n), where n counts other rows."""
    flat = alpha.reshape(-1, alpha.shape[-1])
    cell = codes[:, 0] * flat.shape[1] + codes[:, 1]
    up = flat[codes[:, 0], codes[:, 1]] + count(cell)
    return np.asarray(np.log(up) - np.log(flat.sum(axis=1)[codes[:, 0]] + count(codes[:, 0])))


def count_before(numbers: np.ndarray) -> np.ndarray:
    """(row,): how many rows before it have the same number."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    found = np.empty(len(numbers), np.int64)
    found[order] = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.r_[starts, len(numbers)]))
    return found


def count_others(numbers: np.ndarray) -> np.ndarray:
    """(row,): how many other rows have the same number."""
    return np.bincount(numbers)[numbers] - 1
