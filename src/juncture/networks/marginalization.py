"""Variables summed out of a model, and elimination orders that users or files give: every variable once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.options import as_names
from juncture.base.values import few
from juncture.errors import InvalidData, NotDirectedWarning, UnknownVariable, warn_user
from juncture.factors.factor import Factor, product_of
from juncture.graphs.directed import DirectedGraph
from juncture.variables import Scope, Variable, first_repeated


def find_removable_leaves(graph: DirectedGraph, names: set[str]) -> set[str]:
    """Those of the names that can be removed one after another as leaves."""
    removed: set[str] = set()
    for node in reversed(graph.topological_order()):
        if node in names and removed.issuperset(graph.children(node)):
            removed.add(node)
    return removed


def sum_out_variables(factors: Iterable[Factor], variables: Iterable[Variable]) -> list[Factor]:
    """The factors after summing out each variable in turn: those that contain it become one factor.

    A variable without factors leaves its number of states as a factor, so that Z is unchanged.
    """
    left = list(factors)
    for variable in variables:
        touched = [factor for factor in left if variable in factor.scope]
        left = [factor for factor in left if variable not in factor.scope]
        uniform = Factor([variable], np.ones(variable.num_states))
        left.append(product_of([uniform, *touched]).sum_out(variable))
    return left


def warn_undirected(graph: DirectedGraph, inner: set[str], removed: set[str]) -> None:
    """Warn that a variable is no leaf and that the result is a Markov network."""
    name = next(node for node in graph.nodes if node in inner)
    staying = [child for child in graph.children(name) if child not in removed] or list(graph.children(name))
    warn_user(
        f"{name!r} is no leaf: summing it out leaves a factor over its child {staying[0]!r} and its other neighbours; "
        "directed graphs are not closed under this, so the result is a Markov network",
        NotDirectedWarning,
    )


def check_elimination_order(order: Iterable[str], variables: Scope) -> tuple[str, ...]:
    """An order of all these variables; none at all is an order that is not known."""
    names = as_order(order)
    for name in names:
        if name not in variables.names:
            raise UnknownVariable.among(name, variables.names)
    missing = [name for name in variables.names if name not in set(names)] if names else []
    if missing:
        raise InvalidData(f"the elimination order leaves out {few(missing)}; it must name every variable once")
    return names


def as_order(order: Any) -> tuple[str, ...]:
    """Names in an order, none of them twice."""
    names = tuple(as_names(order, "order"))
    for name in names:
        check_kind(name, str, "a name in the elimination order")
    if len(set(names)) < len(names):
        raise InvalidData(f"the elimination order names {names[first_repeated(names)]!r} twice")
    return names
