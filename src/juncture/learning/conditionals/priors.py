"""Priors for tables: how many rows one would have counted in each cell before the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from numbers import Real
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.variables import Scope, Variable


@dataclass(frozen=True)
class BDeu:
    """The same number of rows, `equivalent_sample_size`, for every table, spread evenly over its cells.

    Equivalent structures then score alike (Heckerman, Geiger and Chickering 1995).
    """

    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        checked_count(self.equivalent_sample_size, "the equivalent sample size of BDeu")


@dataclass(frozen=True)
class K2:
    """One row for every cell: all tables are equally likely (Cooper and Herskovits 1992)."""


@singledispatch
def pseudo_counts(prior: Any, child: Variable, parents: Scope) -> np.ndarray:
    """The prior's rows in each cell of the child's table: (*parents, child)."""
    shape = Scope((*parents, child)).shape
    values = getattr(prior, "concentration", prior)
    try:
        counts = np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise InvalidData(
            f"a prior is a number, jt.BDeu(…), jt.K2(), a jt.Dirichlet or a mapping from child to one of these;"
            f" for {child.name!r}, whose table has the shape {shape}, it is {prior!r}"
        ) from None
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise InvalidData(f"the prior's counts for {child.name!r} must be finite and at least 0; got {prior!r}")
    return counts


@pseudo_counts.register
def _(prior: Real, child: Variable, parents: Scope) -> np.ndarray:
    return np.full(Scope((*parents, child)).shape, checked_count(prior, "the pseudo-count of a prior"))


@pseudo_counts.register
def _(prior: BDeu, child: Variable, parents: Scope) -> np.ndarray:
    shape = Scope((*parents, child)).shape
    return np.full(shape, prior.equivalent_sample_size / np.prod(shape, dtype=float))


@pseudo_counts.register
def _(prior: K2, child: Variable, parents: Scope) -> np.ndarray:
    return np.ones(Scope((*parents, child)).shape)


def prior_of(prior: Any, child: str) -> Any:
    """The prior of one child; None when it has none."""
    return prior.get(child) if isinstance(prior, Mapping) else prior


def checked_count(value: Any, what: str) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise InvalidData(f"{what} must be a finite number of at least 0; got {value!r}")
    return float(value)
