"""Learning a table: counts, priors that add pseudo-counts, and the estimate; a deterministic table learns nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from numbers import Real
from typing import Any

import numpy as np

from juncture.base.notes import NO_NOTES, Notes
from juncture.base.values import Value, read_only
from juncture.data.tables.weights import check_prior_counts, check_total
from juncture.errors import InvalidData
from juncture.factors.conditional import Conditional, HasScope, as_parents
from juncture.factors.deterministic import Deterministic
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    learns_from,
    log_likelihood_of,
    log_prior,
    summarise_expected,
    takes_prior,
)
from juncture.learning.conditionals.row_counts import RowCounts, align_states, unite_scopes
from juncture.numerics import stable
from juncture.variables import Assignment, Scope, Variable


@dataclass(frozen=True)
class BDeu:
    """The same number of rows, `equivalent_sample_size`, for every table, spread evenly over its cells.

    Equivalent structures then score alike (Heckerman, Geiger and Chickering 1995).
    """

    equivalent_sample_size: float = 10.0

    def __post_init__(self) -> None:
        size = check_pseudo_count(self.equivalent_sample_size, "the equivalent sample size of BDeu")
        check_total(size, "the counts of BDeu")


@dataclass(frozen=True)
class K2:
    """A pseudo-count of 1 in every cell: all tables are equally likely (Cooper and Herskovits 1992)."""


@singledispatch
def pseudo_counts(prior: Any, child: Variable, parents: Scope) -> np.ndarray:
    """The pseudo-counts of the prior in each cell of the child's table: (*parents, child)."""
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
    return check_prior_counts(counts, f"the prior's counts for {child.name!r}")


@pseudo_counts.register
def _(prior: Real, child: Variable, parents: Scope) -> np.ndarray:
    counts = np.full(Scope((*parents, child)).shape, check_pseudo_count(prior, "the pseudo-count of a prior"))
    return check_prior_counts(counts, f"the prior's counts for {child.name!r}")


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


def check_pseudo_count(value: Any, what: str) -> float:
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise InvalidData(f"{what} must be a finite number of at least 0; got {value!r}")
    return float(value)


class TableCounts(Value):
    """Weights of rows by the states of the parents, then of the child: (*parents, child).

    >>> x, y = Variable("x", 2), Variable("y", 2)
    >>> (TableCounts(y, [x], [[3, 1], [0, 2]]) + TableCounts(y, [x], [[1, 0], [0, 0]])).counts.tolist()
    [[4.0, 1.0], [0.0, 2.0]]
    """

    child: Variable
    parents: Scope
    counts: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], counts: Any) -> None:
        parents = as_parents(child, parents)
        counts = read_only(counts, np.float64)
        shape = Scope((*parents, child)).shape
        if counts.shape != shape:
            raise InvalidData(f"the counts of {child.name!r} must have the shape {shape}; they have {counts.shape}")
        self._set(child=child, parents=parents, counts=counts)

    @classmethod
    def trusted(cls, like: HasScope, counts: np.ndarray) -> TableCounts:
        """Counts over the variables of a conditional or of other counts, which are not checked again."""
        counts.setflags(write=False)
        part = cls.__new__(cls)
        part.__dict__.update(child=like.child, parents=like.parents, scope=like.scope, counts=counts)
        return part

    @cached_property
    def scope(self) -> Scope:
        return Scope((*self.parents, self.child))

    @property
    def weight(self) -> float:
        return float(self.counts.sum())

    @property
    def of_parents(self) -> np.ndarray:
        """The weight of each combination of the parents' states: (*parents)."""
        return np.asarray(self.counts.sum(axis=-1))

    def rare_rows(self, threshold: float) -> list[tuple[Assignment, float]]:
        """The combinations of the parents' states with a weight below `threshold`, with their weights."""
        weights = self.of_parents
        return [
            (
                {parent.name: parent.labels[code] for parent, code in zip(self.parents, index, strict=True)},
                float(weight),
            )
            for index, weight in np.ndenumerate(weights)
            if weight < threshold
        ]

    def __add__(self, other: object) -> TableCounts:
        if not isinstance(other, TableCounts):
            return NotImplemented
        if self.scope == other.scope:
            return TableCounts.trusted(self, self.counts + other.counts)
        scope = unite_scopes(self.scope, other.scope)
        counts = align_states(self.counts, self.scope, scope) + align_states(other.counts, other.scope, scope)
        return TableCounts(scope[-1], scope[:-1], counts)

    def scaled(self, factor: float) -> TableCounts:
        """The counts with every weight multiplied by `factor`."""
        return TableCounts(self.child, self.parents, self.counts * factor)

    def renamed(self, child: Variable, parents: Scope) -> TableCounts:
        """The same numbers on the variables of another family, as those of tied conditionals are."""
        return TableCounts(child, parents, self.counts)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"TableCounts({self.child.name}{given}: {self.weight:g})"


