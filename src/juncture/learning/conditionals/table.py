"""Learning a table: counts, to which a prior adds its own; and what is deterministic, where nothing is learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture import numerics
from juncture.errors import InvalidData
from juncture.factors.conditional import Conditional
from juncture.factors.deterministic import Deterministic
from juncture.learning.conditionals.contract import (
    Wishes,
    estimated,
    expected_part,
    learns_from,
    log_likelihood_of,
    log_prior,
    takes_prior,
)
from juncture.learning.conditionals.priors import prior_of, pseudo_counts
from juncture.learning.conditionals.table_counts import TableCounts

NEGLIGIBLE = 1e-40  # of all rows: far below what moves a log-likelihood, far above the smallest product of doubles


@expected_part.register
def _(conditional: Conditional, tables: Sequence[np.ndarray]) -> TableCounts:
    """What no row believes in any more is nothing: left to shrink, its products would underflow and slow every step."""
    counts = tables[0]
    return TableCounts(
        conditional.child, conditional.parents, np.where(counts < NEGLIGIBLE * counts.sum(), 0.0, counts)
    )


@estimated.register
def _(conditional: Conditional, part: TableCounts, wishes: Wishes) -> Conditional:
    counts = part.counts + added_counts(wishes, part)
    totals = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1.0 / counts.shape[-1])
    values = np.divide(counts, totals, out=uniform, where=totals > 0)
    return Conditional(part.child, part.parents, values)


@log_likelihood_of.register
def _(conditional: Conditional, part: TableCounts) -> float:
    return weighted_logs(part.counts, conditional.values)


@log_prior.register
def _(conditional: Conditional, wishes: Wishes) -> float:
    """Σ α log θ: the estimate maximises it together with the log-likelihood."""
    return weighted_logs(
        np.broadcast_to(added_counts(wishes, conditional), conditional.values.shape), conditional.values
    )


def weighted_logs(counts: np.ndarray, values: np.ndarray) -> float:
    """Σ n log θ, with 0 · log 0 = 0."""
    seen = counts > 0
    return float(counts[seen] @ numerics.log(values[seen]))


def added_counts(wishes: Wishes, family: Any) -> np.ndarray:
    """The prior's rows as they enter the estimate: α for the posterior mean, α - 1 for the mode; none without."""
    prior = prior_of(wishes.prior, family.child.name)
    if prior is None:
        return np.zeros(())
    alpha = pseudo_counts(prior, family.child, family.parents)
    if wishes.point == "mean":
        return alpha
    if (alpha < 1).any():
        raise InvalidData(
            f"the mode of the posterior of {family.child.name!r} need not exist for prior counts below 1;"
            f' the smallest is {alpha.min():g}: raise it, or ask for point="mean"'
        )
    return np.asarray(alpha - 1)


@estimated.register
def _(conditional: Deterministic, part: Any, wishes: Wishes) -> Deterministic:
    return conditional


@learns_from.register
def _(conditional: Conditional) -> tuple[type, ...]:
    return (TableCounts,)


@takes_prior.register
def _(conditional: Conditional) -> bool:
    return True
