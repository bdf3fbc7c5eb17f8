"""Statistics as plain values, to travel between files and workers; reading them gives equal statistics, bit for bit.

{"format": "juncture statistics", "version": 1, "weight": 50.0,
 "variables": [{"name": "rain", "states": ["no", "yes"]}, …],
 "families": [{"kind": "TableCounts", "child": "rain", "parents": [], "counts": [40.0, 10.0]}, …]}

The constructors of statistics, which run at every step of EM, do not check their numbers; `check_part` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.learning.conditionals.linear_gaussian import LineMoments
from juncture.learning.conditionals.noisy import CauseCounts
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.conditionals.table import TableCounts
from juncture.variables import Scope, State, Variable, distinct_variables, first_repeated

HEAD = {"format": "juncture statistics", "version": 1}
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (TableCounts, RowCounts, LineMoments, CauseCounts)}
NAMES = ("child", "parents")


def as_document(parts: Mapping[str, Any], weight: float) -> dict[str, Any]:
    variables = distinct_variables(part.scope for part in parts.values())
    families = [encode_part(part) for part in parts.values()]
    return {**HEAD, "weight": weight, "variables": [encode_variable(one) for one in variables], "families": families}


def read_document(document: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """(the parts by child, the weight of all rows)."""
    if not isinstance(document, Mapping) or any(document.get(key) != value for key, value in HEAD.items()):
        raise InvalidData(f"statistics are read from a document with {HEAD}; this is another one")
    try:
        variables = by_name([read_variable(one) for one in document["variables"]])
        parts = [read_part(one, variables) for one in document["families"]]
        weight = float(document["weight"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InvalidData(f"the document of statistics is damaged: {type(error).__name__} {error}") from error
    for part in parts:
        check_part(part)
    check_weights(np.array(weight), "the weight of all rows")
    return {name: parts[index] for index, name in enumerate(child_names(parts))}, weight


def by_name(variables: list[Variable]) -> dict[str, Variable]:
    return {variable.name: variable for variable in Scope(variables)}


def child_names(parts: list[Any]) -> list[str]:
    """The names of the children of the parts, checked to be distinct."""
    names = [part.child.name for part in parts]
    if len(set(names)) < len(names):
        raise InvalidData(f"the document of statistics has the family of {names[first_repeated(names)]!r} twice")
    return names


def encode_part(part: Any) -> dict[str, Any]:
    """The kind, the names of the variables, and all numbers as nested lists."""
    names = {"child": part.child.name, "parents": list(part.parents.names)}
    numbers = {name: as_lists(getattr(part, name)) for name in part._fields if name not in NAMES}
    return {"kind": type(part).__name__, **names, **numbers}


def read_part(document: Mapping[str, Any], variables: Mapping[str, Variable]) -> Any:
    kind = KINDS[document["kind"]]
    parents = [variables[name] for name in document["parents"]]
    return kind(variables[document["child"]], parents, *(document[name] for name in kind._fields if name not in NAMES))


def as_lists(value: Any) -> Any:
    return [as_lists(item) for item in value] if isinstance(value, tuple) else np.asarray(value).tolist()


def encode_variable(variable: Variable) -> dict[str, Any]:
    if variable.states is None:
        return {"name": variable.name, "dimension": variable.dimension}
    cuts = {} if variable.cuts is None else {"cuts": list(variable.cuts)}
    return {"name": variable.name, "states": [encode_state(state) for state in variable.states], **cuts}


def read_variable(document: Mapping[str, Any]) -> Variable:
    if "states" not in document:
        return Variable(document["name"], dimension=document["dimension"])
    states = [read_state(state) for state in document["states"]]
    return Variable(document["name"], states, cuts=document.get("cuts"))


def encode_state(state: State) -> Any:
    """The state itself, except that an infinite number is an object: JSON has no such number."""
    return {"float": str(state)} if isinstance(state, float) and math.isinf(state) else state


def read_state(state: Any) -> State:
    return float(state["float"]) if isinstance(state, Mapping) else state


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
            raise InvalidData(f"the rows of {part.child.name!r} hold values that are no state of {variable.name!r}")


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
    """Check that a scatter is symmetric and positive semidefinite, up to rounding."""
    deviations = np.sqrt(np.clip(np.diagonal(scatter, axis1=-2, axis2=-1), 0.0, None))  # (*group, value)
    scale = np.where(deviations > 0, deviations, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        correlations = scatter / scale[..., :, None] / scale[..., None, :]
    inside = np.abs(correlations) <= 1 + ROUNDING
    symmetric = np.abs(correlations - np.swapaxes(correlations, -2, -1)) <= ROUNDING
    if not (inside.all() and symmetric.all() and (np.linalg.eigvalsh(correlations) >= -ROUNDING).all()):
        raise InvalidData(f"the scatter of {name!r} must be symmetric and not negative in any direction")


def is_code(column: np.ndarray, num_states: int) -> bool:
    return bool(((column >= 0) & (column < num_states) & (column == np.floor(column))).all())
