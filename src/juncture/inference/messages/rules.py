"""The messages between the nodes of a factor graph, and the rules that compute them.

A variable sends a factor the product of its own evidence and of the messages from its other factors:
μ(x → f) = p(finding | x) Π μ(g → x). A factor multiplies its table with the messages from its other variables and sums
(or maximises) these variables out: μ(f → x) = Σ f Π μ(y → f) (Kschischang, Frey and Loeliger 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from juncture.errors import InvalidData, UnknownVariable
from juncture.factors.factor import Factor
from juncture.factors.tables import broadcast_to_scope
from juncture.networks.factor_product import FactorGraph
from juncture.variables import Scope, Variable

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
Eliminate: TypeAlias = Callable[[np.ndarray, tuple[int, ...]], np.ndarray]
"""Removes axes from a table of logarithms: by log-sum-exp or by the maximum."""


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


def sums_without_each(rows: np.ndarray) -> np.ndarray:
    """For each row the sum of all others; by sums from both ends, for -inf cannot be subtracted again."""
    nothing = np.zeros_like(rows[:1])
    before = np.cumsum(np.concatenate([nothing, rows[:-1]]), axis=0)
    after = np.cumsum(np.concatenate([nothing, rows[:0:-1]]), axis=0)[::-1]
    return before + after
