"""`estimate`: a network from statistics: maximum likelihood, or with a prior the posterior's mean or mode.

Tied conditionals share their statistics and their prior, and are learned or kept together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from juncture.errors import InvalidData, UnknownVariable, UnseenParentsWarning, Unsupported, warn_user
from juncture.factors.conditional import AnyConditional, signature
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.contract import Point, Wishes, estimated, learns_from, log_prior, takes_prior
from juncture.learning.conditionals.table import TableCounts, added_counts
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.networks.templates import blank, refuse_fixed_graph
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


def estimate_network(
    structure: Any,
    statistics: NetworkStatistics,
    prior: Any = None,
    *,
    point: Point = "mean",
    on_unseen: Any = "uniform",
    fixed: Iterable[str] = (),
) -> BayesianNetwork:
    template = template_for(structure, statistics)
    refuse_fixed_graph(structure, fixed)
    wishes, kept = Wishes(checked_prior(prior, template), point, on_unseen), kept_children(template, fixed)
    report_unseen(template, statistics, wishes, kept)
    return estimated_network(template, statistics, wishes, kept)


def estimated_network(
    template: BayesianNetwork, statistics: NetworkStatistics, wishes: Wishes, fixed: frozenset[str] = frozenset()
) -> BayesianNetwork:
    """Every conditional estimated from its part; tied ones from the sum of theirs."""
    parts = pooled(template, statistics)
    return BayesianNetwork(
        [
            part if part.child.name in fixed else estimated(part, parts[part.child.name], wishes)
            for part in template.conditionals
        ],
        tied=template.tied,
        plates=template.plates,
    )


def template_for(structure: Any, statistics: NetworkStatistics) -> BayesianNetwork:
    """The structure as a network whose families are those of the statistics."""
    if not isinstance(statistics, NetworkStatistics):
        raise InvalidData(f"estimate takes jt.statistics(structure, data); got {type(statistics).__name__}")
    if not isinstance(structure, BayesianNetwork | DirectedGraph):
        raise Unsupported(f"what is estimated is a BayesianNetwork or a DirectedGraph; got {type(structure).__name__}")
    graph = structure.graph if isinstance(structure, BayesianNetwork) else structure
    for name in graph.nodes:
        if name not in statistics.parts:
            raise UnknownVariable.among(name, statistics.parts, where="the statistics")
        refuse_other_parents(statistics[name], graph.parents(name))
    if not isinstance(structure, BayesianNetwork):
        return BayesianNetwork(blank(statistics[name].child, statistics[name].parents) for name in graph.nodes)
    for conditional in structure.conditionals:
        refuse_other_kind(conditional, statistics[conditional.child.name])
    return structure


def refuse_other_parents(part: Any, parents: Iterable[str]) -> None:
    if part.parents.names != tuple(parents):
        raise InvalidData(
            f"the statistics of {part.child.name!r} are given {', '.join(part.parents.names) or 'no parents'};"
            f" the structure gives it {', '.join(parents) or 'none'}"
        )


def refuse_other_kind(conditional: AnyConditional, part: Any) -> None:
    """A noisy OR cannot be told from the counts of a graph's table, nor a table from states that it does not have."""
    if type(part) not in learns_from(conditional):
        raise InvalidData(
            f"the statistics of {part.child.name!r} are {type(part).__name__}, from which {signature(conditional)}"
            " cannot be told: take them with jt.statistics(model, data)"
        )
    for mine, theirs in zip((*conditional.parents, conditional.child), (*part.parents, part.child), strict=True):
        if mine != theirs:
            raise InvalidData(
                f"the statistics have the states {list(theirs.states or ())} for {mine.name!r}, the model has"
                f" {list(mine.states or ())}: take them with jt.statistics(model, data)"
            )


def report_unseen(
    template: BayesianNetwork, statistics: NetworkStatistics, wishes: Wishes, fixed: frozenset[str]
) -> None:
    """One warning, or an error on request, when combinations of parents' states that no row has get a uniform row."""
    parts = pooled(template, statistics)
    unseen = {
        group[0]: int(np.sum((part.counts + added_counts(wishes, part)).sum(axis=-1) == 0))
        for group in groups_of(template, fixed)
        if isinstance(part := parts[group[0]], TableCounts)
    }
    unseen = {name: number for name, number in unseen.items() if number}
    if not unseen:
        return
    worst = max(unseen, key=unseen.__getitem__)
    message = (
        f"{sum(unseen.values())} combinations of parents' states were never seen, in {len(unseen)} families"
        f" (most in that of {worst!r}: {unseen[worst]})"
    )
    if wishes.on_unseen == "error":
        raise InvalidData(f'{message}; give a prior, or on_unseen="uniform"')
    warn_user(f"{message}; there the child is taken as uniform: give a prior to say otherwise", UnseenParentsWarning)
