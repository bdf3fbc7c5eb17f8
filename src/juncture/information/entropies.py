"""Entropy and what is built of it, in nats; `base=2` gives bits. 0 · log 0 = 0.

A distribution is an array of probabilities (along its last axis), a table with named variables, a family, a Density or
Atoms. Questions about several variables at once take a table.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import entr

from juncture.base.checks import check_array
from juncture.errors import InvalidData
from juncture.factors.factor import Factor, name_of
from juncture.families.family import Family, Real, plain
from juncture.information.atoms import Atoms
from juncture.information.common_points import Names, as_names, check_normalized, compare, masses, weigh
from juncture.information.density import Density
from juncture.numerics import stable


def entropy(p: Any, base: float | None = None, *, of: Names | None = None) -> Real:
    """The entropy H = -Σ p log p; -∫ p log p for a density.

    Parameters
    ----------
    p
        A distribution: an array of probabilities along its last axis, a `Factor`, a family, a `Density` or `Atoms`.
    base
        The base of the logarithm; by default e, which gives nats.
    of
        Names of variables of a `Factor`, whose joint entropy is wanted; by default all.

    Returns
    -------
    float or numpy.ndarray
        The entropy; an array for a batch of distributions.

    Examples
    --------
    >>> entropy([0.5, 0.25, 0.25], base=2)
    1.5
    """
    return in_base(_entropy(p) if of is None else _joint(p, as_names(of)), base)


@singledispatch
def _entropy(p: Any) -> np.ndarray:
    return np.asarray(entr(masses(p)).sum(axis=-1))


@_entropy.register
def _(p: Family) -> np.ndarray:
    return np.asarray(p.entropy())


@_entropy.register
def _(p: Density) -> np.ndarray:
    return np.asarray(p.expectation(lambda x: -np.asarray(p.log_prob(x))))


@_entropy.register
def _(p: Atoms) -> np.ndarray:
    return np.asarray(entr(p.probabilities).sum())


def self_information(probability: Any, base: float | None = None) -> Real:
    """The information of an outcome, -log p: the length of its best code word.

    Parameters
    ----------
    probability
        The probability of the outcome.
    base
        The base of the logarithm; by default e, which gives nats.

    Returns
    -------
    float or numpy.ndarray
        The information.

    Examples
    --------
    >>> self_information(0.25, base=2)
    2.0
    """
    values = check_array(probability, "a probability")
    if not ((values >= 0) & (values <= 1)).all():
        raise InvalidData(f"a probability is a number from 0 to 1; got {probability!r}")
    return in_base(0.0 - stable.log(values), base)


def perplexity(p: Any) -> Real:
    """exp H: how many equally likely outcomes would be as uncertain.

    Parameters
    ----------
    p
        A distribution, as in `entropy`.

    Returns
    -------
    float or numpy.ndarray
        The perplexity, at least 1 for a table.

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.information.perplexity([0.25, 0.25, 0.25, 0.25]), 9)
    4.0
    """
    return plain(np.exp(entropy(p)))


def cross_entropy(p: Any, q: Any, base: float | None = None) -> Real:
    """The cross-entropy -Σ p log q: the mean code length for p with the best code for q; infinite where only q is 0.

    Parameters
    ----------
    p, q
        Two distributions of the same kind. If p are `Atoms`, q may be continuous: the log-loss of data.
    base
        The base of the logarithm; by default e, which gives nats.

    Returns
    -------
    float or numpy.ndarray
        The cross-entropy.

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.information.cross_entropy([0.5, 0.5], [0.25, 0.75], base=2), 6)
    1.207519
    """
    return in_base(_cross_entropy(p, q), base)


@singledispatch
def _cross_entropy(p: Any, q: Any) -> np.ndarray:
    pair = compare(p, q, normalized=(True, False))
    return pair.total(weigh(pair.log_p, -pair.log_q), "the cross-entropy")


@_cross_entropy.register
def _(p: Family, q: Any) -> np.ndarray:
    if isinstance(q, Family):
        return np.asarray(p.cross_entropy(q))
    pair = compare(p, q)
    return pair.total(weigh(pair.log_p, -pair.log_q), "the cross-entropy")


@_cross_entropy.register
def _(p: Atoms, q: Any) -> np.ndarray:  # q may be continuous here: the log-loss of data
    terms = weigh(stable.log(p.probabilities), -np.asarray(q.log_prob(p.points)))
    return np.asarray(terms.sum(axis=-1))


def conditional_entropy(joint: Factor, of: Names, given: Names, base: float | None = None) -> float:
    """The conditional entropy H(of | given) = H(of, given) - H(given).

    Parameters
    ----------
    joint
        The joint distribution, a normalised `Factor`.
    of, given
        Names of variables, or one name.
    base
        The base of the logarithm; by default e, which gives nats.

    Returns
    -------
    float
        The conditional entropy.

    Examples
    --------
    >>> import juncture as jt
    >>> joint = jt.infer(jt.example("asia")).joint("smoke", "lung")
    >>> round(jt.information.conditional_entropy(joint, "lung", given="smoke", base=2), 4)
    0.2749
    """
    _table(joint)
    of, given = as_names(of), as_names(given)
    return float(in_base(max(_joint(joint, of + given) - _joint(joint, given), 0.0), base))


def mutual_information(joint: Factor, a: Names, b: Names, given: Names = (), base: float | None = None) -> float:
    """The (conditional) mutual information I(a; b | given) = H(a, given) + H(b, given) - H(a, b, given) - H(given).

    Parameters
    ----------
    joint
        The joint distribution, a normalised `Factor`.
    a, b
        Names of variables, or one name each.
    given
        Names of variables to condition on.
    base
        The base of the logarithm; by default e, which gives nats.

    Returns
    -------
    float
        The mutual information, at least 0.

    Examples
    --------
    >>> import juncture as jt
    >>> joint = jt.infer(jt.example("asia")).joint("smoke", "lung")
    >>> round(jt.information.mutual_information(joint, "smoke", "lung", base=2), 4)
    0.0324
    """
    _table(joint)
    a, b, given = as_names(a), as_names(b), as_names(given)
    apart = _joint(joint, a + given) + _joint(joint, b + given)
    return float(in_base(max(apart - _joint(joint, a + b + given) - _joint(joint, given), 0.0), base))


def total_correlation(joint: Factor, of: Names | None = None, base: float | None = None) -> float:
    """The total correlation Σ H(variable) - H(all): how far the variables are from independent.

    Parameters
    ----------
    joint
        The joint distribution, a normalised `Factor`.
    of
        Names of variables; by default all.
    base
        The base of the logarithm; by default e, which gives nats.

    Returns
    -------
    float
        The total correlation, at least 0: 0 for independent variables, log 2 for the XOR of two fair coins with both
        coins.

    Examples
    --------
    >>> import juncture as jt
    >>> joint = jt.infer(jt.example("asia")).joint("smoke", "lung", "bronc")
    >>> round(jt.information.total_correlation(joint, base=2), 4)
    0.099
    """
    names = tuple(_table(joint).scope.names) if of is None else as_names(of)
    apart = sum(_joint(joint, (name,)) for name in names)
    return float(in_base(max(apart - _joint(joint, names), 0.0), base))


def _joint(joint: Factor, names: tuple[str, ...]) -> float:
    check_normalized(_table(joint))
    kept = joint.marginal(*dict.fromkeys(map(name_of, names)))
    return float(entr(kept.values).sum())


def _table(joint: Any) -> Factor:
    if not isinstance(joint, Factor):
        raise InvalidData(f"several variables at once are asked of a Factor, which names them; got {joint!r}")
    return joint


def in_base(nats: Any, base: float | None) -> Real:
    """Nats in units of log(base)."""
    if base is None:
        return plain(nats)
    if not isinstance(base, int | float | np.number) or not base > 1:
        raise InvalidData(f"the base of a logarithm is a number above 1; got {base!r}")
    return plain(np.asarray(nats) / np.log(base))
