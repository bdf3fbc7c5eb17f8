"""`estimate`: a network from statistics: maximum likelihood, or with a prior the posterior's mean or mode.

Tied conditionals share their statistics and their prior, and are learned or kept together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.notes import NO_NOTES, Notes
from juncture.base.options import as_names
from juncture.base.values import number_of
from juncture.errors import InvalidData, UnknownVariable, UnseenParentsWarning, Unsupported, warn_user
from juncture.factors.conditional import AnyConditional, signature
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    learns_from,
    log_prior,
    takes_prior,
)
from juncture.learning.conditionals.table import TableCounts, added_counts
from juncture.learning.fit import check_learned
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.networks.templates import blank_conditional, check_fixed
from juncture.learning.options import PointEstimate
from juncture.networks.bayesian_network import BayesianNetwork


@dataclass(frozen=True)
class NetworkEstimate(PointEstimate):
    """How the conditionals of a network are estimated from statistics.

    Parameters
    ----------
    fixed
        The names of children whose conditionals are kept, and with them those that are tied to these.
    """

    fixed: Iterable[str] = ()


def learned_groups(model: BayesianNetwork, fixed: frozenset[str] = frozenset()) -> list[tuple[str, ...]]:
    """The groups of tied children that are learned; a child without ties is a group of one."""
    tied = {name: group for group in model.tied for name in group}
    groups = dict.fromkeys(tied.get(name, (name,)) for name in model.variables.names)
    return [group for group in groups if not fixed & set(group)]


def fixed_children(model: BayesianNetwork, fixed: Iterable[str]) -> frozenset[str]:
    """The children whose conditionals stay fixed: the named children, and the children tied to them."""
    named = {model.variable(name).name for name in as_names(fixed, "fixed")}
    return frozenset(named.union(*(group for group in model.tied if named & set(group))))


def resolve_prior(prior: Any, model: BayesianNetwork) -> Any:
    """Check that a mapping of priors names children that take a prior, and share a child's prior with tied children."""
    if not isinstance(prior, Mapping):
        return prior
    for name in prior:
        if name not in model.variables.names:
            raise UnknownVariable.among(name, model.variables.names)
        if prior[name] is not None and not takes_prior(model[name]):
            raise InvalidData(f"a prior for {name!r} would change nothing: {signature(model[name])} takes none")
    shared = {
        name: prior[named[0]]
        for group in model.tied
        if (named := [one for one in group if one in prior])
        for name in group
    }
    return {**prior, **shared}


def resolve_estimation(options: NetworkEstimate, prior: Any, model: BayesianNetwork) -> EstimationOptions:
    """The options of estimating each conditional of a network."""
    return EstimationOptions(resolve_prior(prior, model), options.point, options.on_unseen)


def pool_statistics(model: BayesianNetwork, statistics: NetworkStatistics) -> dict[str, Any]:
    """The statistics that each conditional is estimated from: tied conditionals share the sum of their statistics."""
    parts = dict(statistics.parts)
    for group in model.tied:
        first = parts[group[0]]
        total = sum((parts[name].renamed(first.child, first.parents) for name in group[1:]), first)
        parts.update({name: total.renamed(parts[name].child, parts[name].parents) for name in group})
    return parts


def network_log_prior(model: BayesianNetwork, options: EstimationOptions, fixed: frozenset[str]) -> float:
    """The log prior of all learned parameters; tied parameters count once."""
    return float(sum(log_prior(model[group[0]], options) for group in learned_groups(model, fixed)))


def estimate_network(
    structure: Any,
    statistics: NetworkStatistics,
    prior: Any = None,
    *,
    options: NetworkEstimate,
) -> BayesianNetwork:
    template = resolve_template(structure, statistics)
    check_fixed(structure, options.fixed)
    estimation, kept = resolve_estimation(options, prior, template), fixed_children(template, options.fixed)
    report_unseen(template, statistics, estimation, kept)
    learned, notes = estimate_conditionals(template, statistics, estimation, kept)
    notes.warn()
    return check_learned(learned)


