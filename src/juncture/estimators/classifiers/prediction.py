"""Probabilities of one variable for many rows, from the columns on which it depends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.findings import Findings, drop_unobserved
from juncture.errors import ImpossibleEvidenceWarning, warn_user
from juncture.estimators.classifiers.mixed_prediction import mixed_probabilities, posterior
from juncture.estimators.reading import QueryRows
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.relevance import ancestral_part, relevant_evidence
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.learning.networks.expectation import number_rows
from juncture.networks.bayesian_network import BayesianNetwork


def probabilities(model: BayesianNetwork, target: str, rows: QueryRows) -> np.ndarray:
    """p(target | row) as (row, state).

    Rows that are alike where it matters are asked about once. Rows that the model holds for impossible get the
    target's distribution without evidence, with one warning that counts them.
    """
    if any(variable.is_real for variable in model.variables):
        values = mixed_probabilities(model, target, rows)
        return replace_impossible(values, target, np.arange(len(rows)), lambda: posterior_alone(model, target))
    relevant = relevant_evidence(model.graph, target, rows.names - {target}, rows.is_complete)
    if not relevant:
        return np.repeat(class_probabilities(model, target, {}, 1), len(rows), axis=0)
    data = Dataset.from_codes(map(model.variable, relevant), {name: rows.codes(name) for name in relevant})
    group, first = number_rows(data)
    values = class_probabilities(model, target, dict(data.take(first).columns), len(first))
    return replace_impossible(values, target, group, lambda: class_probabilities(model, target, {}, 1))[group]


def class_probabilities(model: BayesianNetwork, target: str, codes: dict[str, np.ndarray], num_rows: int) -> np.ndarray:
    """What the exact engine answers, NaN for rows of probability zero."""
    findings = Findings(tuple(model.variables), drop_unobserved(codes), num_rows=num_rows)
    values: np.ndarray = Beliefs.of(model, JunctionTree(), findings, (target,))[target].values
    return values


def posterior_alone(model: BayesianNetwork, target: str) -> np.ndarray:
    """The distribution of a target in a network with real variables, without evidence."""
    return posterior(ancestral_part(model, (target,)), target, {}, 1)


def replace_impossible(
    values: np.ndarray, target: str, group: np.ndarray, alone: Callable[[], np.ndarray]
) -> np.ndarray:
    """The values, with the target's own distribution in place of rows of NaN."""
    impossible = np.isnan(values[:, 0])
    if not impossible.any():
        return values
    rows = np.flatnonzero(impossible[group])
    warn_user(
        f"{len(rows)} of {len(group)} rows have probability zero under the model, the first is row {rows[0]};"
        f" they get the distribution that {target!r} has without evidence",
        ImpossibleEvidenceWarning,
    )
    return np.where(impossible[:, np.newaxis], alone(), values)
