"""The part of a model, and of its evidence, that a query depends on."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import singledispatch
from typing import Any

from juncture.graphs.directed import DirectedGraph
from juncture.networks.bayesian_network import BayesianNetwork, Network


@singledispatch
def relevant_part(model: Network, names: Collection[str]) -> Any:
    """A smaller model with the same distribution over `names`: an undirected model has none, in general."""
    return model


@relevant_part.register
def ancestral_part(model: BayesianNetwork, names: Collection[str]) -> BayesianNetwork:
    """The variables asked for and their ancestors; all others sum to 1 and drop out."""
    keep = {*names, *model.graph.ancestors(names)}
    if len(keep) == len(model.conditionals):
        return model
    part = BayesianNetwork(part for part in model.conditionals if part.child.name in keep)
    return part.with_elimination_order([name for name in model.elimination_order if name in keep])


def relevant_evidence(
    graph: DirectedGraph, target: str, observed: Collection[str], is_complete: Callable[[str], bool]
) -> tuple[str, ...]:
    """The observed variables that p(target | evidence) depends on.

    They are reached from the target in the moral graph of the named variables and their ancestors; a path ends at a
    variable that is observed in every row, which `is_complete` answers.
    """
    named = {target, *observed}
    moral = graph.subgraph(named | graph.ancestors(named)).moralize()
    reached, stack = {target}, [target]
    while stack:
        for name in moral.neighbors(stack.pop()):
            if name not in reached:
                reached.add(name)
                if name not in observed or not is_complete(name):
                    stack.append(name)
    return tuple(name for name in graph.nodes if name in reached and name in observed and name != target)
