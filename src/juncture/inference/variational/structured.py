"""Structured mean field: q(x) = Π q(x_C) over clusters C of variables, each of them kept exactly by the junction tree.

Given the other clusters, the best q(x_C) is proportional to the product of the factors inside C and, for each factor f
across clusters, exp E[log f | x_C]: a model of the cluster's own, which exact inference answers. The start is the
optimum of mean field over single variables, from where the lower bound only rises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_iterable
from juncture.base.options import as_variable_names
from juncture.errors import InvalidData
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Query
from juncture.inference.engines.factor_answers import outer_product
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics import stable
from juncture.variables import Scope

Names = tuple[str, ...]


def as_clusters(clusters: Any) -> tuple[Names, ...]:
    """The clusters as users give them: lists of names, no name in two of them."""
    found = tuple(tuple(as_variable_names(cluster, "a cluster")) for cluster in check_iterable(clusters, "clusters"))
    counts = Counter(name for cluster in found for name in cluster)
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        raise InvalidData(f"clusters share no variable; {twice!r} is in two places")
    return tuple(cluster for cluster in found if cluster)


def complete_clusters(clusters: Sequence[Names], scope: Scope) -> tuple[Names, ...]:
    """The clusters, each of variables of the model, and every other variable alone."""
    seen = {scope.variable(name).name for cluster in clusters for name in cluster}
    return (*clusters, *((name,) for name in scope.names if name not in seen))


@dataclass(frozen=True, eq=False)
class Cluster:
    """A cluster, the factors that touch it, and the plan of its own model."""

    names: Names
    parts: tuple[tuple[int, Names], ...]  # the factors, and what of their scopes lies in the cluster
    template: MarkovNetwork
    plan: Any

    @classmethod
    def of(cls, names: Names, factors: Sequence[Factor], scope: Scope) -> Cluster:
        touching = [tuple(name for name in part.scope.names if name in names) for part in factors]
        parts = tuple((index, own) for index, own in enumerate(touching) if own)
        scopes = [
            [scope.variable(name) for name in own] for own in (*(own for _, own in parts), *((n,) for n in names))
        ]
        variables = [scope.variable(name) for name in names]
        template = MarkovNetwork([Factor(part, np.ones(Scope(part).shape)) for part in scopes], variables)
        return cls(names, parts, template, JunctionTree().compile(template, (), names))


class Belief(NamedTuple):
    """q(x_C): the marginals that factors need, its entropy, and all answers about it."""

    marginals: Mapping[Names, np.ndarray]
    entropy: float
    answers: Any


class Structure(NamedTuple):
    """The distributions of all clusters, their lower bound, and the largest change of a marginal in the last sweep."""

    beliefs: tuple[Belief, ...]
    bound: float
    change: float = np.inf


@dataclass(frozen=True, eq=False)
class ClusterSweeps:
    """Sweeps over the clusters for one row of evidence."""

    factors: Sequence[Factor]
    clusters: Sequence[Cluster]
    fields: Mapping[str, np.ndarray]  # name → log-likelihood of each state
    start: Mapping[str, np.ndarray]  # name → distribution
    last: tuple[Belief, ...] | None = None  # where to go on, in place of the start

    @cached_property
    def owners(self) -> dict[str, int]:
        """Name → the index of the cluster that has it."""
        return {name: at for at, cluster in enumerate(self.clusters) for name in cluster.names}

    def init(self) -> Structure:
        beliefs = self.last or tuple(self.independent(cluster) for cluster in self.clusters)
        return Structure(beliefs, self.bound(beliefs))

    def independent(self, cluster: Cluster) -> Belief:
        """The distribution of a cluster under which its variables are independent, as they are at the start."""
        needed = [*(own for _, own in cluster.parts), *((name,) for name in cluster.names)]
        tables = {own: outer_product([self.start[name][np.newaxis] for name in own])[0] for own in needed}
        entropy = -sum(float(expect(tables[name,], stable.log(tables[name,]))) for name in cluster.names)
        return Belief(tables, entropy, None)

    def step(self, state: Structure) -> Structure:
        beliefs = list(state.beliefs)
        for at in range(len(self.clusters)):
            beliefs[at] = self.renew(at, beliefs)
        moves = (
            np.abs(table - old.marginals[own]).max(initial=0.0)
            for new, old in zip(beliefs, state.beliefs, strict=True)
            for own, table in new.marginals.items()
        )
        return Structure(tuple(beliefs), self.bound(beliefs), float(max(moves, default=0.0)))

    def renew(self, at: int, beliefs: Sequence[Belief]) -> Belief:
        """The best distribution of a cluster given those of the others."""
        cluster = self.clusters[at]
        logs = [self.expected_log(index, at, beliefs) for index, _ in cluster.parts]
        own = [self.fields[name] for name in cluster.names]
        scopes = [factor.scope for factor in cluster.template.factors]
        factors = [Factor.from_logs(scope, table) for scope, table in zip(scopes, [*logs, *own], strict=True)]
        model = MarkovNetwork.trusted(cluster.template, factors)
        answers = cluster.plan.run(model, Query(as_findings(None, model.variables)))
        tables = {scope.names: answers.marginal(scope.names)[0] for scope in scopes}
        energy = sum(float(expect(tables[part.scope.names], part.log_values)) for part in factors)
        return Belief(tables, float(answers.log_evidence[0]) - energy, answers)

    def expected_log(self, index: int, at: int, beliefs: Sequence[Belief]) -> np.ndarray:
        """E[log f | x_C] over what of the scope lies in the cluster `at`; of no cluster a number, if `at` is -1."""
        names, logs = self.factors[index].scope.names, self.factors[index].log_values
        kept = [name for name in names if self.owners[name] == at]
        order, weights = list(kept), np.ones(())
        for other in dict.fromkeys(self.owners[name] for name in names if self.owners[name] != at):
            part = tuple(name for name in names if self.owners[name] == other)
            weights = np.multiply.outer(weights, beliefs[other].marginals[part])
            order += part
        moved = logs.transpose([names.index(name) for name in order])
        return expect(weights, moved)

    def bound(self, beliefs: Sequence[Belief]) -> float:
        """Σ E log f + Σ entropies; the evidence is a factor of each variable."""
        energy = sum(float(self.expected_log(index, -1, beliefs)) for index in range(len(self.factors)))
        for cluster, belief in zip(self.clusters, beliefs, strict=True):
            energy += sum(float(expect(belief.marginals[name,], self.fields[name])) for name in cluster.names)
        return energy + sum(belief.entropy for belief in beliefs)


def expect(weights: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Σ weight · log over the last axes, those of the weights; what has no weight may be -inf."""
    axes = tuple(range(logs.ndim - weights.ndim, logs.ndim))
    with np.errstate(invalid="ignore"):
        return np.where(weights > 0, weights * logs, 0.0).sum(axis=axes)
