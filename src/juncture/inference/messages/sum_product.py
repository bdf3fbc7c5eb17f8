"""`sum_product`, `max_product` and `semiring_messages` on a factor graph without cycles, with every message kept.

Choose it to see messages and schedules; `infer` gives the same marginals faster, on any graph. Cost: each factor's
table twice for each of its variables (Pearl 1982; Kschischang, Frey and Loeliger 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import Query
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.log_tables import largest
from juncture.inference.exact.semiring import Semiring, as_semiring
from juncture.inference.messages.tree_messages import (
    Edge,
    Parents,
    Schedule,
    TreeMessages,
    check_forest,
    find_parents,
    pass_messages,
    tree_order,
)
from juncture.networks.factor_product import FactorGraph
from juncture.numerics import stable
from juncture.variables import Assignment, Scope


class SumProduct(TreeMessages):
    """A finished run of sum-product: messages, their schedule, marginals, and log p(evidence) or log Z."""

    @property
    def log_evidence(self) -> float:
        """Log of the sum of all products of factors where the evidence holds: the same at every root."""
        return self.log_total

    @cached_property
    def marginals(self) -> dict[str, Factor]:
        """Variable → p(variable | evidence)."""
        return {name: self.belief(name) for name in self.graph.variables.names}

    def belief(self, node: str) -> Factor:
        """p(variable | evidence), or for the name of a factor p(its scope | evidence)."""
        log = self.log_belief(node)
        return Factor(self.rules.scope(node), np.exp(log - log.max())).normalize()


def sum_product(
    graph: Any, evidence: Any = None, *, root: str | None = None, schedule: Schedule = "tree"
) -> SumProduct:
    """Pass sum-product messages on a factor graph without cycles.

    Parameters
    ----------
    graph
        A `FactorGraph` without cycles.
    evidence
        One row, as in `infer`.
    root
        The variable, or the factor by its name f0, f1, …, at which messages are collected.
    schedule
        "tree" collects messages at the root and distributes them from there; "flooding" sends all messages in every
        round until none changes.

    Returns
    -------
    SumProduct
        The `messages`, their `schedule`, the `marginals` and `log_evidence`.

    Examples
    --------
    >>> from juncture.factors.factor import Factor
    >>> from juncture.networks.factor_product import FactorGraph
    >>> from juncture.variables import Variable
    >>> x, y = Variable("x", 2), Variable("y", 2)
    >>> print(sum_product(FactorGraph([Factor([x, y], [[1, 2], [3, 4]])]), root="y"))
    x → f0: [1, 1]
    f0 → y: [4, 6]
    y → f0: [1, 1]
    f0 → x: [3, 7]
    """
    run = pass_messages(SumProduct, stable.log_sum_exp, graph, evidence, root, schedule)
    check_possible_run(run)
    return run


def check_possible_run(run: TreeMessages) -> None:
    """Raise when the evidence has probability zero, with the findings that contradict each other."""
    if run.log_total == -np.inf:
        check_possible(Beliefs.of(run.graph, JunctionTree(), Query(run.findings)))


class MaxProduct(TreeMessages):
    """A finished run of max-product: messages, their schedule, and a most probable assignment."""

    @property
    def log_joint(self) -> float:
        """Log of the largest product of factors where the evidence holds."""
        return self.log_total

    @cached_property
    def assignment(self) -> Assignment:
        """A state for every variable that was not observed, together most probable; of several such, one."""
        return {
            name: variable.labels[self._codes[name]]
            for name, variable in self.rules.variables.items()
            if name not in self.findings.codes
        }

    @cached_property
    def _codes(self) -> dict[str, int]:
        """From the roots outwards: the best state of a root, then of the further variables of each factor."""
        codes: dict[str, int] = {}
        for node, parent in self.parents.items():
            log = self.log_belief(node)
            if node in self.rules.factors:
                names = self.rules.factors[node].scope.names
                rest = log[tuple(codes.get(name, slice(None)) for name in names)]
                best = np.unravel_index(int(rest.argmax()), rest.shape)
                codes |= dict(zip([name for name in names if name not in codes], map(int, best), strict=True))
            elif parent is None:
                codes[node] = int(log.argmax())
        return codes


def max_product(
    graph: Any, evidence: Any = None, *, root: str | None = None, schedule: Schedule = "tree"
) -> MaxProduct:
    """Pass max-product messages on a factor graph without cycles.

    Parameters
    ----------
    graph, evidence, root, schedule
        As in `sum_product`.

    Returns
    -------
    MaxProduct
        The `messages`, their `schedule`, the `assignment` and its `log_joint`.

    Examples
    --------
    >>> import juncture as jt
    >>> chain = jt.example("weather").to_factor_graph()
    >>> jt.messages.max_product(chain).assignment == jt.most_probable(chain).assignment
    True
    """
    run = pass_messages(MaxProduct, largest, graph, evidence, root, schedule)
    check_possible_run(run)
    return run


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
                total = self.semiring.sum_to(self.belief(node), self.own[node][0])
                result = np.asarray(self.semiring.multiply(result, total))
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
        names, _ = self.own[sender]
        kept = receiver if receiver in names else sender
        self.messages[sender, receiver] = self.semiring.sum_to(self._multiply(sender, senders), names, (kept,))

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
    for node, receivers in tree_order(run.parents):
        for receiver in receivers:
            run._send(node, receiver)
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
