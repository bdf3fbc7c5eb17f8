"""The structure of a classifier: given, that of naive Bayes, or learned from the rows of `fit`; the class's name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import InvalidData, Unsupported, hint
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.learn import SEARCHES, learn_structure
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable

UNNAMED = "y"
NAIVE, TREE = "naive", "tree-augmented"
OTHER_NAMES = {"tan": TREE}
LEARNED = ("auto", "tan", *SEARCHES)
CLASSES = {"pc", "ges"}  # searches that leave directions open, unless options say otherwise
CLIMBING_WITH_HOLES = "structural-em"  # it climbs in each round


def nodes_of(structure: Any) -> tuple[str, ...]:
    if isinstance(structure, BayesianNetwork):
        return tuple(structure.variables.names)
    if not isinstance(structure, DirectedGraph):
        raise Unsupported(
            "a structure is a DirectedGraph, a BayesianNetwork, 'naive', the name of a search such as 'hill-climbing',"
            f" or a search such as jt.HillClimbing(); got {type(structure).__name__}"
        )
    return tuple(structure.nodes)


def is_given(structure: Any) -> bool:
    """Whether the structure is known before the rows; else naive Bayes, or a search, makes it from their columns."""
    if isinstance(structure, str) and structure != NAIVE and structure not in LEARNED:
        raise InvalidData(f"there is no structure {structure!r}; {hint(structure, (NAIVE, *LEARNED))}")
    is_search = isinstance(structure, str) or type(structure) in SEARCHES.values()
    return structure is not None and not is_search


def learn_graph(search: Any, data: Dataset, target: str, rng: Any) -> Any:
    """The graph that a search finds; one that is given by its name also takes missing cells, where it can."""
    options: dict[str, Any] = {}
    if not isinstance(search, str):
        if any(field.name == "directed" for field in fields(search)):
            options["directed"] = True
        return learn_structure(data, search, rng=rng, **options)
    name = OTHER_NAMES.get(search, search)
    options |= {"directed": True} if name in CLASSES else {"target": target} if name == TREE else {}
    if not data.is_complete:
        options |= {"score": "node-average"} if name == "exact" else {}
        name = CLIMBING_WITH_HOLES if name == "hill-climbing" else name
    return learn_structure(data, name, rng=rng, **options)


def target_name(structure: Any, target: str | None, y: Any, cells: Mapping[str, Any]) -> str:
    """The class: as it was named, as `y` is, or the one node of the structure that is no column."""
    nodes = nodes_of(structure) if is_given(structure) else None
    if name := target or name_of_labels(y, nodes):
        return name
    return default_name(cells) if nodes is None else find_missing_node(nodes, cells)


def find_structure(structure: Any, target: str, features: Iterable[str]) -> Any:
    """The structure that was given, which must have the class as a node, or that of naive Bayes over all columns."""
    if not is_given(structure):
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
    return {variable.name: variable for variable in (*model, *Scope(() if variables is None else variables))}


def check_rows_of_classes(data: Dataset, target: str, prior: Any) -> None:
    """Refuse classes without rows from which columns of numbers could be learned, unless a prior stands for them."""
    codes, numbers = data.columns[target], [variable.name for variable in data.variables if variable.is_real]
    if not numbers or isinstance(prior, Mapping) or has_hole(codes).any():
        return
    if len(data) == 1:
        raise InvalidData(f"there is one sample: the column {numbers[0]!r} of numbers needs several rows of each class")
    counted = codes if data.weights is None else codes[data.weights > 0]
    missing = np.flatnonzero(np.bincount(counted, minlength=data.variable(target).num_states) == 0)
    if len(missing):
        label = data.variable(target).labels[missing[0]]
        raise InvalidData(
            f"the class {label!r} has no row that counts, so nothing is known of the column {numbers[0]!r} of numbers "
            "in it; leave the class out, or cut numbers into intervals with discretize=5"
        )


def check_class(variable: Variable) -> None:
    if variable.is_real:
        raise Unsupported(
            f"the class of a classifier has states; {variable.name!r} is real-valued: predict it by jt.infer"
        )
