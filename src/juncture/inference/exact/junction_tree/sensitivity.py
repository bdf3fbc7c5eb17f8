"""`sensitivity`: how an answer changes with every entry of every table.

The probability of evidence is linear in each table entry. Its derivative is the sum of the products of all other
factors, which is the product of the messages to the clique that holds the table. Messages towards the root and back
give the derivatives of all tables at once, without division, so zero entries have derivatives too (Darwiche 2003).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from juncture import numerics
from juncture.errors import ImpossibleEvidence, InvalidData, Unsupported
from juncture.evidence import as_findings
from juncture.inference.exact.elimination.buckets import LogFactor, multiply
from juncture.inference.exact.junction_tree.engine import scopes_of
from juncture.inference.exact.junction_tree.plan import CliquePlan, compile_plan
from juncture.inference.exact.lowering import Lowered
from juncture.kernels.junction_tree.layout import PARENT
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import State


def sensitivity(model: Any, evidence: Any = None, *, target: tuple[str, State] | None = None) -> dict[Any, np.ndarray]:
    """The derivative of p(target | evidence), or without target of log p(evidence), by each table entry.

    Each entry is varied alone: rows are not kept at a sum of 1.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    evidence
        One row, as in `infer`.
    target
        A pair of variable and state.

    Returns
    -------
    dict
        For each table an array of its shape: by the child's name in a Bayesian network, else by the position of the
        factor.
    """
    names = table_names(model)
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("sensitivity takes one row of evidence; call it for each row")
    known = [LogFactor((node,), logs[0]) for node, logs in log_likelihoods(model, findings)]
    log_total, slopes = log_derivatives(model, known)
    if log_total == -np.inf:
        raise ImpossibleEvidence("the evidence has probability zero: there is nothing to differentiate")
    of_evidence = [derivative(slope - log_total, name) for slope, name in zip(slopes, names, strict=True)]
    if target is None:
        return dict(zip(names, of_evidence, strict=True))
    if not isinstance(target, tuple | list) or len(target) != 2:
        raise InvalidData(f"target is a pair of variable and state, like ('lung', 'yes'); got {target!r}")
    name, state = target
    node, variable = model.variables.names.index(model.variable(name).name), model.variable(name)
    chosen = LogFactor((node,), numerics.log(np.eye(variable.num_states)[variable.code(state)]))
    log_joint, joint_slopes = log_derivatives(model, [*known, chosen])
    posterior = float(np.exp(log_joint - log_total))
    changes = [
        np.exp(joint_slope - log_total) - posterior * by_evidence
        for joint_slope, by_evidence in zip(joint_slopes, of_evidence, strict=True)
    ]
    return dict(zip(names, changes, strict=True))


def derivative(log_slopes: np.ndarray, name: Any) -> np.ndarray:
    """The derivatives by a table's entries from their logarithms; refused where no double holds one."""
    if log_slopes.max(initial=-np.inf) > numerics.LOG_LARGEST:
        raise InvalidData(
            f"the derivative by an entry of table {name!r} is of the size exp({log_slopes.max():.6g}), which no double "
            "holds: that entry is too small for a derivative"
        )
    return np.asarray(np.exp(log_slopes))


@singledispatch
def table_names(model: Any) -> list[Any]:
    raise Unsupported(f"sensitivity takes a model of tables; got {type(model).__name__}")


@table_names.register
def _(model: BayesianNetwork) -> list[Any]:
    return list(model.variables.names)


@table_names.register
def _(model: FactorProduct) -> list[Any]:
    return list(range(len(model.factors)))


def log_likelihoods(model: Any, findings: Any) -> list[tuple[int, np.ndarray]]:
    """(node, log-likelihood of its states as (row, state)) for every variable of which something is known."""
    found = ((node, findings.log_likelihood(name)) for node, name in enumerate(model.variables.names))
    return [(node, logs) for node, logs in found if logs is not None]


