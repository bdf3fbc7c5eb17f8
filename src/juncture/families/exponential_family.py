"""`ExponentialFamily`: p(x) = h(x) exp(η·u(x) - A(η)); a family supplies these parts, the rest is derived here.

What is known and not estimated (trials, a scale) is passed along as `known`. Supplied functions of the natural
parameters also take complex ones: derivatives come from a complex step, exact to rounding.

Cumulants and moments of the sufficient statistics are derivatives of the log-partition A and of Z = exp A, to order 3.
κ = ∇A and ∇²A are exact. ∇³A is a difference of ∇²A, extrapolated to the step 0 (Richardson); the step is a small part
of 1 / std of each statistic, and shrinks until the extrapolation settles.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, Self

import numpy as np

from juncture.base.checks import check_count
from juncture.data.observations import as_values
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.constraints import is_total
from juncture.families.expectation import common_shape, expectation, map_members
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.long_data import sums_of
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.statistics.sums import Sum, add_sums, plain_sums, sum_of_logs, total_weight, weighted_sum
from juncture.numerics.stable import SHORT
from juncture.runtime.parallel import block_rows, map_blocks

HIGHEST_ORDER = 3
COMPLEX_STEP = 1e-30
FIRST_STEP, SHRINK, MOST_TRIALS = 0.02, 8.0, 8  # of 1 / std
LEAST_NOISE = 1e-12  # added to squared correlations
SETTLED = 1e-11  # the change by the last extrapolation, relative to the product of the standard deviations
Information = Callable[[np.ndarray], np.ndarray]  # natural parameters (*batch, i) → ∇²A (*batch, i, j)


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


def check_order(order: int) -> int:
    """The order of a cumulant or moment: 1, 2 or 3."""
    if check_count(order, "the order") not in range(1, HIGHEST_ORDER + 1):
        raise InvalidData(f"cumulants and moments are computed for the orders 1 to {HIGHEST_ORDER}; got {order}")
    return order


def differentiate(function: Information, natural: np.ndarray) -> np.ndarray:
    """The derivatives (*batch, i, j) of a vector function of η in each η_j, by complex steps: exact to rounding."""
    columns = []
    for index in range(natural.shape[-1]):
        stepped = natural.astype(complex)
        stepped[..., index] += 1j * COMPLEX_STEP
        columns.append(function(stepped).imag / COMPLEX_STEP)
    return np.stack(columns, axis=-1)


def third_cumulants(information: Information, natural: np.ndarray) -> np.ndarray:
    """∇³A: (*batch, i, j, k)."""
    if not np.isfinite(natural).all():
        raise Unsupported(
            "on the edge of the parameter space, where natural parameters are infinite, A has no derivatives"
        )
    covariance = information(natural)
    std = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), np.finfo(float).tiny))
    columns = [_differentiate(information, natural, index, std) for index in range(natural.shape[-1])]
    correlation = covariance / (std[..., :, None] * std[..., None, :])
    weights = 1 / (correlation**2 + LEAST_NOISE)
    return _symmetrize(np.stack(columns, axis=-1), weights[..., None])


def _symmetrize(found: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The average of ∂_k Cov_ij, ∂_j Cov_ik and ∂_i Cov_kj: the less two statistics correlate, the less is rounded."""
    found, weights = (found + np.swapaxes(found, -2, -3)) / 2, np.broadcast_to(weights, found.shape)
    total, weight = (
        part + np.swapaxes(part, -1, -2) + np.swapaxes(part, -1, -3) for part in (weights * found, weights)
    )
    return total / weight


def _differentiate(information: Information, natural: np.ndarray, index: int, std: np.ndarray) -> np.ndarray:
    """∂/∂η_index of ∇²A: the extrapolation, of those with smaller and smaller steps, that changes least."""
    scale = std[..., :, None] * std[..., None, :] * std[..., index, None, None]
    best, least = np.empty(scale.shape), np.full(scale.shape[:-2], np.inf)
    for trial in range(MOST_TRIALS):
        step = FIRST_STEP / SHRINK**trial / std[..., index]
        found, change = _extrapolate(information, natural, index, step)
        error = np.max(np.where(np.isfinite(change), np.abs(change), np.inf) / scale, axis=(-2, -1))
        best = np.where((error < least)[..., None, None], found, best)
        least = np.minimum(error, least)
        if (least <= SETTLED).all():
            break
    if not np.isfinite(least).all():
        raise Unsupported("the third derivatives of the log-partition could not be computed so near to its edge")
    return best


def _extrapolate(
    information: Information, natural: np.ndarray, index: int, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Central differences with the steps h, h/2 and h/4, extrapolated to 0, and the last change of the result."""
    coarse, middle, fine = (_difference(information, natural, index, step / 2**level) for level in range(3))
    first, second = (4 * middle - coarse) / 3, (4 * fine - middle) / 3
    found = (16 * second - first) / 15
    return found, found - second


def _difference(information: Information, natural: np.ndarray, index: int, step: np.ndarray) -> np.ndarray:
    above, below = natural.copy(), natural.copy()
    above[..., index] += step
    below[..., index] -= step
    width = (above - below)[..., index, None, None]
    with np.errstate(all="ignore"):  # a step beyond the edge gives NaN: the next one is smaller
        return (information(above) - information(below)) / width


def moments_from_cumulants(cumulants: list[np.ndarray]) -> np.ndarray:
    """E u_i, E u_i u_j or E u_i u_j u_k from the cumulants of all orders up to that one."""
    mean = cumulants[0]
    if len(cumulants) == 1:
        return mean
    second = cumulants[1] + np.einsum("...i,...j->...ij", mean, mean)
    if len(cumulants) == 2:
        return second
    mixed = np.einsum("...ij,...k->...ijk", cumulants[1], mean)
    sums = mixed + np.swapaxes(mixed, -1, -2) + np.swapaxes(mixed, -1, -3)
    return cumulants[2] + sums + np.einsum("...i,...j,...k->...ijk", mean, mean, mean)
