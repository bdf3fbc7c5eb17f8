"""The structure of a classifier: the name of the class, the declared variables, and the graph of naive Bayes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from juncture.errors import InvalidData, Unsupported, hint
from juncture.graphs.directed import DirectedGraph
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable

UNNAMED = "y"


def nodes_of(structure: Any) -> tuple[str, ...]:
    if isinstance(structure, BayesianNetwork):
        return tuple(structure.variables.names)
    if not isinstance(structure, DirectedGraph):
        raise Unsupported(f"a structure is a DirectedGraph, a BayesianNetwork or None; got {type(structure).__name__}")
    return tuple(structure.nodes)


def target_name(structure: Any, target: str | None, y: Any, cells: Mapping[str, Any]) -> str:
    """The class: as it was named, as `y` is, or the one node of the structure that is no column."""
    nodes = None if structure is None else nodes_of(structure)
    if name := target or name_of_labels(y, nodes):
        return name
    return default_name(cells) if nodes is None else find_missing_node(nodes, cells)


def find_structure(structure: Any, target: str, features: Iterable[str]) -> Any:
    """The structure that was given, which must have the class as a node, or that of naive Bayes."""
    if structure is None:
        return DirectedGraph([(target, name) for name in features], [target])
    nodes = nodes_of(structure)
    if target not in nodes:
        raise InvalidData(f"the structure has no node {target!r}, the class; {hint(target, nodes)}")
    return structure


def name_of_labels(y: Any, nodes: Collection[str] | None) -> str | None:
    """The name that `y` has itself, if it can be that of the class."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name and (nodes is None or name in nodes) else None


def default_name(cells: Mapping[str, Any]) -> str:
    if UNNAMED in cells:
        raise InvalidData(f"the class has no name of its own, and X has a column {UNNAMED!r}; name it in target=")
    return UNNAMED


def find_missing_node(nodes: Iterable[str], cells: Mapping[str, Any]) -> str:
    found = [name for name in nodes if name not in cells]
    if len(found) != 1:
        names = ", ".join(map(repr, found[:5])) or "none"
        raise InvalidData(f"which node of the structure is the class? No column has {names}; name it in target=")
    return found[0]


def declared_variables(structure: Any, variables: Iterable[Variable] | None) -> dict[str, Variable]:
    """The variables whose states are known before the rows; a network's are."""
    model = structure.variables if isinstance(structure, BayesianNetwork) else ()
    declared = {variable.name: variable for variable in (*model, *Scope(() if variables is None else variables))}
    for variable in declared.values():
        if variable.is_real:
            raise Unsupported(f"a classifier takes variables with states; {variable.name!r} is real-valued")
    return declared
