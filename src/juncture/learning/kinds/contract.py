"""What each kind of conditional learns from, as functions that a kind registers itself with, in a file of its own.

`summarise` gives statistics that add, `estimated` a conditional of the same kind from them; `expected_part` turns what
a clique tree expects of the conditional's factors into such statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import AnyConditional, signature

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
def log_likelihood_of(conditional: AnyConditional, part: Any) -> float:
    """Log p(child | parents), summed over the rows that the statistics sum up."""
    raise Unsupported(f"the likelihood of {signature(conditional)} cannot be told from its statistics")


@singledispatch
def expected_part(conditional: AnyConditional, tables: Sequence[np.ndarray]) -> Any:
    """The statistics of a family from expected counts of the states of each factor it was lowered to."""
    raise Unsupported(f"{signature(conditional)} cannot be learned from rows with holes; keep it with fixed=[…]")


@singledispatch
def log_prior(conditional: AnyConditional, wishes: Wishes) -> float:
    """What the prior adds to the objective that the estimate maximises, up to a constant."""
    return 0.0
