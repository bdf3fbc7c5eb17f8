"""Probabilities of a class for many rows, from real columns too: Bayes' rule on the joint density of each row.

What no observed column depends on sums to 1 and drops out. Where all that remains is observed, each class gets the
density of the row; where something that remains is missing, an engine sums it out.
"""

from __future__ import annotations

import warnings

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import ImpossibleEvidenceWarning
from juncture.estimators.reading import QueryRows
from juncture.inference.engines.relevance import ancestral_part, relevant_evidence
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics import log_sum_exp
from juncture.verbs import infer


def mixed_probabilities(model: BayesianNetwork, target: str, rows: QueryRows) -> np.ndarray:
    """p(target | row) as (row, state), NaN for impossible rows; rows with equal columns observed are asked together."""
    names = [name for name in model.variables.names if name in rows.names and name != target]
    columns = {name: rows.codes(name) for name in names}
    holes = np.array([has_hole(columns[name]) for name in names]).reshape(len(names), len(rows))
    values = np.empty((len(rows), model.variable(target).num_states))
    patterns, pattern_of = np.unique(holes, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        chosen = np.flatnonzero(pattern_of.reshape(-1) == number)
        observed = {name for name, is_hole in zip(names, pattern, strict=True) if not is_hole}
        relevant = relevant_evidence(model.graph, target, observed, lambda name: True)
        seen = {name: columns[name][chosen] for name in relevant}
        values[chosen] = posterior(ancestral_part(model, (target, *seen)), target, seen, len(chosen))
    return values


def posterior(part: BayesianNetwork, target: str, seen: dict[str, np.ndarray], num_rows: int) -> np.ndarray:
    """p(target | what is seen) as (row, state), NaN where no state is possible."""
    if set(part.variables.names) != {target, *seen}:
        data = Dataset.from_codes([part.variable(name) for name in seen], seen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleEvidenceWarning)  # who asks warns once, for all rows
            values: np.ndarray = infer(part, data, targets=[target])[target].values
        return values
    states = range(part.variable(target).num_states)
    log_joint = np.stack([part.log_joint_of({**seen, target: np.full(num_rows, one)}) for one in states], axis=1)
    total = log_sum_exp(log_joint, axis=1)[:, np.newaxis]
    is_possible = total > -np.inf
    return np.where(is_possible, np.exp(log_joint - np.where(is_possible, total, 0.0)), np.nan)
