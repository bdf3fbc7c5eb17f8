"""Message passing on a factor graph without cycles: two schedules, and all messages of a finished run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from juncture.base.checks import check_choice, check_kind
from juncture.data.findings import Findings
from juncture.errors import InvalidData, InvalidModel, UnknownVariable, Unsupported
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.factors.scope_tables import broadcast_to_scope
from juncture.graphs.undirected import UndirectedGraph
from juncture.inference.exact.log_tables import Eliminate, sums_without_each
from juncture.networks.factor_product import FactorGraph
from juncture.variables import Scope, Variable

Parents: TypeAlias = Mapping[str, str | None]
"""Node → the next node on the path to the root, None at a root; nodes come breadth first."""


def find_parents(graph: UndirectedGraph, root: str | None = None) -> Parents:
    """The parent of each node when edges point away from the root; other components start at their first nodes."""
    parents: dict[str, str | None] = {}
    if root is not None:
        check_kind(root, str, "the root")
    for start in graph.nodes if root is None else (root, *graph.nodes):
        if start in parents:
            continue
        parents[start] = None
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for other in graph.neighbors(node):
                if other not in parents:
                    parents[other] = node
                    queue.append(other)
    return parents


def find_cycle(graph: UndirectedGraph) -> list[str] | None:
    """Nodes along a cycle, the first again at the end; None if the graph is a forest."""
    parents = find_parents(graph)
    for one, other in graph.edges:
        if parents[one] != other and parents[other] != one:
            up, down = path_to_root(one, parents), path_to_root(other, parents)
            meeting = next(node for node in up if node in set(down))
            return [*up[: up.index(meeting) + 1], *reversed(down[: down.index(meeting)]), one]
    return None


def path_to_root(node: str, parents: Parents) -> list[str]:
    path, above = [node], parents[node]
    while above is not None:
        path.append(above)
        above = parents[above]
    return path


def tree_order(parents: Parents) -> Iterator[tuple[str, list[str]]]:
    """(sender, receivers): each node to its parent, the deepest first, then from the roots each to its children.

    A node sends after it has received all messages that it depends on.
    """
    depths: dict[str, int] = {}
    below: dict[str, list[str]] = {node: [] for node in parents}
    for node, parent in parents.items():
        depths[node] = 0 if parent is None else depths[parent] + 1
        if parent is not None:
            below[parent].append(node)
    for node in sorted(parents, key=lambda node: -depths[node]):
        parent = parents[node]
        if parent is not None:
            yield node, [parent]
    yield from ((node, receivers) for node, receivers in below.items() if receivers)


Schedule: TypeAlias = Literal["tree", "flooding"]


@dataclass(frozen=True, eq=False, repr=False)
class TreeMessages:
    """A finished run: all messages, and the order in which they were sent."""

    rules: MessageRules
    findings: Findings
    parents: Parents
    logs: Logs
    schedule: tuple[Edge, ...]

    @property
    def graph(self) -> FactorGraph:
        """The factor graph that the messages were passed on."""
        return self.rules.graph

    @cached_property
    def messages(self) -> MappingProxyType[Edge, Message]:
        """(sender, receiver) → message; one of the two is a variable, the other a factor (f0, f1, …)."""
        variables = self.rules.variables
        return by_edge(
            Message(sender, receiver, variables[receiver if sender in self.rules.factors else sender], log)
            for (sender, receiver), log in self.logs.items()
        )

    def log_belief(self, node: str) -> np.ndarray:
        """Log of the product of all messages to a variable (or to a factor, with its table); not normalised."""
        self.graph.graph.neighbors(node)  # an unknown name is refused here
        return self.rules.log_belief(node, self.logs)

    @cached_property
    def log_total(self) -> float:
        """Log of the sum (or maximum) of the product of all factors and likelihoods, from the roots of all trees."""
        roots = [self.log_belief(node) for node, parent in self.parents.items() if parent is None]
        return float(sum(self.rules.eliminate(log, tuple(range(log.ndim))) for log in roots))

    def __str__(self) -> str:
        """A line for each message, in the order of the schedule."""
        return "\n".join(repr(self.messages[edge]) for edge in dict.fromkeys(self.schedule))

    def __repr__(self) -> str:
        sizes = f"{len(self.graph.variables)} variables, {len(self.graph.factors)} factors"
        return f"{type(self).__name__}({sizes}, {len(self.logs)} messages, log total {self.log_total:.6g})"


Run = TypeVar("Run", bound=TreeMessages)


def pass_messages(
    kind: type[Run], eliminate: Eliminate, graph: Any, evidence: Any, root: str | None, schedule: Schedule
) -> Run:
    """A run on a factor graph that has no cycle."""
    check_forest(graph)
    findings = as_findings(evidence, graph.variables)
    if not findings.is_single:
        raise InvalidData(f"messages are passed for one row of evidence; got {findings.num_rows} rows")
    check_choice(schedule, ("tree", "flooding"), "schedule")
    rules = MessageRules(graph, log_likelihoods(graph, findings), eliminate)
    parents = find_parents(graph.graph, root)
    logs, order = flood(rules) if schedule == "flooding" else collect_and_distribute(rules, parents)
    return kind(rules, findings, parents, logs, order)


def check_forest(graph: Any) -> None:
    if not isinstance(graph, FactorGraph):
        raise Unsupported(f"messages are passed on a FactorGraph; got {type(graph).__name__}: call to_factor_graph()")
    cycle = find_cycle(graph.graph)
    if cycle is not None:
        indices = sorted(index for index, name in enumerate(graph.factor_names) if name in cycle)
        raise InvalidModel(
            f"messages are exact on factor graphs without cycles, and {' – '.join(cycle)} is one; "
            f"merge({', '.join(map(str, indices))}) makes one factor of those on it, infer answers as it is"
        )


def log_likelihoods(graph: FactorGraph, findings: Findings) -> dict[str, np.ndarray]:
    """Variable → log p(finding | state), 0 where nothing was found."""
    logs = {variable.name: np.zeros(variable.num_states) for variable in graph.variables}
    found = {name: findings.log_likelihood(name) for name in findings.names}
    return logs | {name: log[0] for name, log in found.items() if log is not None}


def collect_and_distribute(rules: MessageRules, parents: Parents) -> Sent:
    """From the leaves to the roots, then back: every message once, after the messages that it depends on."""
    logs: Logs = {}
    for node, receivers in tree_order(parents):
        logs |= rules.send(node, receivers, logs)
    return logs, tuple(logs)


def flood(rules: MessageRules) -> Sent:
    """All messages in every round, from messages that are 1 everywhere, until none changes.

    That takes at most as many rounds as the longest path has edges.
    """
    logs: Logs = {}
    order: list[Edge] = []
    sent = send_all(rules, logs)
    while not is_same(sent, logs):
        logs = sent
        order.extend(logs)
        sent = send_all(rules, logs)
    return logs, tuple(order)


def send_all(rules: MessageRules, logs: Logs) -> Logs:
    graph, sent = rules.graph.graph, Logs()
    for node in graph.nodes:
        sent |= rules.send(node, graph.neighbors(node), logs)
    return sent


def is_same(these: Logs, those: Logs) -> bool:
    return these.keys() == those.keys() and all(np.array_equal(log, those[edge]) for edge, log in these.items())


Edge: TypeAlias = tuple[str, str]
"""(sender, receiver)."""
LARGEST_LOG = 700.0  # beyond, exp leaves the range of doubles


@dataclass(frozen=True, eq=False, repr=False)
class Message:
    """A number for each state of the variable, kept as its logarithm: products of any length stay in range."""

    sender: str
    receiver: str
    variable: Variable
    log_values: np.ndarray  # (state,)

    @property
    def log_scale(self) -> float:
        """The largest of the logarithms."""
        return float(self.log_values.max())

    @property
    def is_in_range(self) -> bool:
        return bool(abs(self.log_scale) <= LARGEST_LOG or self.log_scale == -np.inf)

    @property
    def values(self) -> np.ndarray:
        """The numbers themselves, not normalised, as a textbook writes them."""
        if not self.is_in_range:
            raise InvalidData(
                f"the message from {self.sender!r} to {self.receiver!r} is of the size exp({self.log_scale:.6g}), "
                "which no double holds; read its `log_values`, or `normalized`"
            )
        return np.exp(self.log_values)

    @property
    def normalized(self) -> Factor:
        """The message divided by its sum."""
        if self.log_scale == -np.inf:
            return Factor([self.variable], np.zeros(self.variable.num_states)).normalize()  # refused, with words
        return Factor([self.variable], np.exp(self.log_values - self.log_scale)).normalize()

    def __repr__(self) -> str:
        scale = 0.0 if self.is_in_range else self.log_scale
        numbers = ", ".join(f"{number:.6g}" for number in np.exp(self.log_values - scale))
        return f"{self.sender} → {self.receiver}: {f'exp({scale:.6g}) · ' if scale else ''}[{numbers}]"


class MessagesByEdge(dict[Edge, Message]):
    """(sender, receiver) → message."""

    def __missing__(self, edge: object) -> Message:
        raise UnknownVariable(
            f"no message goes along {edge!r}; ask for (sender, receiver), a factor and one of its variables"
        )


def by_edge(messages: Iterable[Message]) -> MappingProxyType[Edge, Message]:
    return MappingProxyType(MessagesByEdge({(message.sender, message.receiver): message for message in messages}))


Logs: TypeAlias = dict[Edge, np.ndarray]
"""(sender, receiver) → logarithms of the message, (state,); a message not yet sent is 1 everywhere."""
Sent: TypeAlias = tuple[Logs, tuple[Edge, ...]]
"""All messages, and (sender, receiver) in the order in which they were sent."""


@dataclass(frozen=True, eq=False)
class MessageRules:
    """A factor graph, log p(finding | state) of every variable, and the operation that removes variables: Σ or max."""

    graph: FactorGraph
    log_likelihoods: Mapping[str, np.ndarray]
    eliminate: Eliminate

    @cached_property
    def factors(self) -> dict[str, Factor]:
        return dict(zip(self.graph.factor_names, self.graph.factors, strict=True))

    @cached_property
    def variables(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.graph.variables}

    def scope(self, node: str) -> Scope:
        """The scope of a factor, or of the variable alone."""
        return self.factors[node].scope if node in self.factors else Scope([self.variables[node]])

    def send(self, sender: str, receivers: Sequence[str], logs: Logs) -> Logs:
        """The messages of a node to these neighbours, given the messages that it has received."""
        rule = self.from_factor if sender in self.factors else self.from_variable
        return {(sender, receiver): log for receiver, log in zip(receivers, rule(sender, receivers, logs), strict=True)}

    def from_variable(self, name: str, receivers: Sequence[str], logs: Logs) -> list[np.ndarray]:
        own = self.log_likelihoods[name]
        indices = {factor: index for index, factor in enumerate(self.graph.graph.neighbors(name))}
        received = np.array([logs.get((factor, name), np.zeros_like(own)) for factor in indices])  # (factor, state)
        others = own + sums_without_each(received.reshape(len(indices), len(own)))
        return [others[indices[receiver]] for receiver in receivers]

    def from_factor(self, name: str, receivers: Sequence[str], logs: Logs) -> list[np.ndarray]:
        names = self.factors[name].scope.names
        sent = []
        for receiver in receivers:
            others = [other for other in names if other != receiver]
            axes = tuple(axis for axis, other in enumerate(names) if other != receiver)
            sent.append(self.eliminate(self.log_table(name, others, logs), axes))
        return sent

    def log_table(self, name: str, senders: Sequence[str], logs: Logs) -> np.ndarray:
        """The logarithms of a factor plus those of the messages from some of its variables."""
        factor = self.factors[name]
        total = factor.log_values
        for sender in senders:
            if (sender, name) in logs:
                total = total + broadcast_to_scope(logs[sender, name], factor.scope, sender)
        return total

    def log_belief(self, node: str, logs: Logs) -> np.ndarray:
        """The log of the product of all messages to a variable or a factor, and of its own evidence or table."""
        if node in self.factors:
            return self.log_table(node, self.factors[node].scope.names, logs)
        own = self.log_likelihoods[node]
        return sum((logs[factor, node] for factor in self.graph.graph.neighbors(node)), own)
