"""Probabilities from arrays, along their last axis, and from tables with named variables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.base.checks import check_kind, is_iterable
from juncture.errors import InvalidData, InvalidModel
from juncture.factors.factor import Factor
from juncture.numerics import stable
from juncture.variables import Variable

Names = str | Variable | Iterable[str | Variable]


@singledispatch
def masses(p: Any, *, is_normalized: bool = True, name: str = "the distribution") -> np.ndarray:
    """The entries of a distribution along the last axis, after any batch axes; if `is_normalized`, they sum to 1."""
    try:
        array = np.asarray(p, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} is a family, a Factor or an array of probabilities; got {p!r}") from error
    if not array.ndim or not array.shape[-1]:
        raise InvalidData(f"{name} needs at least one probability; got an array of shape {array.shape}")
    check = stable.as_probabilities if is_normalized else stable.as_table
    return check(array, array.shape, name=name)


@masses.register
def _(p: Factor, *, is_normalized: bool = True, name: str = "the distribution") -> np.ndarray:
    if is_normalized:
        check_normalized(p)
    return p.values.reshape(-1)


def check_normalized(joint: Factor) -> None:
    if abs(joint.total - 1) > stable.ROW_SUM_TOLERANCE:
        raise InvalidModel(
            f"the factor over ({', '.join(joint.scope.names)}) sums to {joint.total:.12g}, not to 1: "
            "ask its normalize()"
        )


def pair_masses(p: Any, q: Any, *, normalized: tuple[bool, bool]) -> tuple[np.ndarray, np.ndarray]:
    """Both distributions over the same states; factors are aligned by the names of their variables."""
    q = reorder(q, p) if isinstance(p, Factor) or isinstance(q, Factor) else q
    first = masses(p, is_normalized=normalized[0], name="the first distribution")
    second = masses(q, is_normalized=normalized[1], name="the second distribution")
    if first.shape[-1] != second.shape[-1]:
        raise InvalidData(f"the distributions have {first.shape[-1]} and {second.shape[-1]} states; they must agree")
    return first, second


def reorder(factor: Any, like: Any) -> Factor:
    if not isinstance(factor, Factor) or not isinstance(like, Factor):
        raise InvalidData("a Factor is compared with a Factor over the same variables, an array with an array")
    if set(factor.scope) != set(like.scope):
        ours, theirs = (", ".join(map(repr, each.scope)) for each in (like, factor))
        raise InvalidModel(f"the factors are over different variables: {ours} and {theirs}")
    return factor.reorder(*like.scope.names)


def as_names(names: Names) -> tuple[str, ...]:
    """Each name once; a single name or variable may stand alone."""
    given: Any = names
    is_one = isinstance(given, str | Variable) or not is_iterable(given)
    names = [each.name if isinstance(each, Variable) else each for each in ((given,) if is_one else given)]
    return tuple(dict.fromkeys(check_kind(name, str, "the name of a variable") for name in names))
