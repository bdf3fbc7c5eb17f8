"""How the decisions of an influence diagram are solved: what each needs to know, and two algorithms for the best rules.

`LimitedMemory`: a parent x of a decision d is requisite unless the utilities that d can change are separated from x by
d and its other parents. A decision is extremal if d and its parents separate these utilities from all other decisions
and their parents: its best rule does not depend on theirs. Where decisions can be solved one extremal decision after
the other, the policy found is optimal (Lauritzen and Nilsson 2001). With perfect recall that is always so.

`Tables`: probabilities and expected utilities come from one elimination, in the semiring of pairs (p, u). A pair holds
Σ p(x) and Σ p(x) · u(x) over some assignments x. Pairs of disjoint assignments add up, and those of independent parts
multiply as (p, u) · (q, v) = (p q, p v + u q), which distributes over the sum. Pairs are kept as complex numbers
p + i u, which add up in the same way; their product is another one.

`eliminate_strongly`: all variables go out of one product. With perfect recall they have a partial order: what is known
before the first decision, the decision, what is learned before the second, and so on, last what is never observed. They
are eliminated in the reverse of it. Chance variables are summed out of pairs (p, u); a decision takes the maximum of
u / p, the expected utility of what is still to come (Jensen, Jensen and Dittmer 1994; Koller and Friedman 2009, section
23.3).

`PolicySearch`: single-policy updating improves the rules of a policy one by one (Lauritzen and Nilsson 2001). With all
other rules fixed, the best rule for a decision takes in each joint state of its parents the action with the largest
Σ p · u over the utilities that it can change. An extremal decision is solved once, whatever the others do; the rest is
repeated until no rule can be improved alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from juncture.graphs.directed import DirectedGraph
from juncture.inference.exact.elimination import EliminationStep, good_order, plan_elimination
from juncture.inference.exact.log_tables import reduce_to
from juncture.inference.exact.semiring import Semiring, Table, eliminate_steps
from juncture.networks.decision_network import DecisionNetwork
from juncture.numerics.iteration import iterate
from juncture.variables import Scope

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


def multiply_pairs(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one, other = np.asarray(one), np.asarray(other)
    product = np.empty(np.broadcast_shapes(one.shape, other.shape), np.complex128)
    product.real = one.real * other.real
    product.imag = one.real * other.imag + one.imag * other.real
    return product


def as_pairs(values: np.ndarray) -> np.ndarray:
    """Probabilities as pairs without utility."""
    return np.asarray(values, np.complex128)


PAIRS = Semiring(np.add, multiply_pairs, 0j, 1 + 0j, as_pairs)


@dataclass(frozen=True, eq=False)
class WeightedTable:
    """For each joint state of a scope, p(state, evidence) and that probability times the expected utility."""

    scope: Scope
    weights: np.ndarray
    weighted_utilities: np.ndarray

    @property
    def utilities(self) -> np.ndarray:
        """The expected utility given each joint state; NaN where the state cannot occur."""
        quotient = np.full(self.weights.shape, np.nan)
        return np.divide(self.weighted_utilities, self.weights, out=quotient, where=self.weights > 0)


@dataclass(frozen=True, eq=False)
class Tables:
    """The variables of a decision network by position, and the numbers of its parts as tables of pairs."""

    variables: Scope
    chance: tuple[Table, ...]
    utilities: Mapping[str, Table]
    evidence: tuple[Table, ...]

    def table(self, scope: Iterable[str], values: np.ndarray) -> Table:
        """A table of probabilities, as pairs without utility."""
        return tuple(self.variables.axis(name) for name in scope), as_pairs(values)

    def sum_out(self, keep: Sequence[str], policies: Iterable[Table], utilities: Iterable[str]) -> WeightedTable:
        """All variables but `keep` summed out of the product of the tables, the policies and these utilities."""
        sizes = self.variables.shape
        worth = [self.utilities[name] for name in utilities]
        tables = [*self.chance, *policies, *worth, *self.evidence, *PAIRS.ones(sizes)]
        kept = [self.variables.axis(name) for name in keep]
        plan = plan_elimination([scope for scope, _ in tables], sizes, keep=frozenset(kept), memory_limit=None)
        pairs = PAIRS.product(eliminate_steps(PAIRS, plan, tables), kept)
        return WeightedTable(Scope(self.variables[node] for node in kept), pairs.real, pairs.imag)


TIE = 1e-12  # of the larger utility: a smaller difference is rounding, and the earlier action is taken


@dataclass(frozen=True, eq=False)
class Rule:
    """The action for each joint state of the parents, as codes."""

    name: str
    parents: tuple[str, ...]
    codes: np.ndarray

    def table(self, tables: Tables) -> Table:
        """The rule as a table of ones and zeros, the parents first."""
        num_actions = tables.variables.variable(self.name).num_states
        return tables.table((*self.parents, self.name), np.eye(num_actions)[self.codes])


Rules: TypeAlias = dict[str, Rule]


def best_actions(weighted: np.ndarray) -> np.ndarray:
    """The first action, along the last axis, that is as good as the best one."""
    slack = TIE * np.abs(weighted).max(axis=-1, keepdims=True)
    return np.asarray((weighted >= weighted.max(axis=-1, keepdims=True) - slack).argmax(axis=-1))


def eliminate_strongly(tables: Tables, memory: LimitedMemory, requisite: LimitedMemory) -> Rules:
    """The best rule for each decision, over the requisite part of what it knows."""
    sizes = tables.variables.shape
    parts = [*tables.chance, *tables.utilities.values(), *tables.evidence, *PAIRS.ones(sizes)]
    decisions = {tables.variables.axis(name): name for name in memory.information}
    order = strong_order(tables, memory, [scope for scope, _ in parts])
    plan = plan_elimination([scope for scope, _ in parts], sizes, memory_limit=None, order=order)
    rules: Rules = {}

    def eliminate(step: EliminationStep, product: np.ndarray) -> np.ndarray:
        if step.node not in decisions:
            return PAIRS.sum_out(product)
        name = decisions[step.node]
        rules[name] = find_rule(tables, requisite, name, step.nodes, product)
        return take_best(product)

    eliminate_steps(PAIRS, plan, parts, eliminate)
    return {name: rules[name] for name in memory.information}


def strong_order(tables: Tables, memory: LimitedMemory, scopes: Sequence[Sequence[int]]) -> list[int]:
    """All variables: those learned after the last decision first, inside each stage in an order of small tables."""
    axis = tables.variables.axis
    rank = dict.fromkeys(range(len(tables.variables)), 2 * len(memory.information))
    for number, (name, parents) in enumerate(memory.information.items()):
        for parent in parents:
            rank[axis(parent)] = min(rank[axis(parent)], 2 * number)
        rank[axis(name)] = 2 * number + 1
    return sorted(good_order(scopes, tables.variables.shape), key=lambda node: -rank[node])


def find_rule(tables: Tables, requisite: LimitedMemory, name: str, nodes: Sequence[int], product: np.ndarray) -> Rule:
    """The best actions, with what makes no difference summed out of the weighted utilities first."""
    names = [tables.variables.names[node] for node in nodes]
    kept = tuple(known for known in requisite.information[name] if known in names)
    weighted = reduce_to(product.imag, (*names, name), (*kept, name), np.sum)
    return Rule(name, kept, best_actions(weighted))


def take_best(product: np.ndarray) -> np.ndarray:
    """The pair of the best action, along the last axis.

    The probability of the past is the same for every action; where that is 0, so is the pair.
    """
    best = best_actions(product.imag)[..., np.newaxis]
    return np.asarray(np.take_along_axis(product, best, axis=-1)[..., 0])


@dataclass(frozen=True, eq=False)
class PolicySearch:
    """The search for the rules of all decisions of a problem whose decisions know requisite parents only."""

    tables: Tables
    memory: LimitedMemory

    def run(self, starts: int, rng: np.random.Generator) -> tuple[Rules, bool]:
        """The rules, and whether they are optimal."""
        memory, solved = self.memory, Rules()
        unsolved = list(memory.information)
        while unsolved and (extremal := memory.find_extremal(unsolved)) is not None:
            unsolved.remove(extremal)
            others = [*(rule.table(self.tables) for rule in solved.values()), *map(self._uniform, unsolved)]
            solved[extremal] = self._improve(memory, extremal, others)
        if not unsolved:
            return solved, True
        climbs = [LocalSearch(self, memory, solved, unsolved, rng if start else None) for start in range(starts)]
        ended = [(climb, iterate(climb, tolerance=0.0)[0]) for climb in climbs]
        values = [climb.objective(rules) for climb, rules in ended]
        return ended[int(np.argmax(values))][1], False

    def _uniform(self, name: str) -> Table:
        count = self.tables.variables.variable(name).num_states
        return self.tables.table([name], np.full(count, 1.0 / count))

    def _improve(self, memory: LimitedMemory, name: str, others: Sequence[Table]) -> Rule:
        parents = memory.information[name]
        affected = memory.affected(memory.graph, name)
        summed = self.tables.sum_out((*parents, name), others, affected)
        return Rule(name, parents, best_actions(summed.weighted_utilities))

    def _draw(self, memory: LimitedMemory, name: str, rng: np.random.Generator) -> Rule:
        variable = self.tables.variables.variable
        shape = tuple(variable(parent).num_states for parent in memory.information[name])
        return Rule(name, memory.information[name], rng.integers(variable(name).num_states, size=shape))


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """Rules improved in turn, from uniform or from drawn ones; a step goes once through all unsolved decisions."""

    search: PolicySearch
    memory: LimitedMemory
    solved: Rules
    unsolved: Sequence[str]
    rng: np.random.Generator | None

    def init(self) -> Rules:
        if self.rng is not None:
            drawn = {name: self.search._draw(self.memory, name, self.rng) for name in self.unsolved}
            return self.step({**self.solved, **drawn})
        return self.step(dict(self.solved))

    def step(self, rules: Rules) -> Rules:
        rules = dict(rules)
        for name in reversed(self.unsolved):
            tables = self.search.tables
            others = [rule.table(tables) for other, rule in rules.items() if other != name]
            others += [self.search._uniform(other) for other in self.unsolved if other not in rules and other != name]
            rules[name] = self.search._improve(self.memory, name, others)
        return rules

    def objective(self, rules: Rules) -> float:
        tables = self.search.tables
        followed = [rule.table(tables) for rule in rules.values()]
        return float(tables.sum_out((), followed, tables.utilities).utilities)