def log_derivatives(model: Any, known: list[LogFactor]) -> tuple[float, list[np.ndarray]]:
    """(log of the total, log of its derivative by each entry of each factor)."""
    scopes = scopes_of(Lowered(model.variables, (), model.factors))
    plan = compile_plan(scopes, model.variables.shape)
    tables = [LogFactor(tuple(scope), part.log_values) for scope, part in zip(scopes, model.factors, strict=True)]
    tree = MessageTree.of(plan, tables, known)
    constants = sum(float(part.logs) for part in tables if not part.nodes)
    slopes = []
    for index, part in enumerate(tables):
        clique = int(plan.factor_cliques[index])
        if clique < 0:
            slopes.append(np.asarray(tree.log_total + constants - part.logs))
            continue
        others = [other for other in tree.inside[clique] if other is not part]
        around = [*others, *tree.messages_into(clique), zeros_over(part, model.variables.shape)]
        slopes.append(sum_to(multiply(around), part.nodes) + constants + tree.log_total_beside(clique))
    return tree.log_total + constants, slopes


@dataclass(frozen=True)
class MessageTree:
    """What every clique holds, and the messages along every edge of the tree in both directions, as logarithms."""

    inside: list[list[LogFactor]]
    parents: list[int]
    children: list[list[int]]
    up: Mapping[int, LogFactor]  # clique → its message to its parent
    down: Mapping[int, LogFactor]  # clique → its parent's message to it
    totals: Mapping[int, float]  # root → log of its tree's total

    @property
    def log_total(self) -> float:
        return sum(self.totals.values())

    def log_total_beside(self, clique: int) -> float:
        """The log of the product of all trees' totals but that of the clique's own."""
        while self.parents[clique] >= 0:
            clique = self.parents[clique]
        return sum(total for root, total in self.totals.items() if root != clique)

    @classmethod
    def of(cls, plan: CliquePlan, tables: list[LogFactor], known: list[LogFactor]) -> MessageTree:
        sizes = plan.num_states
        axes = [tuple(plan.nodes[a:b].tolist()) for a, b in zip(plan.starts, plan.starts[1:], strict=False)]
        parents = [int(parent) for parent in plan.table[:, PARENT]]
        inside: list[list[LogFactor]] = [[LogFactor(nodes, np.zeros([sizes[n] for n in nodes]))] for nodes in axes]
        for part, clique in zip(tables, plan.factor_cliques, strict=True):
            if clique >= 0:
                inside[clique].append(part)
        for part in known:
            inside[int(plan.node_table[part.nodes[0], 0])].append(part)
        up: dict[int, LogFactor] = {}
        down: dict[int, LogFactor] = {}
        totals: dict[int, float] = {}
        children: list[list[int]] = [[] for _ in axes]
        for clique, parent in enumerate(parents):
            if parent >= 0:
                children[parent].append(clique)
        tree = cls(inside, parents, children, up, down, totals)
        separators = [axes[clique][: int(plan.shared[clique])] for clique in range(len(axes))]
        for clique in reversed(range(len(axes))):
            product = multiply([*inside[clique], *tree.messages_into(clique)])
            message = LogFactor(separators[clique], sum_to(product, separators[clique]))
            if parents[clique] < 0:
                totals[clique] = float(message.logs)
            else:
                up[clique] = message
        for clique in range(len(axes)):
            parent = parents[clique]
            if parent >= 0:
                product = multiply([*inside[parent], *tree.messages_into(parent, but=clique)])
                down[clique] = LogFactor(separators[clique], sum_to(product, separators[clique]))
        return tree

    def messages_into(self, clique: int, but: int = -1) -> list[LogFactor]:
        """From the children, except one, and from the parent, as far as they have been sent."""
        sent = [self.up[child] for child in self.children[clique] if child in self.up and child != but]
        return [*sent, *([self.down[clique]] if clique in self.down else [])]


def zeros_over(part: LogFactor, shape: tuple[int, ...]) -> LogFactor:
    """Zeros over the nodes of a factor, so that a product covers them."""
    return LogFactor(part.nodes, np.zeros([shape[node] for node in part.nodes]))


def sum_to(factor: LogFactor, nodes: tuple[int, ...]) -> np.ndarray:
    """The factor summed over all but these nodes, in this order."""
    rest = tuple(axis for axis, node in enumerate(factor.nodes) if node not in nodes)
    left = [node for node in factor.nodes if node in nodes]
    table = numerics.log_sum_exp(factor.logs, axis=rest) if rest else factor.logs
    return table.transpose([left.index(node) for node in nodes])