NEGLIGIBLE = 1e-40  # of all rows: far below what moves a log-likelihood, far above the smallest product of doubles


@summarise_expected.register
def _(conditional: Conditional, tables: Sequence[np.ndarray]) -> TableCounts:
    """Negligible expected counts become 0: left to shrink, their products would underflow and slow every step."""
    counts = tables[0]
    return TableCounts.trusted(conditional, np.where(counts < NEGLIGIBLE * counts.sum(), 0.0, counts))


@estimate_conditional.register
def _(conditional: Conditional, part: TableCounts, options: EstimationOptions) -> tuple[Conditional, Notes]:
    counts = part.counts + added_counts(options, part)
    totals = counts.sum(axis=-1, keepdims=True)
    uniform = np.full(counts.shape, 1.0 / counts.shape[-1])
    values = np.divide(counts, totals, out=uniform, where=totals > 0)
    return Conditional.trusted(part, values), NO_NOTES


@log_likelihood_of.register
def _(conditional: Conditional, part: TableCounts) -> float:
    return weighted_logs(part.counts, conditional.values)


@log_prior.register
def _(conditional: Conditional, options: EstimationOptions) -> float:
    """Σ α log θ: the estimate maximises it together with the log-likelihood."""
    return weighted_logs(
        np.broadcast_to(added_counts(options, conditional), conditional.values.shape), conditional.values
    )


def weighted_logs(counts: np.ndarray, values: np.ndarray) -> float:
    """Σ n log θ, with 0 · log 0 = 0."""
    seen = counts > 0
    return float(counts[seen] @ stable.log(values[seen]))


def added_counts(options: EstimationOptions, family: Any) -> np.ndarray:
    """The pseudo-counts that enter the estimate: α for the posterior mean, α - 1 for the mode, 0 without a prior."""
    prior = prior_of(options.prior, family.child.name)
    if prior is None:
        return np.zeros(())
    alpha = pseudo_counts(prior, family.child, family.parents)
    if options.point == "mean":
        return alpha
    if (alpha < 1).any():
        raise InvalidData(
            f"the mode of the posterior of {family.child.name!r} need not exist for prior counts below 1;"
            f' the smallest is {alpha.min():g}: raise it, or ask for point="mean"'
        )
    return alpha - 1


@summarise_expected.register
def _(conditional: Deterministic, tables: Sequence[np.ndarray]) -> RowCounts:
    """Of a chain of tables no rows: there is nothing to learn from them, and all that can occur have probability 1."""
    if len(tables) == 1:
        return RowCounts.of_table(conditional, tables[0])
    return RowCounts(conditional.child, conditional.parents, np.empty((0, len(conditional.scope))), [])


@estimate_conditional.register
def _(conditional: Deterministic, part: Any, options: EstimationOptions) -> tuple[Deterministic, Notes]:
    return conditional, NO_NOTES


@learns_from.register
def _(conditional: Conditional) -> tuple[type, ...]:
    return (TableCounts,)


@takes_prior.register
def _(conditional: Conditional) -> bool:
    return True
