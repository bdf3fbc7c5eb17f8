"""What each kind of conditional learns from, as functions that a kind registers itself with, in a file of its own.

`summarise` gives statistics that add, `estimated` a conditional of the same kind from them; `expected_part` turns what
a clique tree expects of the conditional's factors into such statistics. A kind that registers nothing can be kept as it
is among conditionals that are learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from juncture.checks import is_one_of, shown
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import AnyConditional, signature
from juncture.learning.conditionals.row_counts import RowCounts

Point = Literal["mean", "mode"]


@dataclass(frozen=True)
class Wishes:
    """How to estimate: the prior, which point of its posterior, and what to do where nothing was seen."""

    prior: Any = None
    point: Point = "mean"
    on_unseen: Literal["uniform", "error"] = "uniform"

    def __post_init__(self) -> None:
        if not is_one_of(self.point, ("mean", "mode")):
            raise InvalidData(f'point is "mean" or "mode" of the posterior; got {shown(self.point)}')
        if not is_one_of(self.on_unseen, ("uniform", "error")):
            raise InvalidData(f'on_unseen is "uniform" or "error"; got {shown(self.on_unseen)}')


@singledispatch
def summarise(conditional: AnyConditional, data: Dataset) -> Any:
    """The statistics of one family from rows without holes in it: the different rows, unless less will do."""
    return RowCounts.of(conditional, data)


@singledispatch
def expected_part(conditional: AnyConditional, tables: Sequence[np.ndarray]) -> Any:
    """The statistics of a family from expected counts of the states of each factor it was lowered to."""
    return RowCounts.of_table(conditional, tables[0])


@singledispatch
def learns_from(conditional: AnyConditional) -> tuple[type, ...]:
    """The kinds of statistics that tell what a conditional of this kind needs to know."""
    return (RowCounts,)


@singledispatch
def estimated(conditional: AnyConditional, part: Any, wishes: Wishes) -> AnyConditional:
    """A conditional of the same kind, estimated from its statistics."""
    name = conditional.child.name
    raise Unsupported(f"{signature(conditional)} cannot be learned; keep it as it is with fixed=[{name!r}]")


@singledispatch
def log_likelihood_of(conditional: AnyConditional, part: Any) -> float:
    """Log p(child | parents), summed over the rows that the statistics sum up."""
    return float(part.log_likelihood(conditional))


@singledispatch
def log_prior(conditional: AnyConditional, wishes: Wishes) -> float:
    """What the prior adds to the objective that the estimate maximises, up to a constant."""
    return 0.0


@singledispatch
def takes_prior(conditional: AnyConditional) -> bool:
    """Whether a prior for this child changes what is estimated."""
    return False
