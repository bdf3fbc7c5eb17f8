"""Divergences between two distributions: arrays, tables aligned by name, families, densities, data, networks.

Members of one exponential family have their closed forms; other families of single numbers are summed or integrated.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from juncture.base.checks import check_number, shown
from juncture.base.dispatch import load_implementation
from juncture.errors import InvalidData, InvalidModel
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.family import Family, Real, plain
from juncture.information.common_points import Comparison, compare, log_ratio, map_pairs, weigh
from juncture.information.entropies import in_base
from juncture.numerics.stable import ROW_SUM_TOLERANCE

OF_MODELS = {"BayesianNetwork": ("juncture.inference.divergence",)}  # class → what registers the divergence of models
SMALL_STEP = 0.5  # below this, expm1 keeps the digits that a difference of powers would lose


def kl_divergence(p: Any, q: Any, base: float | None = None) -> Real:
    """The Kullback–Leibler divergence (relative entropy) KL(p ‖ q) = Σ p log p/q; infinite where only q is 0.

    An array or table q may have any total: KL(p ‖ cq) = KL(p ‖ q) - log c. Of two Bayesian networks it is exact, and
    computed family by family: KL(p ‖ q) = Σ E_p log p(x | parents)/q(x | parents), where the graphs may differ.

    Parameters
    ----------
    p, q
        Two distributions of the same kind: arrays, tables, families, densities, or Bayesian networks of tables and
        linear Gaussians over the same variables.
    base
        The base of the logarithm; by default e, which gives nats.

    Returns
    -------
    float or numpy.ndarray
        The divergence; an array for a batch of distributions.

    Examples
    --------
    >>> round(kl_divergence([0.5, 0.5], [0.25, 0.75], base=2), 12)
    0.207518749639
    >>> import juncture as jt
    >>> asia = jt.example("asia")
    >>> fitted = jt.fit(asia.graph, jt.sample(asia, 1000, rng=0), prior=1.0, variables=asia.variables).model
    >>> round(kl_divergence(asia, fitted), 4)
    0.0121
    """
    return in_base(load_implementation(divergence, type(p), OF_MODELS.get)(p, q), base)


@singledispatch
def divergence(p: Any, q: Any) -> Any:
    """KL(p ‖ q) in nats."""
    if isinstance(p, Family) and isinstance(q, Family):
        return p.kl_divergence(q)
    pair = compare(p, q, normalized=(True, False))
    total = pair.total(weigh(pair.log_p, log_ratio(pair.log_p, pair.log_q)), "the KL divergence")
    return np.where(has_unit_total(pair), np.maximum(total, 0.0), total)


def redundancy(p: Any, q: Any, base: float = 2.0) -> Real:
    """The redundancy of a code: how much longer messages from p are, on average, with the best code for q; KL(p ‖ q).

    Parameters
    ----------
    p
        The distribution of the messages.
    q
        The distribution for which the code is best.
    base
        The number of code symbols; 2 gives bits.

    Returns
    -------
    float or numpy.ndarray
        The expected number of additional symbols for each message.

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.information.redundancy([0.5, 0.5], [0.25, 0.75]), 6)
    0.207519
    """
    return kl_divergence(p, q, base)


def total_variation(p: Any, q: Any) -> Real:
    """The total variation distance ½ Σ |p - q|: the largest difference in the probability of any event, from 0 to 1.

    Parameters
    ----------
    p, q
        Two distributions of the same kind.

    Returns
    -------
    float or numpy.ndarray
        The distance.

    Examples
    --------
    >>> round(total_variation([0.5, 0.5], [0.25, 0.75]), 12)
    0.25
    """

    def single(p: Any, q: Any) -> Any:
        pair = compare(p, q, threshold=0.0)
        gaps = np.abs(np.exp(pair.log_p) - np.exp(pair.log_q))
        return np.clip(0.5 * pair.total(gaps, "the total variation"), 0.0, 1.0)

    return map_pairs(single, p, q)


def pinsker_bound(p: Any, q: Any) -> Real:
    """Pinsker's bound on the total variation: min(1, √(KL(p ‖ q)/2)).

    Parameters
    ----------
    p, q
        Two distributions of the same kind.

    Returns
    -------
    float or numpy.ndarray
        A number that the total variation does not exceed.

    Examples
    --------
    >>> import juncture as jt
    >>> p, q = [0.5, 0.5], [0.25, 0.75]
    >>> jt.information.total_variation(p, q), round(jt.information.pinsker_bound(p, q), 4)
    (0.25, 0.2682)
    """
    return plain(np.minimum(np.sqrt(np.asarray(kl_divergence(p, q)) / 2), 1.0))


def chi_squared_divergence(p: Any, q: Any) -> Real:
    """χ²(p ‖ q) = Σ (p - q)²/q, which is 2 D_α for α = 2.

    Parameters
    ----------
    p, q
        Two distributions of the same kind.

    Returns
    -------
    float or numpy.ndarray
        The divergence, at least 0; infinite where only q is 0.

    Examples
    --------
    >>> round(chi_squared_divergence([0.5, 0.5], [0.25, 0.75]), 12)
    0.333333333333
    """
    return plain(2 * np.asarray(alpha_divergence(p, q, 2.0, normalized=(True, True))))


def alpha_divergence(p: Any, q: Any, alpha: float, *, normalized: tuple[bool, bool] = (False, False)) -> Real:
    """The α-divergence D_α = Σ [αp + (1-α)q - p^α q^(1-α)] / α(1-α); KL(p ‖ q) for α = 1, KL(q ‖ p) for α = 0.

    Arrays and tables may have any total; the limits then are Σ p log p/q - p + q for α = 1, and the same with p and q
    exchanged for α = 0.

    Parameters
    ----------
    p, q
        Two distributions of the same kind.
    alpha
        α, any number.
    normalized
        Whether p and q must sum to 1.

    Returns
    -------
    float or numpy.ndarray
        The divergence in nats, at least 0.

    Examples
    --------
    >>> import juncture as jt
    >>> p, q = [0.5, 0.5], [0.25, 0.75]
    >>> round(jt.information.alpha_divergence(p, q, 1.0), 4), round(jt.information.kl_divergence(p, q), 4)
    (0.1438, 0.1438)
    """
    alpha = check_number(alpha, "alpha", finite=True)
    if not isinstance(normalized, tuple | list) or [isinstance(each, bool) for each in normalized] != [True, True]:
        raise InvalidData(f"normalized is a pair of True or False, one for each distribution; got {shown(normalized)}")
    if alpha < 0.5:
        return alpha_divergence(q, p, 1.0 - alpha, normalized=normalized[::-1])

    def single(p: Any, q: Any) -> Any:
        if are_siblings(p, q):
            return sibling_divergence(p, q, alpha)
        pair = compare(p, q, normalized=normalized)
        terms = alpha_terms(pair.log_p, pair.log_q, alpha)
        return np.maximum(pair.total(terms, f"the {alpha:g}-divergence"), 0.0)

    return map_pairs(single, p, q)


def alpha_terms(log_p: np.ndarray, log_q: np.ndarray, alpha: float) -> np.ndarray:
    """The terms of D_α for any α, none below 0, arranged so that digits survive near α = 0 and α = 1."""
    if alpha < 0.5:
        return alpha_terms(log_q, log_p, 1.0 - alpha)
    p, q, beta = np.exp(log_p), np.exp(log_q), 1.0 - alpha
    if beta == 0:
        return np.asarray(np.maximum(weigh(log_p, log_ratio(log_p, log_q)) - p + q, 0.0))
    ratio = log_ratio(log_q, log_p)
    with np.errstate(over="ignore", invalid="ignore"):
        near = p * np.expm1(beta * np.clip(ratio, -SMALL_STEP / abs(beta), SMALL_STEP / abs(beta)))
        far = np.exp(alpha * log_p + beta * np.where(np.isfinite(log_p), log_q, 0.0)) - p
        change = np.where(np.abs(beta * ratio) <= SMALL_STEP, near, far)  # p^α q^β - p
        return np.asarray(np.maximum((beta * (q - p) - change) / (alpha * beta), 0.0))


def are_siblings(p: Any, q: Any) -> bool:
    """Whether both are members of one exponential family, with finite natural parameters and the same knowledge."""
    if not isinstance(p, ExponentialFamily) or type(p) is not type(q):
        return False
    same = all(np.array_equal(value, q._known()[name]) for name, value in p._known().items())
    return same and all(np.isfinite(each.natural_parameters).all() for each in (p, q))


def sibling_divergence(p: ExponentialFamily, q: ExponentialFamily, alpha: float) -> Any:
    """(1 - ∫p^α q^β)/αβ with log ∫p^α q^β = A(αη + βη') - αA(η) - βA(η'); infinite outside the parameter space."""
    beta = 1.0 - alpha
    if beta == 0:
        return p.kl_divergence(q)
    natural, known = alpha * p.natural_parameters + beta * q.natural_parameters, p._known()
    try:
        with np.errstate(all="ignore"):
            p._from_natural(natural, known)
    except InvalidModel:
        return np.inf
    log_affinity = p._log_partition_of(natural, known) - alpha * p.log_partition() - beta * q.log_partition()
    with np.errstate(over="ignore"):
        return np.maximum(-np.expm1(log_affinity) / (alpha * beta), 0.0)


def has_unit_total(pair: Comparison) -> np.ndarray:
    """Whether q sums to 1, so that the divergence cannot be negative."""
    if pair.grid is not None:
        return np.asarray(True)
    return np.asarray(np.abs(np.exp(pair.log_q).sum(axis=-1) - 1) <= ROW_SUM_TOLERANCE)
