"""What is left of a model when variables are summed out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juncture.errors import NotDirectedWarning, warn_user
from juncture.factors.factor import Factor, product_of
from juncture.graphs.directed import DirectedGraph
from juncture.variables import Variable


def find_removable_leaves(graph: DirectedGraph, names: set[str]) -> set[str]:
    """Those of the names that can go one after another, each when it has no children left."""
    gone: set[str] = set()
    for node in reversed(graph.topological_order()):
        if node in names and gone.issuperset(graph.children(node)):
            gone.add(node)
    return gone


def sum_out_variables(factors: Iterable[Factor], variables: Iterable[Variable]) -> list[Factor]:
    """Each variable in turn: the factors that it is in become one, over all that it met.

    One that is in none leaves its number of states, so that Z stays what it was.
    """
    left = list(factors)
    for variable in variables:
        touched = [factor for factor in left if variable in factor.scope]
        left = [factor for factor in left if variable not in factor.scope]
        uniform = Factor([variable], np.ones(variable.num_states))
        left.append(product_of([uniform, *touched]).sum_out(variable))
    return left


def warn_undirected(graph: DirectedGraph, inner: set[str], gone: set[str]) -> None:
    """Say which variable is no leaf, and what follows."""
    name = next(node for node in graph.nodes if node in inner)
    staying = [child for child in graph.children(name) if child not in gone] or list(graph.children(name))
    warn_user(
        f"{name!r} is no leaf: summed out, it leaves a factor over its child {staying[0]!r} and all else that it met, "
        "and directed graphs are not closed under this; the answer is a Markov network",
        NotDirectedWarning,
    )
