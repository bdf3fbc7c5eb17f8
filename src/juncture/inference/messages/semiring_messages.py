"""`semiring_messages`: messages on a factor graph without cycles, with the two operations of any semiring.

A variable multiplies what it receives, a factor multiplies its table with what it receives and adds up the other
variables. Sum-product and max-product are two cases; `sum_product` and `max_product` have them in logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.inference.exact.elimination.semiring import Semiring, as_semiring
from juncture.inference.messages.rules import Edge
from juncture.inference.messages.tree_messages import Parents, check_forest, children, collect_order, find_parents
from juncture.networks.factor_product import FactorGraph
from juncture.variables import Scope


@dataclass(frozen=True, eq=False, repr=False)
class SemiringMessages:
    """A finished run: all messages, in the order in which they were sent.

    Attributes
    ----------
    graph, semiring
        What was passed on, and the operations.
    messages
        (sender, receiver) → an element for each state of the variable; one of the two is a factor (f0, f1, …).
    """

    graph: FactorGraph
    semiring: Semiring
    parents: Parents
    own: dict[str, tuple[tuple[str, ...], np.ndarray]]  # node → (its variables, its table or the product of evidence)
    messages: dict[Edge, np.ndarray]

    def belief(self, node: str) -> np.ndarray:
        """The product of all messages to a variable or a factor and of its own table: the rest summed out."""
        return self._multiply(node, self.graph.graph.neighbors(node))

    @property
    def total(self) -> np.ndarray:
        """The sum over all assignments of the product of all factors, from the roots of all trees."""
        result = np.asarray(self.semiring.one)
        for node, parent in self.parents.items():
            if parent is None:
                table = self.belief(node)
                while table.ndim:
                    table = self.semiring.sum_out(table)
                result = np.asarray(self.semiring.multiply(result, table))
        return result

    def _multiply(self, node: str, senders: Any) -> np.ndarray:
        names, table = self.own[node]
        numbers = {name: number for number, name in enumerate(names)}
        received = [
            ((numbers[sender if sender in numbers else node],), self.messages[sender, node]) for sender in senders
        ]
        return self.semiring.product([(tuple(numbers.values()), table), *received], list(numbers.values()))

    def _send(self, sender: str, receiver: str) -> None:
        senders = [other for other in self.graph.graph.neighbors(sender) if other != receiver]
        table, (names, _) = self._multiply(sender, senders), self.own[sender]
        kept = receiver if receiver in names else sender
        for axis in range(len(names) - 1, -1, -1):
            if names[axis] != kept:
                table = self.semiring.sum_out(table, axis)
        self.messages[sender, receiver] = table

    def __repr__(self) -> str:
        return f"SemiringMessages({len(self.messages)} messages, total {self.total!r})"


def semiring_messages(graph: Any, semiring: Any, evidence: Any = None, *, root: str | None = None) -> SemiringMessages:
    """Pass messages of any semiring on a factor graph without cycles, to a root and back.

    Parameters
    ----------
    graph
        A `FactorGraph` without cycles.
    semiring
        A `Semiring`, or the name of one as in `eliminate`.
    evidence
        One row, as in `infer`.
    root
        The variable, or the factor by its name f0, f1, …, at which messages are collected.

    Returns
    -------
    SemiringMessages
        All `messages`, the `belief` of each node, and the `total`.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> run = semiring_messages(example("weather").to_factor_graph(), "counting")
    >>> int(run.total)
    12
    """
    check_forest(graph)
    ring = as_semiring(semiring)
    own = own_tables(graph, ring, evidence)
    run = SemiringMessages(graph, ring, find_parents(graph.graph, root), own, {})
    for node, parent in collect_order(run.parents):
        run._send(node, parent)
    for node, below in children(run.parents).items():
        for child in below:
            run._send(node, child)
    return run


def own_tables(graph: FactorGraph, semiring: Semiring, evidence: Any) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Node → (its variables, its lifted table); of a variable the evidence on it, or ones."""
    names, tables = graph.variables.names, semiring.tables_of(graph, evidence)
    scopes = {name: graph.factors[index].scope for index, name in enumerate(graph.factor_names)}
    own = {name: (scopes[name].names, table) for name, (_, table) in zip(graph.factor_names, tables, strict=False)}
    for variable in Scope(graph.variables):
        own[variable.name] = (variable.name,), np.full(variable.num_states, semiring.one)
    for (node,), table in tables[len(graph.factors) :]:
        own[names[node]] = (names[node],), table
    return own
