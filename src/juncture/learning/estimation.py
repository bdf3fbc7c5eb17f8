"""`estimate`: a network from statistics: maximum likelihood, or with a prior the posterior's mean or mode."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.errors import InvalidData, UnknownVariable, UnseenParentsWarning, Unsupported
from juncture.factors.conditional import AnyConditional
from juncture.graphs.directed import DirectedGraph
from juncture.learning.kinds.contract import Point, Wishes, estimated
from juncture.learning.kinds.table import added_counts
from juncture.learning.kinds.table_counts import TableCounts
from juncture.learning.network_statistics import NetworkStatistics
from juncture.learning.priors import refuse_unknown_names
from juncture.learning.templates import blank
from juncture.models.bayesian_network import BayesianNetwork
from juncture.variables import Scope


def estimate(
    structure: Any,
    statistics: NetworkStatistics,
    prior: Any = None,
    *,
    point: Point = "mean",
    on_unseen: Any = "uniform",
    fixed: Iterable[str] = (),
) -> BayesianNetwork:
    """The network that the statistics lead to.

    Without a prior, maximum likelihood. With one (a pseudo-count per cell, `BDeu`, `K2`, `Dirichlet`, or a mapping
    from child to these) the mean of the posterior, or with `point="mode"` its mode. The conditionals of `fixed`
    children stay as they are.
    """
    template = template_for(structure, statistics)
    wishes = Wishes(prior, point, on_unseen)
    refuse_unknown_names(prior, template.variables.names)
    report_unseen(statistics, wishes)
    return estimated_network(template, statistics, wishes, frozenset(fixed))


def estimated_network(
    template: BayesianNetwork, statistics: NetworkStatistics, wishes: Wishes, fixed: frozenset[str] = frozenset()
) -> BayesianNetwork:
    """Every conditional estimated from its part; tied ones from the sum of theirs."""
    for name in fixed:
        template.variable(name)
    parts = dict(statistics.parts)
    for group in template.tied:
        shared = sum_of_tied([parts[name] for name in group])
        parts.update({name: renamed(shared, parts[name]) for name in group})
    return BayesianNetwork(
        [
            part if part.child.name in fixed else estimated(part, parts[part.child.name], wishes)
            for part in template.conditionals
        ],
        tied=template.tied,
        plates=template.plates,
    )


def sum_of_tied(parts: list[Any]) -> Any:
    """The statistics of tied families together, on the variables of the first."""
    total = parts[0]
    for part in parts[1:]:
        total = total + renamed(part, total)
    return total


def renamed(part: Any, like: Any) -> Any:
    """The same numbers on the variables of another family."""
    return TableCounts(like.child, like.parents, part.counts) if isinstance(part, TableCounts) else part


def template_for(structure: Any, statistics: NetworkStatistics) -> BayesianNetwork:
    """The structure as a network whose variables are those of the statistics."""
    if not isinstance(statistics, NetworkStatistics):
        raise InvalidData(f"estimate takes jt.statistics(structure, data); got {type(statistics).__name__}")
    if isinstance(structure, BayesianNetwork):
        names, kinds = structure.variables.names, {part.child.name: part for part in structure.conditionals}
    elif isinstance(structure, DirectedGraph):
        names, kinds = tuple(structure.nodes), {}
    else:
        raise Unsupported(f"what is estimated is a BayesianNetwork or a DirectedGraph; got {structure!r}")
    for name in names:
        if name not in statistics.parts:
            raise UnknownVariable.among(name, statistics.parts, where="the statistics")
    parts = [kinds.get(name) or blank_for(statistics[name], structure.parents(name)) for name in names]
    tied, plates = (structure.tied, structure.plates) if kinds else ((), ())
    return BayesianNetwork(parts, tied=tied, plates=plates)


def blank_for(part: Any, parents: Iterable[str]) -> AnyConditional:
    if part.parents.names != tuple(parents):
        raise InvalidData(
            f"the statistics of {part.child.name!r} are given {', '.join(part.parents.names) or 'no parents'};"
            f" the graph gives it {', '.join(parents) or 'none'}"
        )
    return blank(part.child, Scope(part.parents))


def report_unseen(statistics: NetworkStatistics, wishes: Wishes) -> None:
    """One warning, or an error on request, when combinations of parents' states that no row has get a uniform row."""
    unseen = {
        name: int(np.sum((part.counts + added_counts(wishes, part)).sum(axis=-1) == 0))
        for name, part in statistics.parts.items()
        if isinstance(part, TableCounts)
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
    warnings.warn(
        f"{message}; there the child is taken as uniform: give a prior to say otherwise", UnseenParentsWarning, 3
    )
