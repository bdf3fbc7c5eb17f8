"""Networks written down in a line, with tables by the labels of states; and random tables, for exercises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from juncture.base.checks import check_iterable, check_kind, check_mapping, check_number, is_count, is_iterable, shown
from juncture.base.options import as_generator
from juncture.base.values import few
from juncture.errors import InvalidModel, UnknownVariable, hint
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.labelled_tables import items_of, labels_by_axis
from juncture.graphs.directed import DirectedGraph
from juncture.variables import Scope, Variable


def read_graph(graph: DirectedGraph | str) -> DirectedGraph:
    """A graph, which may be written as text."""
    if isinstance(graph, str):
        return DirectedGraph.parse(graph)
    return check_kind(graph, DirectedGraph, "the graph", error=InvalidModel)


def written_conditionals(
    graph: DirectedGraph, tables: Mapping[str, Any], variables: Iterable[Variable]
) -> list[AnyConditional]:
    """A conditional for each node, of its table and its parents in the order of the graph."""
    check_tables(graph, check_mapping(tables, "the tables"))
    declared = declared_variables(graph, tables, variables)
    known = {name: declared.get(name) or infer_variable(name, graph, tables) for name in graph.nodes}
    return [
        tables[name]
        if isinstance(tables[name], AnyConditional)
        else Conditional(known[name], [known[parent] for parent in graph.parents(name)], tables[name])
        for name in graph.nodes
    ]


def check_tables(graph: DirectedGraph, tables: Mapping[str, Any]) -> None:
    """Each node has a table, and each table a node; a conditional in place of one has the parents of the graph."""
    for name in tables:
        if name not in graph.nodes:
            raise UnknownVariable.among(name, graph.nodes, where="the graph")
    missing = [name for name in graph.nodes if name not in tables]
    if missing:
        raise InvalidModel(f"there is no table of {few(map(repr, missing))}; give one for each node of the graph")
    for name, part in tables.items():
        if isinstance(part, AnyConditional):
            parents = graph.parents(name)
            if part.child.name != name or set(part.parents.names) != set(parents):
                raise InvalidModel(
                    f"the conditional of {name!r} is {part!r}; in the graph its parents are {few(map(repr, parents))}"
                )


def declared_variables(
    graph: DirectedGraph, tables: Mapping[str, Any], variables: Iterable[Variable]
) -> dict[str, Variable]:
    """The variables that need no table to be known, by name."""
    scope = Scope(check_iterable(variables, "variables", error=InvalidModel))
    for name in scope.names:
        if name not in graph.nodes:
            raise UnknownVariable.among(name, graph.nodes, where="the graph")
    parts = [part for part in tables.values() if isinstance(part, AnyConditional)]
    of_parts = (variable for part in parts for variable in (*part.parents, part.child))
    return {variable.name: variable for variable in (*of_parts, *scope)}


def infer_variable(name: str, graph: DirectedGraph, tables: Mapping[str, Any]) -> Variable:
    """A variable with the states by which its own table, or else that of a child, is written, in this order."""
    for child in (name, *graph.children(name)):
        axes = (*graph.parents(child), child)
        if not isinstance(tables[child], AnyConditional):
            labels = labels_by_axis(tables[child], len(axes))[axes.index(name)]
            if labels:
                return Variable(name, labels)
    return Variable(name, count_states(name, tables[name]))


def count_states(name: str, values: Any) -> int:
    """How many states a table has numbers for, which does not say their labels."""
    while (items := items_of(values)) is not None and items:
        values = items[0][1]
    try:
        return int(np.shape(values)[-1])
    except (ValueError, IndexError):
        raise InvalidModel(
            f"the table of {name!r} must be a list of probabilities, or state → probability; got {shown(values)}"
        ) from None


def random_conditionals(graph: DirectedGraph, states: Any, concentration: Any, rng: Any) -> list[Conditional]:
    """For each node a table whose rows are drawn from a symmetric Dirichlet."""
    from juncture.families.vectors.dirichlet import Dirichlet

    alpha = check_number(concentration, "concentration", above=0, finite=True, error=InvalidModel)
    known, generator = random_variables(graph, states), as_generator(rng)
    tables = []
    for name in graph.nodes:
        parents = Scope(known[parent] for parent in graph.parents(name))
        rows = Dirichlet(np.full(known[name].num_states, alpha)).sample(parents.size, rng=generator)
        tables.append(Conditional(known[name], parents, rows.reshape(*parents.shape, known[name].num_states)))
    return tables


def random_variables(graph: DirectedGraph, states: Any) -> dict[str, Variable]:
    """A variable for each node: with the states, or their number, that are given for all or by name, or with two."""
    given = states if isinstance(states, Mapping) else dict.fromkeys(graph.nodes, states)
    for name, own in given.items():
        if name not in graph.nodes:
            raise UnknownVariable(f"states names {name!r}, which is no node of the graph; {hint(name, graph.nodes)}")
        if not is_count(own, 1) and (isinstance(own, str) or not is_iterable(own)):
            raise InvalidModel(
                f"states is a number of at least 1, or a list of labels, for all or by name; got {shown(own)}"
            )
    return {name: Variable(name, given.get(name, 2)) for name in graph.nodes}
