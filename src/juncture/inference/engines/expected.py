"""Expected statistics from the joint posterior of each family, for engines without a faster way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.inference.engines.contract import Answers, Request


def expected_from_marginals(
    answers: Answers, requests: Sequence[Request], weights: np.ndarray
) -> list[list[np.ndarray]]:
    """For each request, its joint posterior summed over the possible rows with their weights."""
    possible = answers.log_evidence > -np.inf
    counted = np.where(possible, weights, 0.0)
    return [[sum_rows(answers.marginal(request.scope.names), counted)] for request in requests]


def sum_rows(tables: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ weight · table over the rows of positive weight; the tables of other rows may be NaN."""
    counted = weights > 0
    return np.tensordot(weights[counted], tables[counted], axes=1)
