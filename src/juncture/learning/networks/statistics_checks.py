"""Statistics that come from a file: what their constructors, which run at every step of EM, take on trust."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.learning.conditionals.causes import CauseCounts
from juncture.learning.conditionals.linear_gaussian import LineMoments
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.conditionals.table_counts import TableCounts

ROUNDING = 1e-9
LEAST, MOST = 1e-100, 1e100  # beyond, sums and squares would overflow or vanish


@singledispatch
def check_part(part: Any) -> None:
    """Refuse the statistics of one family if no data could have given them."""
    raise InvalidData(f"there are no statistics of the kind {type(part).__name__}")


@check_part.register
def _(part: TableCounts) -> None:
    check_weights(part.counts, f"the counts of {part.child.name!r}")


@check_part.register
def _(part: RowCounts) -> None:
    check_weights(part.weights, f"the weights of {part.child.name!r}")
    for variable, column in zip(part.scope, part.rows.T, strict=True):
        if variable.dimension > 1 or not (np.abs(column) <= MOST).all():
            raise InvalidData(
                f"the rows of {part.child.name!r} must hold one number of at most 1e100 for each variable"
            )
        if not variable.is_real and not is_code(column, variable.num_states):
            raise InvalidData(f"the rows of {part.child.name!r} hold what is no state of {variable.name!r}")


@check_part.register
def _(part: LineMoments) -> None:
    name, groups = part.child.name, part.discrete.shape
    size = 1 + sum(parent.is_real for parent in part.parents)
    if not part.child.is_real or any(variable.dimension > 1 for variable in part.scope):
        raise InvalidData(f"the moments of {name!r} must be of real numbers; it has states or is a vector")
    check_weights(part.weight, f"the weights of {name!r}", groups)
    check_finite(part.center, f"the means of {name!r}", (*groups, size))
    check_finite(part.scatter, f"the scatter of {name!r}", (*groups, size, size), MOST**2)
    check_scatter(part.scatter, name)


@check_part.register
def _(part: CauseCounts) -> None:
    states = part.child.num_states
    if len(part.tables) != len(part.parents):
        raise InvalidData(f"the counts of {part.child.name!r} must be one table for each parent")
    for parent, table in zip(part.parents, part.tables, strict=True):
        check_weights(table, f"the counts of {part.child.name!r} by {parent.name!r}", (parent.num_states, states))
    check_weights(part.leak, f"the counts of the leak of {part.child.name!r}", (states,))


def check_weights(weights: np.ndarray, what: str, shape: tuple[int, ...] | None = None) -> None:
    """Refuse weights that are negative or not finite, and those of another shape than `shape`."""
    check_finite(weights, what, shape)
    if not ((weights == 0) | (weights >= LEAST)).all():
        raise InvalidData(f"{what} must be at least 0, and at least {LEAST:g} where they are not 0")


def check_finite(numbers: np.ndarray, what: str, shape: tuple[int, ...] | None = None, most: float = MOST) -> None:
    if shape is not None and numbers.shape != shape:
        raise InvalidData(f"{what} must have the shape {shape}; they have {numbers.shape}")
    if not (np.abs(numbers) <= most).all():
        raise InvalidData(f"{what} must be numbers of at most {most:g}")


def check_scatter(scatter: np.ndarray, name: str) -> None:
    """Refuse what is no sum of squares: not symmetric, or negative along some direction beyond rounding."""
    spreads = np.sqrt(np.clip(np.diagonal(scatter, axis1=-2, axis2=-1), 0.0, None))  # (*group, value)
    scale = np.where(spreads > 0, spreads, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        correlations = scatter / scale[..., :, None] / scale[..., None, :]
    inside = np.abs(correlations) <= 1 + ROUNDING
    symmetric = np.abs(correlations - np.swapaxes(correlations, -2, -1)) <= ROUNDING
    if not (inside.all() and symmetric.all() and (np.linalg.eigvalsh(correlations) >= -ROUNDING).all()):
        raise InvalidData(f"the scatter of {name!r} must be symmetric and not negative in any direction")


def is_code(column: np.ndarray, num_states: int) -> bool:
    return bool(((column >= 0) & (column < num_states) & (column == np.floor(column))).all())
