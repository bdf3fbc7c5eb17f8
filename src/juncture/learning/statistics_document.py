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
from juncture.learning.kinds.causes import CauseCounts
from juncture.learning.kinds.linear_gaussian import LineMoments
from juncture.learning.kinds.row_counts import RowCounts
from juncture.learning.kinds.table_counts import TableCounts
from juncture.variables import State, Variable, distinct_variables

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
        found = [read_variable(one) for one in document["variables"]]
        variables = {variable.name: variable for variable in found}
        parts = [read_part(one, variables) for one in document["families"]]
        return {part.child.name: part for part in parts}, float(document["weight"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidData(f"the document of statistics is damaged: {type(error).__name__} {error}") from error


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
