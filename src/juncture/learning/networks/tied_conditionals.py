"""What tied conditionals have together: their statistics, their prior, and whether they are learned at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from juncture.errors import InvalidData, UnknownVariable
from juncture.factors.conditional import signature
from juncture.learning.conditionals.contract import Wishes, log_prior, takes_prior
from juncture.learning.networks.network_statistics import NetworkStatistics
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.options import as_names


def groups_of(model: BayesianNetwork, fixed: frozenset[str] = frozenset()) -> list[tuple[str, ...]]:
    """The children that are learned, each with those it is tied to."""
    tied = {name: group for group in model.tied for name in group}
    groups = dict.fromkeys(tied.get(name, (name,)) for name in model.variables.names)
    return [group for group in groups if not fixed & set(group)]


def kept_children(model: BayesianNetwork, fixed: Iterable[str]) -> frozenset[str]:
    """The children whose conditionals stay as they are: those named, and those tied to them."""
    named = {model.variable(name).name for name in as_names(fixed, "fixed")}
    return frozenset(named.union(*(group for group in model.tied if named & set(group))))


def checked_prior(prior: Any, model: BayesianNetwork) -> Any:
    """A mapping of priors names children that can take one; what is said of one child holds for those tied to it."""
    if not isinstance(prior, Mapping):
        return prior
    for name in prior:
        if name not in model.variables.names:
            raise UnknownVariable.among(name, model.variables.names)
        if prior[name] is not None and not takes_prior(model[name]):
            raise InvalidData(f"a prior for {name!r} would change nothing: {signature(model[name])} takes none")
    shared = {
        name: prior[told[0]]
        for group in model.tied
        if (told := [one for one in group if one in prior])
        for name in group
    }
    return {**prior, **shared}


def pooled(model: BayesianNetwork, statistics: NetworkStatistics) -> dict[str, Any]:
    """The statistics that each conditional is estimated from: tied ones share the sum of theirs."""
    parts = dict(statistics.parts)
    for group in model.tied:
        first = parts[group[0]]
        total = sum((parts[name].renamed(first.child, first.parents) for name in group[1:]), first)
        parts.update({name: total.renamed(parts[name].child, parts[name].parents) for name in group})
    return parts


def log_prior_of(model: BayesianNetwork, wishes: Wishes, fixed: frozenset[str]) -> float:
    """The log prior of all that is learned; parameters that are tied count once."""
    return float(sum(log_prior(model[group[0]], wishes) for group in groups_of(model, fixed)))
