"""Limited-memory influence diagrams: which parents a decision needs, and in which order decisions are solved exactly.

A parent x of a decision d is requisite unless the utilities that d can change are separated from x by d and its other
parents. A decision is extremal if d and its parents separate these utilities from all other decisions and their
parents: its best rule does not depend on theirs. Where decisions can be solved one extremal decision after the
other, the policy found is optimal (Lauritzen and Nilsson 2001). With perfect recall that is always so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from juncture.graphs.directed import DirectedGraph
from juncture.networks.decision_network import DecisionNetwork

FINDING = "finding on "  # the node of a likelihood, which stands below the variable that it is about


@dataclass(frozen=True)
class LimitedMemory:
    """The graph of a decision network, what each decision knows, and what is observed.

    `information` has the decisions in the order in which they are taken, and leaves out what is observed.
    """

    edges: tuple[tuple[str, str], ...]  # into chance variables and utilities
    nodes: tuple[str, ...]
    utilities: frozenset[str]
    information: Mapping[str, tuple[str, ...]]
    observed: frozenset[str]

    @property
    def graph(self) -> DirectedGraph:
        known = [(parent, name) for name, parents in self.information.items() for parent in parents]
        return DirectedGraph([*self.edges, *known], nodes=self.nodes)

    def affected(self, graph: DirectedGraph, decision: str) -> set[str]:
        """The utilities that a decision can change."""
        return graph.descendants({decision}) & self.utilities

    def with_requisite(self) -> LimitedMemory:
        """The same problem with what makes no difference to a decision left out of what it knows."""
        current = self
        while (smaller := current._without_one()) is not None:
            current = smaller
        return current

    def _without_one(self) -> LimitedMemory | None:
        graph = self.graph
        for decision, parents in reversed(list(self.information.items())):
            affected = self.affected(graph, decision)
            for parent in parents:
                others = tuple(name for name in parents if name != parent)
                if not affected or graph.is_separated(affected, {parent}, given={decision, *others} | self.observed):
                    return replace(self, information={**self.information, decision: others})
        return None

    def find_extremal(self, unsolved: Sequence[str]) -> str | None:
        """The last decision whose best rule does not depend on those of the other unsolved ones."""
        graph = self.graph
        for decision in reversed(unsolved):
            family = {decision, *self.information[decision]}
            others = {name for other in unsolved for name in (other, *self.information[other])} - family
            affected = self.affected(graph, decision)
            if not affected or not others or graph.is_separated(affected, others, given=family | self.observed):
                return decision
        return None


def describe_memory(
    network: DecisionNetwork, observed: frozenset[str], soft: frozenset[str], *, no_forgetting: bool
) -> LimitedMemory:
    """What each decision knows: its parents, and with perfect recall all that earlier decisions knew and did."""
    information: dict[str, tuple[str, ...]] = {}
    past: list[str] = []
    for decision in network.decisions:
        parents = [*(past if no_forgetting else ()), *decision.parents.names]
        known = [name for name in dict.fromkeys(parents) if name not in observed]
        information[decision.variable.name] = tuple(sorted(known, key=network.variables.axis))
        past += [*decision.parents.names, decision.variable.name]
    edges = [edge for edge in network.graph.edges if edge[1] not in information]
    findings = {name: FINDING + name for name in soft}
    return LimitedMemory(
        (*edges, *findings.items()),
        (*network.graph.nodes, *findings.values()),
        frozenset(str(utility.name) for utility in network.utilities),
        information,
        observed | frozenset(findings.values()),
    )
