"""What each kind of conditional learns from: its statistics, and the estimate they lead to.

`summarise(conditional, data)` gives what adds; `estimated(conditional, part, prior)` a conditional of the same kind.
A new kind registers both in a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.learning.priors import pseudo_counts
from juncture.learning.table_counts import TableCounts

Point = Literal["mean", "mode"]


@dataclass(frozen=True)
class Wishes:
    """How to estimate: the prior, which point of its posterior, and what to do where nothing was seen."""

    prior: Any = None
    point: Point = "mean"
    on_unseen: Literal["uniform", "error"] = "uniform"

    def __post_init__(self) -> None:
        if self.point not in {"mean", "mode"}:
            raise InvalidData(f'point is "mean" or "mode" of the posterior; got {self.point!r}')
        if self.on_unseen not in {"uniform", "error"}:
            raise InvalidData(f'on_unseen is "uniform" or "error"; got {self.on_unseen!r}')


@singledispatch
def summarise(conditional: AnyConditional, data: Dataset) -> Any:
    """The statistics of one family from rows without holes in it."""
    raise Unsupported(f"{signature(conditional)} cannot be learned; keep it as it is with fixed=[…]")


@singledispatch
def estimated(conditional: AnyConditional, part: Any, wishes: Wishes) -> AnyConditional:
    """A conditional of the same kind, estimated from its statistics."""
    raise Unsupported(f"{signature(conditional)} cannot be learned; keep it as it is with fixed=[…]")


@singledispatch
def log_prior(conditional: AnyConditional, wishes: Wishes) -> float:
    """What the prior adds to the objective that the estimate maximises, up to a constant."""
    return 0.0


@estimated.register
def _(conditional: Conditional, part: TableCounts, wishes: Wishes) -> Conditional:
    counts = part.counts + added_counts(wishes, part)
    totals = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1.0 / counts.shape[-1])
    values = np.divide(counts, totals, out=uniform, where=totals > 0)
    return Conditional(part.child, part.parents, values)


@log_prior.register
def _(conditional: Conditional, wishes: Wishes) -> float:
    """Σ α log θ: the estimate maximises it together with the log-likelihood."""
    added = added_counts(wishes, conditional)
    with np.errstate(divide="ignore"):
        logs = np.log(conditional.values)
    return float(np.sum(added * logs, where=added > 0))


def added_counts(wishes: Wishes, family: Any) -> np.ndarray:
    """The prior's rows as they enter the estimate: α for the posterior mean, α - 1 for the mode."""
    if wishes.prior is None:
        return np.zeros(())
    alpha = pseudo_counts(wishes.prior, family.child, family.parents)
    if wishes.point == "mean":
        return alpha
    if (alpha < 1).any():
        raise InvalidData(
            f"the mode of the posterior of {family.child.name!r} need not exist for prior counts below 1;"
            f' the smallest is {alpha.min():g}: raise it, or ask for point="mean"'
        )
    return np.asarray(alpha - 1)
