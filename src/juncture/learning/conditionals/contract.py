"""How each kind of conditional learns: functions that every kind registers with, in a file of its own.

`summarise` gives statistics that add, `estimate_conditional` gives a conditional of the same kind from statistics, and
notes on the estimate, `summarise_expected` turns what an engine expects into statistics. A kind that registers nothing
cannot be learned, but may be kept fixed among conditionals that are learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from juncture.base.checks import is_one_of, shown
from juncture.base.notes import Notes
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import AnyConditional, signature
from juncture.learning.conditionals.row_counts import RowCounts

Point = Literal["mean", "mode"]
OnUnseen = Literal["uniform", "error"]


def check_estimation(point: Any, on_unseen: Any) -> None:
    """Check the point of the posterior, and the policy for states of the parents that no row has."""
    if not is_one_of(point, ("mean", "mode")):
        raise InvalidData(f'point is "mean" or "mode" of the posterior; got {shown(point)}')
    if not is_one_of(on_unseen, ("uniform", "error")):
        raise InvalidData(f'on_unseen is "uniform" or "error"; got {shown(on_unseen)}')


@dataclass(frozen=True)
class EstimationOptions:
    """How to estimate: the prior, the point of the posterior, and the policy for unseen parents' states.

    In a step of EM, `least_variances` has the least variance of each real child that was observed.
    """

    prior: Any = None
    point: Point = "mean"
    on_unseen: OnUnseen = "uniform"
    least_variances: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        check_estimation(self.point, self.on_unseen)


@singledispatch
def summarise(conditional: AnyConditional, data: Dataset) -> Any:
    """The statistics of one family from complete rows: by default the distinct rows with their weights."""
    return RowCounts.of(conditional, data)


@singledispatch
def summarise_expected(conditional: AnyConditional, tables: Sequence[np.ndarray]) -> Any:
    """The statistics of a family from what an engine expects: the counts of its factors, or the moments of a line."""
    return RowCounts.of_table(conditional, tables[0])


@singledispatch
def learns_from(conditional: AnyConditional) -> tuple[type, ...]:
    """The kinds of statistics from which a conditional of this kind can be estimated."""
    return (RowCounts,)


@singledispatch
def estimate_conditional(
    conditional: AnyConditional, part: Any, options: EstimationOptions
) -> tuple[AnyConditional, Notes]:
    """A conditional of the same kind, estimated from its statistics, and what there is to say of the estimate."""
    name = conditional.child.name
    raise Unsupported(f"{signature(conditional)} cannot be learned; keep it as it is with fixed=[{name!r}]")


@singledispatch
def log_likelihood_of(conditional: AnyConditional, part: Any) -> float:
    """Log p(child | parents), summed over the rows of the statistics."""
    return float(part.log_likelihood(conditional))


@singledispatch
def log_prior(conditional: AnyConditional, options: EstimationOptions) -> float:
    """The log prior density at the conditional, up to a constant: the term that the prior adds to the objective."""
    return 0.0


@singledispatch
def takes_prior(conditional: AnyConditional) -> bool:
    """Whether a prior for this child changes the estimate."""
    return False
