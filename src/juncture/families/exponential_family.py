"""`ExponentialFamily`: p(x) = h(x) exp(η·u(x) - A(η)); a family supplies these parts, the rest is derived here.

What is known and not estimated (trials, a scale) is passed along as `known`. Supplied functions of the natural
parameters also take complex ones: derivatives come from a complex step, exact to rounding.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Self

import numpy as np

from juncture.data.observations import as_values
from juncture.errors import InvalidData, InvalidModel
from juncture.families.batches import common_shape
from juncture.families.constraints import is_total
from juncture.families.cumulants import check_order, differentiate, moments_from_cumulants, third_cumulants
from juncture.families.expectation import expectation, map_members
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.compiled import sums_of
from juncture.families.statistics.exact_sums import Sum, add_sums, plain_sums
from juncture.families.statistics.known import Known
from juncture.families.statistics.statistics import Statistics
from juncture.families.statistics.weighted_sums import sum_of_logs, total_weight, weighted_sum
from juncture.numerics.stable import SHORT
from juncture.runtime.parallel import block_rows, map_blocks


class ExponentialFamily(Family):
    """A family with natural parameters η, mean parameters μ = E u(X) = ∇A(η) and log-partition A(η).

    The last axis of parameters and statistics counts the statistics.
    """

    # -- supplied by each family

    def _natural(self) -> np.ndarray:
        """η: (*batch, statistic)."""
        raise NotImplementedError

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        raise NotImplementedError

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        """μ(η) = ∇A(η)."""
        raise NotImplementedError

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        """The member with these mean parameters; InvalidData if there is none, with the data that would make one."""
        raise NotImplementedError

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        """A(η)."""
        raise NotImplementedError

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        """u(x): (*x, statistic)."""
        raise NotImplementedError

    @classmethod
    def _log_base(cls, x: np.ndarray, known: Known) -> np.ndarray | float:
        """log h(x); 0 unless a family says otherwise."""
        return 0.0

    def _expected_log_base(self) -> np.ndarray | float:
        """E log h(X)."""
        if type(self)._log_base.__func__ is ExponentialFamily._log_base.__func__:  # type: ignore[attr-defined]
            return 0.0
        return map_members(lambda member: expectation(member, lambda x: member._log_base(x, member._known())), self)

    # -- the two parametrisations

    @property
    def natural_parameters(self) -> np.ndarray:
        """η, one per statistic, along the last axis; infinite on the edge of the parameter space."""
        natural = self._natural()
        return np.broadcast_to(natural, (*self.batch_shape, natural.shape[-1])).copy()

    @property
    def mean_parameters(self) -> np.ndarray:
        """μ = E u(X), one per statistic, along the last axis."""
        mean = self._mean()
        return np.broadcast_to(mean, (*self.batch_shape, mean.shape[-1])).copy()

    def _mean(self) -> np.ndarray:
        """μ from the family's own parameters: also on the edge, where η is infinite, if a family says how."""
        return np.asarray(self._mean_of(self._natural(), self._known()))

    def log_partition(self) -> Real:
        """A(η) = log ∫ h(x) exp(η·u(x)) dx."""
        return plain(np.broadcast_to(self._log_partition_of(self._natural(), self._known()), self.batch_shape))

    @classmethod
    def from_natural_parameters(cls, natural: Any, **known: Any) -> Self:
        """The member with the natural parameters η."""
        held = cls._check_known(known)
        return cls._from_natural(cls._check_vector(natural, held, "natural"), held)

    @classmethod
    def from_mean_parameters(cls, mean: Any, **known: Any) -> Self:
        """The member with E u(X) = mean: moment matching."""
        held = cls._check_known(known)
        return cls._from_mean(cls._check_vector(mean, held, "mean"), held)

    @classmethod
    def _check_vector(cls, numbers: Any, known: Known, what: str) -> np.ndarray:
        """Parameters along the last axis; as many as there are statistics, where values are single numbers."""
        values = as_values(numbers, (), name=f"{cls.__name__}.from_{what}_parameters").astype(float)
        axes = [rule.axes for name, rule in cls.parameters.items() if name not in cls.required]
        number = cls._num_statistics(known) if not any(axes) and len(axes) <= 2 else None
        if not values.ndim or not (values.shape[-1] == number if number else is_total(values.shape[-1], axes)):
            raise InvalidModel(
                f"the {what} parameters of {cls.__name__} are along the last axis, one per statistic; got {numbers!r}"
            )
        return values

    @classmethod
    def _check_known(cls, known: dict[str, Any]) -> Known:
        rules = {**cls.required, **cls.fixed}
        if set(known) != set(rules):
            wanted = ", ".join(rules) or "nothing"
            raise InvalidModel(f"{cls.__name__} takes {wanted} by name; got {', '.join(known) or 'nothing'}")
        return {key: rules[key].check(known[key], name=f"the {key} of {cls.__name__}") for key in known}

    # -- what follows

    def sufficient_statistics(self, x: Any) -> np.ndarray:
        """u(x), along a new last axis."""
        values = as_values(x, self.event_shape, name=type(self).__name__, batch_shape=self.batch_shape)
        return np.asarray(self._sufficient(values.astype(float), self._known()))

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        known = self._known()
        log_base = self._log_base(x, known)
        natural = self._natural()
        fit = dot(natural, self._sufficient(x, known)) - self._log_partition_of(natural, known)
        return np.asarray(fit + log_base)

    def entropy(self) -> Real:
        """A(η) - η·μ - E log h(X), in nats."""
        return self.cross_entropy(self)

    def cross_entropy(self, other: Family) -> Real:
        """A(η') - η'·μ - E log h(X) for two members of one family; otherwise by summation or quadrature."""
        sibling = self._sibling(other)
        if sibling is None:
            return super().cross_entropy(other)
        log_partition = self._log_partition_of(sibling._natural(), self._known())
        return plain(log_partition - dot(sibling._natural(), self._mean()) - self._expected_log_base())

    def kl_divergence(self, other: Family) -> Real:
        """The Bregman divergence A(η') - A(η) - μ·(η' - η) for two members of one family; otherwise numerically."""
        sibling = self._sibling(other)
        if sibling is None or self._sibling(self) is None:
            return super().kl_divergence(other)
        known, natural, other_natural = self._known(), self._natural(), sibling._natural()
        gap = self._log_partition_of(other_natural, known) - self._log_partition_of(natural, known)
        change = np.where(natural == other_natural, 0.0, other_natural - np.where(np.isinf(natural), 0.0, natural))
        return plain(np.maximum(gap - dot(change, self._mean()), 0.0))

    def _sibling(self, other: Family) -> ExponentialFamily | None:
        """The other, if it is a member of the same exponential family (same class, same known) with a finite A."""
        if type(other) is not type(self) or not isinstance(other, ExponentialFamily):
            return None
        common_shape(self, other)
        if other.event_shape != self.event_shape:
            raise InvalidData(f"{type(self).__name__} of {self.event_shape} and of {other.event_shape} do not compare")
        pairs = zip(self._known().values(), other._known().values(), strict=True)
        same = all(a.shape == b.shape and (a == b).all() for a, b in pairs)
        return other if same and np.isfinite(other.log_partition()).all() else None

    def fisher_information(self) -> np.ndarray:
        """∇²A(η) = Cov u(X): (*batch, statistic, statistic), in the natural parameters."""
        return self._information_at(self.natural_parameters)

    def _information_at(self, natural: np.ndarray) -> np.ndarray:
        return differentiate(lambda stepped: self._mean_of(stepped, self._known()), natural)

    def cumulants(self, order: int) -> np.ndarray:
        """The joint cumulants of u(X), as (*batch, statistic, …): the derivatives of A of order 1, 2 or 3.

        >>> from juncture.families.discrete.poisson import Poisson
        >>> Poisson(2.0).cumulants(3).round(9)
        array([[[2.]]])
        """
        if check_order(order) == 1:
            return self.mean_parameters
        return (
            self.fisher_information() if order == 2 else third_cumulants(self._information_at, self.natural_parameters)
        )

    def moments(self, order: int) -> np.ndarray:
        """E u_i(X) u_j(X) …, as (*batch, statistic, …): the derivatives of Z = exp A of order 1, 2 or 3, over Z."""
        return moments_from_cumulants([self.cumulants(lower) for lower in range(1, check_order(order) + 1)])

    def log_likelihood(self, statistics: Statistics) -> Real:
        """Σ w log p(x) of the data that the statistics sum up: η·Σu - nA(η) + Σ log h."""
        self._check_statistics(statistics)
        known = self._known()
        fit = dot(self._natural(), statistics.total) - statistics.weight * self._log_partition_of(
            self._natural(), known
        )
        return plain(fit + statistics.log_base)

    def score(self, statistics: Statistics) -> np.ndarray:
        """∇ of the log-likelihood in η: Σu - nμ, zero at the maximum likelihood estimate."""
        self._check_statistics(statistics)
        return statistics.total - statistics.weight[..., None] * self._mean()

    def _check_statistics(self, statistics: Statistics) -> None:
        if not isinstance(statistics, Statistics) or statistics.family is not type(self):
            raise InvalidData(f"these are not statistics of {type(self).__name__}: {statistics!r}")

    # -- learning

    @classmethod
    def _estimate(cls, statistics: Any) -> Self:
        return cls._from_mean(statistics.mean, statistics.known)

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Statistics:
        """Σ w u(x) and Σ w log h(x), block by block; blocks are added in order."""
        sums = sums_of(rows, weights, cls._support_given(known)) if cls.sums_values else None
        if sums is not None:
            return Statistics(cls, weight=sums[0], total=[sums[1]], known=known)

        batch = rows.shape[1 : rows.ndim - len(cls._event_shape_given(rows, known))]

        def summed(block: slice) -> tuple[np.ndarray, np.ndarray, Sum]:
            part, weight = rows[block], None if weights is None else weights[block]
            cls._check_rows(part, known, block.start)
            sufficient, log_base = cls._sufficient(part, known), cls._log_base(part, known)
            mass, total = total_weight(weight, len(part), batch), weighted_sum(sufficient, weight, axes=1)
            if not np.ndim(log_base) and log_base == 0:
                return mass, total, (np.zeros(total.shape[:-1]), np.zeros(total.shape[:-1]))
            return mass, total, sum_of_logs(np.broadcast_to(log_base, sufficient.shape[:-1]), weight, exact=cls.counts)

        size = block_rows(rows.shape[1:], () if weights is None else weights.shape[1:])
        parts = map_blocks(summed, len(rows), size) or [summed(slice(0, 0))]
        weight, total = sum_in_order([part[0] for part in parts]), sum_in_order([part[1] for part in parts])
        combine = add_sums if cls.counts else plain_sums
        log_base, rest = reduce(combine, [part[2] for part in parts])
        if not np.isfinite(total).all():
            raise InvalidData(
                f"the statistics of {cls.__name__} are infinite for a value on the edge of its support, or so far out "
                "that they overflow; leave it out, or change its unit"
            )
        return Statistics(cls, weight=weight, total=total, log_base=log_base, log_base_rest=rest, known=known)

    @classmethod
    def _single(cls, x: np.ndarray, known: Known) -> Statistics:
        """The statistics of each value alone: a batch of the values' shape."""
        sufficient = cls._sufficient(x, known)
        shape = sufficient.shape[:-1]
        log_base = np.broadcast_to(cls._log_base(x, known), shape)
        return Statistics(cls, weight=np.ones(shape), total=sufficient, log_base=log_base, known=known)

    @classmethod
    def _num_statistics(cls, known: Known) -> int:
        inside = cls._support_given(known).inside()
        return int(cls._sufficient(np.asarray(inside, dtype=float), known).shape[-1])


def columns(*statistics: Any) -> np.ndarray:
    """(*shape, statistic) from one array per statistic, each contiguous in memory: sums over rows are fast then."""
    found = np.empty((len(statistics), *np.broadcast_shapes(*map(np.shape, statistics))), np.result_type(*statistics))
    for index, values in enumerate(statistics):
        found[index] = values
    return found.transpose(*range(1, found.ndim), 0)


def dot(natural: np.ndarray, sufficient: np.ndarray) -> np.ndarray:
    """η·u along the last axis, with 0 · ±inf = 0; what overflows is infinite."""
    with np.errstate(invalid="ignore", over="ignore"):
        if natural.shape[-1] <= SHORT:  # one pass per statistic: a short last axis is slow to sum over
            total = reduce(np.add, (natural[..., k] * sufficient[..., k] for k in range(natural.shape[-1])))
        else:
            total = (natural * sufficient).sum(axis=-1)
        if np.isnan(total).any():
            terms = natural * sufficient
            total = np.where(np.isnan(terms), 0.0, terms).sum(axis=-1)
    return np.asarray(total)


def sum_in_order(parts: list[np.ndarray]) -> np.ndarray:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
