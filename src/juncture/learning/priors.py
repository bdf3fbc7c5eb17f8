"""Priors for tables: how many rows one would have counted in each cell before the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from numbers import Real
from typing import Any

import numpy as np

from juncture.errors import InvalidData, UnknownVariable
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
        return np.broadcast_to(np.asarray(values, dtype=np.float64), shape)
    except (TypeError, ValueError):
        raise InvalidData(
            f"a prior is a number, jt.BDeu(…), jt.K2(), a jt.Dirichlet or a mapping from child to one of these;"
            f" for {child.name!r}, whose table has the shape {shape}, it is {prior!r}"
        ) from None


@pseudo_counts.register
def _(prior: None, child: Variable, parents: Scope) -> np.ndarray:
    return np.zeros(Scope((*parents, child)).shape)


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


@pseudo_counts.register(Mapping)
def _(prior: Mapping[str, Any], child: Variable, parents: Scope) -> np.ndarray:
    return pseudo_counts(prior.get(child.name), child, parents)


def refuse_unknown_names(prior: Any, names: tuple[str, ...]) -> None:
    """A mapping of priors may name children of the model only."""
    for name in prior if isinstance(prior, Mapping) else ():
        if name not in names:
            raise UnknownVariable.among(name, names)


def checked_count(value: Any, what: str) -> float:
    if not np.isfinite(float(value)) or float(value) < 0:
        raise InvalidData(f"{what} must be a finite number of at least 0; got {value!r}")
    return float(value)
