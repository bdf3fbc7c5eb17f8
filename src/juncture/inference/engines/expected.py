"""Expected statistics from the joint posterior of each family, for engines without a faster way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Answers, Request


def expected_from_marginals(
    answers: Answers, requests: Sequence[Request], weights: np.ndarray
) -> list[list[np.ndarray]]:
    """For each request, its joint posterior summed over the possible rows with their weights."""
    possible = answers.log_evidence > -np.inf
    counted = np.where(possible, weights, 0.0)
    return [[sum_rows(answers.marginal(names_of(request)), counted)] for request in requests]


def names_of(request: Request) -> tuple[str, ...]:
    """The variables of a factor, or of a conditional with the parents first."""
    return request.scope.names if isinstance(request, Factor) else (*request.parents.names, request.child.name)


def sum_rows(tables: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ weight · table over the rows of positive weight; the tables of other rows may be NaN."""
    counted = weights > 0
    return np.tensordot(weights[counted], tables[counted], axes=1)
