"""`table_sensitivity`: how an answer changes with every entry of every table.

The probability of evidence is linear in each table entry. Its derivative is the sum of the products of all other
factors, which is the product of the messages to the clique that holds the table. Messages towards the root and back
give the derivatives of all tables at once, without division, so zero entries have derivatives too (Darwiche 2003).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from juncture import numerics
from juncture.errors import ImpossibleEvidence, InvalidData, Unsupported
from juncture.evidence import as_findings
from juncture.inference.exact.elimination.buckets import LogFactor, multiply
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.junction_tree.orders import scopes_of
from juncture.inference.exact.junction_tree.plan import CliquePlan, lay_out_plan
from juncture.inference.exact.lowering import Lowered
from juncture.kernels.junction_tree.layout import NODE_CLIQUE, PARENT
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import State


def table_sensitivity(model: Any, evidence: Any, target: tuple[str, State] | None) -> dict[Any, np.ndarray]:
    """The derivative of p(target | evidence), or without target of log p(evidence), by each table entry."""
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
    lowered = Lowered(model.variables, (), model.factors)
    plan = lay_out_plan(JunctionTree().structure(model, lowered))
    tables = [
        LogFactor(tuple(scope), part.log_values) for scope, part in zip(scopes_of(lowered), model.factors, strict=True)
    ]
    tree = MessageTree.of(plan, tables, known)
    constants = [index for index, clique in enumerate(plan.factor_cliques) if clique < 0]
    beside = leave_one_out_sums([float(tables[index].logs) for index in constants])
    log_constant = float(sum(float(tables[index].logs) for index in constants))
    slopes = {index: np.asarray(tree.log_total + rest) for index, rest in zip(constants, beside, strict=True)}
    for clique, indices in enumerate(tree.held):
        scale = log_constant + tree.log_beside[clique]
        for index, product in zip(indices, tree.products_beside_tables(clique), strict=True):
            slopes[index] = sum_to(product, tables[index].nodes) + scale
    return tree.log_total + log_constant, [slopes[index] for index in range(len(tables))]


@dataclass(frozen=True)
class MessageTree:
    """What every clique holds, and the messages along every edge of the tree in both directions, as logarithms."""

    tables: list[LogFactor]
    held: list[list[int]]  # (clique,): the numbers of its tables
    inside: list[list[LogFactor]]  # (clique,): zeros over its nodes, and the evidence that it holds
    children: list[list[int]]
    up: dict[int, LogFactor]  # clique → its message to its parent
    down: dict[int, LogFactor]  # clique → its parent's message to it
    log_total: float
    log_beside: np.ndarray  # (clique,): the log of the product of all trees' totals but that of its own

    @classmethod
    def of(cls, plan: CliquePlan, tables: list[LogFactor], known: list[LogFactor]) -> MessageTree:
        axes = [tuple(plan.nodes[a:b].tolist()) for a, b in zip(plan.starts, plan.starts[1:], strict=False)]
        separators = [nodes[:count] for nodes, count in zip(axes, plan.shared.tolist(), strict=True)]
        parents = plan.table[:, PARENT].tolist()
        inside = [[LogFactor(nodes, np.zeros(plan.num_states[list(nodes)]))] for nodes in axes]
        held: list[list[int]] = [[] for _ in axes]
        children: list[list[int]] = [[] for _ in axes]
        for index, clique in enumerate(plan.factor_cliques):
            if clique >= 0:
                held[clique].append(index)
        for part in known:
            inside[int(plan.node_table[part.nodes[0], NODE_CLIQUE])].append(part)
        for clique, parent in enumerate(parents):
            if parent >= 0:
                children[parent].append(clique)
        roots = [clique for clique, parent in enumerate(parents) if parent < 0]
        tree = cls(tables, held, inside, children, {}, {}, 0.0, np.zeros(len(axes)))
        tree.collect(separators)
        tree.distribute(separators)
        totals = [float(tree.up[root].logs) for root in roots]
        beside = dict(zip(roots, leave_one_out_sums(totals), strict=True))
        for clique, parent in enumerate(parents):  # parents come first
            tree.log_beside[clique] = beside[clique] if parent < 0 else tree.log_beside[parent]
        return replace(tree, log_total=sum(totals))

    def collect(self, separators: list[tuple[int, ...]]) -> None:
        """Send the messages to the parents; that of a root is the log of its tree's total."""
        for clique in reversed(range(len(separators))):
            tables = [self.tables[index] for index in self.held[clique]]
            sent = [self.up[child] for child in self.children[clique]]
            product = multiply([*self.inside[clique], *tables, *sent])
            self.up[clique] = LogFactor(separators[clique], sum_to(product, separators[clique]))

    def distribute(self, separators: list[tuple[int, ...]]) -> None:
        """Send the messages to the children: to each what its parent holds and gets from all others."""
        for clique, children in enumerate(self.children):
            tables = [self.tables[index] for index in self.held[clique]]
            rest = multiply([*self.inside[clique], *tables, *self.from_parent(clique)])
            for child, product in zip(
                children, leave_one_out([self.up[child] for child in children], rest), strict=True
            ):
                self.down[child] = LogFactor(separators[child], sum_to(product, separators[child]))

    def from_parent(self, clique: int) -> list[LogFactor]:
        return [self.down[clique]] if clique in self.down else []

    def products_beside_tables(self, clique: int) -> Iterator[LogFactor]:
        """For each table of a clique the product of all else that the clique holds and gets."""
        sent = [self.up[child] for child in self.children[clique]]
        rest = multiply([*self.inside[clique], *sent, *self.from_parent(clique)])
        return leave_one_out([self.tables[index] for index in self.held[clique]], rest)


def leave_one_out(factors: Sequence[LogFactor], rest: LogFactor) -> Iterator[LogFactor]:
    """For each factor the product of `rest` and all other factors, without division: halves are multiplied in turn."""
    if len(factors) < 2:
        yield from [rest] * len(factors)
        return
    first, second = factors[: len(factors) // 2], factors[len(factors) // 2 :]
    yield from leave_one_out(first, multiply([rest, *second]))
    yield from leave_one_out(second, multiply([rest, *first]))


def leave_one_out_sums(values: Sequence[float]) -> list[float]:
    """For each value the sum of all others, without subtraction."""
    before = np.cumsum([0.0, *values])[:-1]
    after = np.cumsum([0.0, *reversed(values)])[:-1][::-1]
    return (before + after).tolist()


def sum_to(factor: LogFactor, nodes: tuple[int, ...]) -> np.ndarray:
    """The factor summed over all but these nodes, in this order."""
    rest = tuple(axis for axis, node in enumerate(factor.nodes) if node not in nodes)
    left = [node for node in factor.nodes if node in nodes]
    table = numerics.log_sum_exp(factor.logs, axis=rest) if rest else factor.logs
    return table.transpose([left.index(node) for node in nodes])
