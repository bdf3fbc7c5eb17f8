"""The table of largest entropy with given margins, by iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juncture.base.checks import check_iterable, check_kind
from juncture.errors import InvalidData
from juncture.factors.factor import Factor, align
from juncture.factors.scope_tables import check_table_size
from juncture.information.common_points import check_normalized
from juncture.variables import Scope

TOLERANCE = 1e-13
MAX_STEPS = 20_000
MET = 1e-9


def max_entropy_table(margins: Iterable[Factor]) -> Factor:
    """The joint table over all the variables that has these margins and otherwise the largest entropy.

    Margins over single variables give their product: independence. Each round scales the table to one margin after
    the other, which is the dual solved one block of multipliers at a time.

    Parameters
    ----------
    margins
        Tables over some of the variables each, which must agree where they overlap.

    Returns
    -------
    Factor
        The joint table.

    Examples
    --------
    >>> import juncture as jt
    >>> a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    >>> jt.information.max_entropy_table([jt.Factor([a], [0.75, 0.25]), jt.Factor([b], [0.5, 0.5])]).values
    array([[0.375, 0.375],
           [0.125, 0.125]])
    """
    margins = check_iterable(margins, "the margins")
    if not margins:
        raise InvalidData("a table of largest entropy needs at least one margin")
    for margin in margins:
        check_kind(margin, Factor, "a margin")
        check_normalized(margin)
    scope = check_table_size(Scope().union(*(margin.scope for margin in margins)), "the table")
    table = np.full(scope.shape, 1.0 / scope.size)
    for _ in range(MAX_STEPS):
        before = table
        for margin in margins:
            table = scale_to_margin(table, scope, margin)
        if np.abs(table - before).max() <= TOLERANCE * table.max():
            break
    misses = [float(np.abs(margin_of(table, scope, margin) - align(margin, scope)).max()) for margin in margins]
    if max(misses) > MET:
        worst = margins[int(np.argmax(misses))]
        raise InvalidData(
            f"no table has all these margins: the one over ({', '.join(worst.scope.names)}) contradicts the others "
            f"by {max(misses):.3g}"
        )
    return Factor(scope, table)


def margin_of(table: np.ndarray, scope: Scope, margin: Factor) -> np.ndarray:
    """The table's own margin, with one axis per variable of the scope."""
    kept = set(margin.scope.names)
    axes = tuple(axis for axis, name in enumerate(scope.names) if name not in kept)
    return table.sum(axis=axes, keepdims=True)


def scale_to_margin(table: np.ndarray, scope: Scope, margin: Factor) -> np.ndarray:
    """The table multiplied so that it has the margin, with 0/0 = 0."""
    own = margin_of(table, scope, margin)
    ratio = np.divide(align(margin, scope), own, out=np.zeros(own.shape), where=own > 0)
    return np.asarray(table * ratio)
