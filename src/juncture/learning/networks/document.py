"""Statistics as plain values, to travel between files and workers; they come back equal, bit for bit.

{"format": "juncture statistics", "version": 1, "weight": 50.0,
 "variables": [{"name": "rain", "states": ["no", "yes"]}, …],
 "families": [{"kind": "TableCounts", "child": "rain", "parents": [], "counts": [40.0, 10.0]}, …]}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.learning.conditionals.causes import CauseCounts
from juncture.learning.conditionals.linear_gaussian import LineMoments
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.conditionals.table_counts import TableCounts
from juncture.learning.networks.statistics_checks import check_part, check_weights
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
    return {name: parts[place] for place, name in enumerate(child_names(parts))}, weight


def by_name(variables: list[Variable]) -> dict[str, Variable]:
    return {variable.name: variable for variable in Scope(variables)}


def child_names(parts: list[Any]) -> list[str]:
    """The name of each part's child, no two alike."""
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
    return {"name": variable.name, "states": [encode_state(state) for state in variable.states]}


def read_variable(document: Mapping[str, Any]) -> Variable:
    if "states" not in document:
        return Variable(document["name"], dimension=document["dimension"])
    return Variable(document["name"], [read_state(state) for state in document["states"]])


def encode_state(state: State) -> Any:
    """The state itself, except that an infinite number is an object: JSON has no such number."""
    return {"float": str(state)} if isinstance(state, float) and math.isinf(state) else state


def read_state(state: Any) -> State:
    return float(state["float"]) if isinstance(state, Mapping) else state
