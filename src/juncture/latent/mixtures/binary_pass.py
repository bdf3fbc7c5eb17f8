"""The E-step of mixtures of independent Bernoulli columns over complete rows, by products of matrices.

With the log odds θ of each column, log p(row, component) = θ·row + Σ log(1 - p) + log weight; the expected number of
ones is the product of responsibilities and rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.components.contract import EmissionStatistics
from juncture.components.family import FamilyEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.runtime.parallel import map_blocks, one_thread

TASK_ROWS = 2**14  # of one thread
ROWS_AT_ONCE = 2**11  # whose numbers stay in the cache


def log_odds(model: Mixture) -> tuple[np.ndarray, np.ndarray] | None:
    """θ, (component, column), and the rest, (component,); None where a column is no Bernoulli, or is certain."""
    components = model.components
    if not isinstance(components, IndependentEmissions) or not all(map(is_bernoulli, components.parts)):
        return None
    parts: tuple[Any, ...] = tuple(components.parts)
    shares = np.stack([np.broadcast_to(part.family.probability, (part.num_states,)) for part in parts], axis=1)
    if not ((shares > 0) & (shares < 1)).all() or not (model.weights > 0).all():
        return None
    others = np.log1p(-shares)
    return np.log(shares) - others, others.sum(axis=1) + np.log(model.weights)


def is_bernoulli(part: Any) -> bool:
    return isinstance(part, FamilyEmissions) and isinstance(part.family, Bernoulli)


def binary_pass(
    model: Mixture, odds: np.ndarray, rest: np.ndarray, rows: np.ndarray, weights: np.ndarray
) -> tuple[EmissionStatistics, float]:
    """The expected statistics of the components and the log-likelihood, from `log_odds` and rows of zeros and ones."""
    with one_thread(len(rows) > TASK_ROWS):
        found = map_blocks(lambda own: add_rows(odds, rest, rows[own], weights[own]), len(rows), TASK_ROWS)
    ones, totals = np.sum([part[0] for part in found], axis=0), np.sum([part[1] for part in found], axis=0)
    parts: Any = model.components
    counts = zip(parts.parts, ones.T, np.maximum(totals - ones.T, 0.0), strict=True)  # no rounding makes them negative
    statistics = [part.statistics(np.array([0.0, 1.0]), np.stack([zeros, own])) for part, own, zeros in counts]
    return EmissionStatistics(totals, statistics), float(sum(part[2] for part in found))


def add_rows(
    odds: np.ndarray, rest: np.ndarray, rows: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The expected numbers of ones (component, column), the weight of each component, and the log-likelihood."""
    ones, totals, log_likelihood = np.zeros_like(odds), np.zeros(len(odds)), 0.0
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some, heavy = rows[start : start + ROWS_AT_ONCE], weights[start : start + ROWS_AT_ONCE]
        shares = odds @ some.T
        shares += rest[:, None]
        top = shares.max(axis=0)
        shares -= top
        np.exp(shares, out=shares)
        total = shares.sum(axis=0)
        log_likelihood += float(heavy @ (top + np.log(total)))
        shares *= heavy / total
        totals += shares.sum(axis=1)
        ones += shares @ some
    return ones, totals, log_likelihood
