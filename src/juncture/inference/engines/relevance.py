"""The part of a model that a question touches."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import singledispatch
from typing import Any

from juncture.graphs.directed import DirectedGraph
from juncture.networks.bayesian_network import BayesianNetwork


@singledispatch
def relevant_part(model: Any, names: Collection[str]) -> Any:
    """A smaller model with the same distribution over `names`: an undirected model has none, in general."""
    return model


@relevant_part.register
def ancestral_part(model: BayesianNetwork, names: Collection[str]) -> BayesianNetwork:
    """The variables asked for and their ancestors; all others sum to 1 and drop out."""
    keep = {*names, *model.graph.ancestors(names)}
    if len(keep) == len(model.conditionals):
        return model
    return BayesianNetwork(part for part in model.conditionals if part.child.name in keep)


def relevant_evidence(
    graph: DirectedGraph, target: str, observed: Collection[str], is_complete: Callable[[str], bool]
) -> tuple[str, ...]:
    """The observed variables that p(target | evidence) depends on: the others change it in no row.

    They are met on the ways from the target through the moral graph of all that is named and its ancestors; a way
    ends at a variable that is known in every row, and is asked about only then (`is_complete`).
    """
    named = {target, *observed}
    moral = graph.subgraph(named | graph.ancestors(named)).moralize()
    met, ways = {target}, [target]
    while ways:
        for name in moral.neighbors(ways.pop()):
            if name not in met:
                met.add(name)
                if name not in observed or not is_complete(name):
                    ways.append(name)
    return tuple(name for name in graph.nodes if name in met and name in observed and name != target)