def estimate_conditionals(
    template: BayesianNetwork,
    statistics: NetworkStatistics,
    options: EstimationOptions,
    fixed: frozenset[str] = frozenset(),
) -> tuple[BayesianNetwork, Notes]:
    """Estimate every conditional from its part; tied conditionals from the sum of their parts."""
    parts = pool_statistics(template, statistics)
    found = [
        (part, NO_NOTES) if part.child.name in fixed else estimate_conditional(part, parts[part.child.name], options)
        for part in template.conditionals
    ]
    learned = BayesianNetwork.trusted(template, [conditional for conditional, _ in found])
    return learned, Notes.joined(notes for _, notes in found)


def resolve_template(structure: Any, statistics: NetworkStatistics) -> BayesianNetwork:
    """The structure as a network whose families are those of the statistics."""
    if not isinstance(statistics, NetworkStatistics):
        raise InvalidData(f"estimate takes jt.statistics(structure, data); got {type(statistics).__name__}")
    if not isinstance(structure, BayesianNetwork | DirectedGraph):
        raise Unsupported(f"estimate takes a BayesianNetwork or a DirectedGraph; got {type(structure).__name__}")
    graph = structure.graph if isinstance(structure, BayesianNetwork) else structure
    for name in graph.nodes:
        if name not in statistics.parts:
            raise UnknownVariable.among(name, statistics.parts, where="the statistics")
        check_parents_agree(statistics[name], graph.parents(name))
    if not isinstance(structure, BayesianNetwork):
        return BayesianNetwork(
            blank_conditional(statistics[name].child, statistics[name].parents) for name in graph.nodes
        )
    for conditional in structure.conditionals:
        check_statistics_fit(conditional, statistics[conditional.child.name])
    return structure


def check_parents_agree(part: Any, parents: Iterable[str]) -> None:
    if part.parents.names != tuple(parents):
        raise InvalidData(
            f"the statistics of {part.child.name!r} are given {', '.join(part.parents.names) or 'no parents'};"
            f" the structure gives it {', '.join(parents) or 'none'}"
        )


def check_statistics_fit(conditional: AnyConditional, part: Any) -> None:
    """Check that the statistics are of a kind and of states from which the conditional can be estimated."""
    if type(part) not in learns_from(conditional):
        raise InvalidData(
            f"the statistics of {part.child.name!r} are {type(part).__name__}, from which {signature(conditional)}"
            " cannot be estimated: take them with jt.statistics(model, data)"
        )
    for mine, theirs in zip((*conditional.parents, conditional.child), (*part.parents, part.child), strict=True):
        if mine != theirs:
            raise InvalidData(
                f"the statistics have the states {list(theirs.states or ())} for {mine.name!r}, the model has"
                f" {list(mine.states or ())}: take them with jt.statistics(model, data)"
            )


def report_unseen(
    template: BayesianNetwork, statistics: NetworkStatistics, options: EstimationOptions, fixed: frozenset[str]
) -> None:
    """One warning, or an error on request, when combinations of parents' states that no row has get a uniform row."""
    parts = pool_statistics(template, statistics)
    unseen = {
        group[0]: int(np.sum((part.counts + added_counts(options, part)).sum(axis=-1) == 0))
        for group in learned_groups(template, fixed)
        if isinstance(part := parts[group[0]], TableCounts)
    }
    unseen = {name: number for name, number in unseen.items() if number}
    if not unseen:
        return
    worst = max(unseen, key=unseen.__getitem__)
    total, families = sum(unseen.values()), "1 family" if len(unseen) == 1 else f"{len(unseen)} families"
    message = (
        f"{number_of(total, 'combination')} of parents' states {'was' if total == 1 else 'were'} never seen,"
        f" in {families} (most in that of {worst!r}: {unseen[worst]})"
    )
    if options.on_unseen == "error":
        raise InvalidData(f'{message}; give a prior, or on_unseen="uniform"')
    warn_user(f"{message}; there the child is uniform: give a prior to change this", UnseenParentsWarning)
