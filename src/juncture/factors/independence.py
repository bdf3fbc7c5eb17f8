"""Independence read off a joint table, within a tolerance: how far p(a, b | c) is from p(a | c) p(b | c) anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from juncture.checks import check_iterable, check_kind
from juncture.errors import InvalidModel

if TYPE_CHECKING:
    from juncture.factors.factor import Factor

TOLERANCE = 1e-9
Names = str | Iterable[str]


def dependence(joint: Factor, groups: Sequence[Names], given: Names = ()) -> float:
    """The largest |p(groups | c) - Π p(group | c)|, where c is any combination of given states that can occur.

    Names that are also given are left out of their groups: once known, they tell nothing more.
    """
    known = distinct(given)
    parts = [tuple(name for name in distinct(group) if name not in known) for group in groups]
    names = [name for part in parts for name in part]
    if len(set(names)) < len(names):
        raise InvalidModel(f"independent groups share no name; got {parts}")
    table = joint.normalize().marginal(*known, *names)
    rows = table.values.reshape(-1, *(joint.scope.variable(name).num_states for name in names))
    totals = rows.reshape(len(rows), -1).sum(axis=1)
    conditionals = (rows[totals > 0].T / totals[totals > 0]).T
    return float(np.abs(conditionals - product_of_margins(conditionals, [len(part) for part in parts])).max())


def product_of_margins(rows: np.ndarray, lengths: Sequence[int]) -> np.ndarray:
    """For each row the product of its margins over successive runs of so many axes."""
    product, start = np.ones((1,) * rows.ndim), 1
    for length in lengths:
        others = tuple(axis for axis in range(1, rows.ndim) if not start <= axis < start + length)
        product = product * rows.sum(axis=others, keepdims=True)
        start += length
    return product


def distinct(names: Names) -> tuple[str, ...]:
    """Each name once; text is one name."""
    several = [names] if isinstance(names, str) else check_iterable(names, "a group of names")
    return tuple(dict.fromkeys(check_kind(name, str, "a name in a group") for name in several))
