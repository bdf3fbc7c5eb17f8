"""The part of a model that a question touches."""

from __future__ import annotations

from collections.abc import Collection
from functools import singledispatch
from typing import Any

from juncture.models.bayesian_network import BayesianNetwork


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
