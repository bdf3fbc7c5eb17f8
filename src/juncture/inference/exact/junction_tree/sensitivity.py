"""`table_sensitivity`: how an answer changes with every entry of every table.

The probability of evidence is linear in each table entry. Its derivative is the sum of the products of all other
factors, which is the product of the messages to the clique that holds the table. Messages towards the root and back
give the derivatives of all tables at once, without division, so zero entries have derivatives too (Darwiche 2003).

`MessageTree` sends all messages of a junction tree in both directions (Shenoy and Shafer 1990). Its tables are dense
(`DenseProducts`), or list only the entries that are not zero, in any order (`ListedProducts`): a message lists what the
factors on its side allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np

from juncture.errors import ImpossibleEvidence, InvalidData, TooLarge, Unsupported
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.lowering import Lowered, number_rows
from juncture.inference.exact.elimination import LogFactor, multiply
from juncture.inference.exact.junction_tree.choice import cells_of, has_many_zeros, structure_of
from juncture.inference.exact.junction_tree.plan import Structure, fits
from juncture.kernels.elimination_orders.cliques import lower_parents
from juncture.kernels.junction_tree.layout import lay_out
from juncture.kernels.junction_tree.packing import assign_factors
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable
from juncture.runtime.memory import format_bytes
from juncture.variables import State

MANY_CELLS = 2**26  # of all cliques: from here on entries that are not zero are listed
LISTED_PART = 2**-6  # of all cells: a listed product has at most so many entries, which take longer than cells
MOST_LISTED = 2**23  # ... and no more than this, some hundred megabytes


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
    chosen = LogFactor((node,), stable.log(np.eye(variable.num_states)[variable.code(state)]))
    log_joint, joint_slopes = log_derivatives(model, [*known, chosen])
    posterior = float(np.exp(log_joint - log_total))
    changes = [
        np.exp(joint_slope - log_total) - posterior * by_evidence
        for joint_slope, by_evidence in zip(joint_slopes, of_evidence, strict=True)
    ]
    return dict(zip(names, changes, strict=True))


def derivative(log_slopes: np.ndarray, name: Any) -> np.ndarray:
    """The derivatives by a table's entries from their logarithms; refused where no double holds one."""
    if log_slopes.max(initial=-np.inf) > stable.LOG_LARGEST:
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
    """(log of the total, log of its derivative by each entry of each factor).

    Tables are dense, unless cliques are large and factors have zeros: then the entries that are not zero are listed, if
    there are not too many.
    """
    lowered = Lowered(model.variables, (), model.factors)
    structure = structure_of(model, lowered)
    scopes, all_cells = lowered.scopes, cells_of(structure.tree)
    tables = [LogFactor(tuple(scope), part.log_values) for scope, part in zip(scopes, model.factors, strict=True)]
    if all_cells >= MANY_CELLS and has_many_zeros(model.factors):
        products = ListedProducts(structure.num_states.tolist(), min(MOST_LISTED, LISTED_PART * all_cells))
        with suppress(TooLarge):
            return derivatives_from(MessageTree.of(Skeleton.of(structure), tables, known, products))
    check_all_cells(structure.tree.cost)
    dense = DenseProducts(structure.num_states)
    return derivatives_from(MessageTree.of(Skeleton.of(structure), tables, known, dense))


def check_all_cells(cost: Cost) -> None:
    if not fits(cost, None):
        raise TooLarge(
            f"sensitivity would take {format_bytes(cost.bytes)} and {cost.operations:.2g} operations on tables of all"
            f" joint states, the largest of {cost.largest_table:,.3g} entries: change an entry by hand, and compare the"
            " answers of infer"
        )


def derivatives_from(tree: MessageTree) -> tuple[float, list[np.ndarray]]:
    constants = {index: float(table.logs) for index, table in enumerate(tree.factors) if not table.nodes}
    log_constant, beside = float(sum(constants.values())), leave_one_out_sums(list(constants.values()))
    slopes = {index: np.asarray(tree.log_total + rest) for index, rest in zip(constants, beside, strict=True)}
    for clique, indices in enumerate(tree.held):
        scale = log_constant + tree.log_beside[clique]
        slopes |= {index: slope + scale for index, slope in zip(indices, tree.derivatives(clique), strict=True)}
    return tree.log_total + log_constant, [slopes[index] for index in range(len(tree.factors))]


class Products(Protocol):
    """How tables of one kind are multiplied and summed."""

    def listed(self, factor: LogFactor) -> Any:
        """A table of this kind."""

    def ones(self, nodes: tuple[int, ...]) -> list[Any]:
        """Tables of ones by which a product gets all of these nodes, if it needs them."""

    def multiply(self, factors: Sequence[Any]) -> Any:
        """The product."""

    def sum_to(self, factor: Any, nodes: tuple[int, ...]) -> Any:
        """The table summed over all but these nodes."""

    def table(self, factor: Any, nodes: tuple[int, ...]) -> np.ndarray:
        """The same as an array, with an axis for each of these nodes."""

    def derivatives(self, factors: Sequence[LogFactor], rest: Any) -> list[np.ndarray]:
        """For each factor the product of `rest` and all other factors, summed for the factor's nodes."""


@dataclass(frozen=True)
class DenseProducts:
    """Tables with all entries."""

    num_states: np.ndarray

    def listed(self, factor: LogFactor) -> LogFactor:
        return factor

    def ones(self, nodes: tuple[int, ...]) -> list[LogFactor]:
        return [LogFactor(nodes, np.zeros(self.num_states[list(nodes)]))]

    def multiply(self, factors: Sequence[LogFactor]) -> LogFactor:
        return multiply(factors)

    def sum_to(self, factor: LogFactor, nodes: tuple[int, ...]) -> LogFactor:
        return LogFactor(nodes, self.table(factor, nodes))

    def table(self, factor: LogFactor, nodes: tuple[int, ...]) -> np.ndarray:
        rest = tuple(axis for axis, node in enumerate(factor.nodes) if node not in nodes)
        left = [node for node in factor.nodes if node in nodes]
        table = stable.log_sum_exp(factor.logs, axis=rest) if rest else factor.logs
        return table.transpose([left.index(node) for node in nodes])

    def derivatives(self, factors: Sequence[LogFactor], rest: LogFactor) -> list[np.ndarray]:
        products = leave_one_out(self, factors, rest)
        return [self.table(product, factor.nodes) for factor, product in zip(factors, products, strict=True)]


@dataclass(frozen=True)
class Skeleton:
    """A junction tree by its nodes: those of each clique, those shared with its parent, and where tables go."""

    axes: list[tuple[int, ...]]
    separators: list[tuple[int, ...]]
    parents: list[int]
    factor_cliques: list[int]  # -1: a table without nodes
    node_cliques: list[int]

    @classmethod
    def of(cls, structure: Structure) -> Skeleton:
        tree, states = structure.tree, structure.num_states
        parents = lower_parents(tree.starts, tree.nodes, tree.parents, states)
        nodes, shared = lay_out(tree.starts, tree.nodes, parents, len(states))
        axes = [tuple(nodes[a:b].tolist()) for a, b in zip(tree.starts, tree.starts[1:], strict=False)]
        separators = [clique[:count] for clique, count in zip(axes, shared.tolist(), strict=True)]
        cliques = assign_factors(tree.order, tree.node_cliques, structure.scope_starts, structure.scope_nodes)
        return cls(axes, separators, parents.tolist(), cliques.tolist(), tree.node_cliques.tolist())


@dataclass(frozen=True)
class MessageTree:
    """What every clique holds, and the messages along every edge of the tree in both directions, as logarithms."""

    products: Products
    factors: Sequence[LogFactor]
    tables: list[Any]  # the same, as tables of the kind that is multiplied
    held: list[list[int]]  # (clique,): the numbers of its tables
    inside: list[list[Any]]  # (clique,): the evidence that it holds, and ones
    children: list[list[int]]
    up: dict[int, Any]  # clique → its message to its parent
    down: dict[int, Any]  # clique → its parent's message to it
    log_total: float
    log_beside: np.ndarray  # (clique,): the log of the product of all trees' totals but that of its own

    @classmethod
    def of(
        cls, skeleton: Skeleton, tables: Sequence[LogFactor], known: Sequence[LogFactor], products: Products
    ) -> MessageTree:
        inside = [products.ones(nodes) for nodes in skeleton.axes]
        held: list[list[int]] = [[] for _ in inside]
        children: list[list[int]] = [[] for _ in inside]
        for index, clique in enumerate(skeleton.factor_cliques):
            if clique >= 0:
                held[clique].append(index)
        for part in known:
            inside[skeleton.node_cliques[part.nodes[0]]].append(products.listed(part))
        for clique, parent in enumerate(skeleton.parents):
            if parent >= 0:
                children[parent].append(clique)
        listed = [products.listed(table) for table in tables]
        tree = cls(products, tables, listed, held, inside, children, {}, {}, 0.0, np.zeros(len(inside)))
        tree.collect(skeleton.separators)
        tree.distribute(skeleton.separators)
        return tree.with_totals(skeleton.parents)

    def with_totals(self, parents: Sequence[int]) -> MessageTree:
        roots = [clique for clique, parent in enumerate(parents) if parent < 0]
        totals = [float(self.products.table(self.up[root], ())) for root in roots]
        beside = dict(zip(roots, leave_one_out_sums(totals), strict=True))
        for clique, parent in enumerate(parents):  # parents come first
            self.log_beside[clique] = beside[clique] if parent < 0 else self.log_beside[parent]
        return replace(self, log_total=sum(totals))

    def collect(self, separators: list[tuple[int, ...]]) -> None:
        """Send the messages to the parents; that of a root is the log of its tree's total."""
        for clique in reversed(range(len(separators))):
            tables = [self.tables[index] for index in self.held[clique]]
            sent = [self.up[child] for child in self.children[clique]]
            product = self.products.multiply([*self.inside[clique], *tables, *sent])
            self.up[clique] = self.products.sum_to(product, separators[clique])

    def distribute(self, separators: list[tuple[int, ...]]) -> None:
        """Send the messages to the children: to each what its parent holds and gets from all others."""
        for clique, children in enumerate(self.children):
            if not children:
                continue
            tables = [self.tables[index] for index in self.held[clique]]
            rest = self.products.multiply([*self.inside[clique], *tables, *self.from_parent(clique)])
            sent = leave_one_out(self.products, [self.up[child] for child in children], rest)
            for child, product in zip(children, sent, strict=True):
                self.down[child] = self.products.sum_to(product, separators[child])

    def from_parent(self, clique: int) -> list[Any]:
        return [self.down[clique]] if clique in self.down else []

    def derivatives(self, clique: int) -> list[np.ndarray]:
        """For each table of a clique the product of all else that the clique holds and gets, summed for its nodes."""
        sent = [self.up[child] for child in self.children[clique]]
        rest = self.products.multiply([*self.inside[clique], *sent, *self.from_parent(clique)])
        return self.products.derivatives([self.factors[index] for index in self.held[clique]], rest)


def leave_one_out(products: Products, factors: Sequence[Any], rest: Any) -> Iterator[Any]:
    """For each factor the product of `rest` and all others, without division: halves are multiplied in turn."""
    if len(factors) < 2:
        yield from [rest] * len(factors)
        return
    first, second = factors[: len(factors) // 2], factors[len(factors) // 2 :]
    yield from leave_one_out(products, first, products.multiply([rest, *second]))
    yield from leave_one_out(products, second, products.multiply([rest, *first]))


def leave_one_out_sums(values: Sequence[float]) -> list[float]:
    """For each value the sum of all others, without subtraction."""
    before = np.cumsum([0.0, *values])[:-1]
    after = np.cumsum([0.0, *reversed(values)])[:-1][::-1]
    return (before + after).tolist()


class Listed(NamedTuple):
    """The entries of a table over nodes that are not zero."""

    nodes: tuple[int, ...]
    codes: np.ndarray  # (entry, node)
    logs: np.ndarray  # (entry,)


ONE = Listed((), np.zeros((1, 0), np.int64), np.zeros(1))


@dataclass(frozen=True)
class ListedProducts:
    """Products of listed tables, of at most so many entries."""

    num_states: Sequence[int]
    most_entries: float

    def listed(self, factor: LogFactor) -> Listed:
        codes = np.argwhere(factor.logs > -np.inf)
        return Listed(factor.nodes, codes, factor.logs[tuple(codes.T)])

    def ones(self, nodes: tuple[int, ...]) -> list[Listed]:
        """What a clique starts with: nothing, as nodes that no table has need not be listed."""
        return []

    def multiply(self, factors: Sequence[Listed]) -> Listed:
        """The entries that are zero in none of the tables; small tables come first, and those that share nodes."""
        waiting = sorted(factors, key=lambda factor: len(factor.logs))
        product = waiting.pop(0) if waiting else ONE
        while waiting:
            product = self.join(product, waiting.pop(self.next_of(product, waiting)))[0]
        return product

    def next_of(self, product: Listed, waiting: Sequence[Listed]) -> int:
        """Which table to multiply by next: the one by which a product is predicted to grow least."""
        shared = ([node for node in factor.nodes if node in product.nodes] for factor in waiting)
        states = [math.prod(self.num_states[node] for node in nodes) for nodes in shared]
        return int(np.argmin([len(factor.logs) / count for factor, count in zip(waiting, states, strict=True)]))

    def join(self, one: Listed, other: Listed) -> tuple[Listed, np.ndarray]:
        """Every pair of entries with the same states of the nodes that both have; and which of the first each has."""
        shared = [node for node in one.nodes if node in other.nodes]
        mine, theirs = (part.codes[:, [part.nodes.index(node) for node in shared]] for part in (one, other))
        keys, _ = number_rows(np.concatenate([mine, theirs]), [self.num_states[node] for node in shared])
        first_keys, second_keys = keys[: len(mine)], keys[len(mine) :]
        order = np.argsort(second_keys, kind="stable")
        starts = np.searchsorted(second_keys[order], first_keys)
        counts = np.searchsorted(second_keys[order], first_keys, side="right") - starts
        total = int(counts.sum())
        if total > self.most_entries:
            raise TooLarge(f"a product would have {total:,} entries; the limit is {self.most_entries:,.0f}")
        left = np.repeat(np.arange(len(first_keys)), counts)
        right = order[np.arange(total) - np.repeat(np.cumsum(counts) - counts - starts, counts)]
        new = [axis for axis, node in enumerate(other.nodes) if node not in shared]
        nodes = (*one.nodes, *(other.nodes[axis] for axis in new))
        codes = np.concatenate([one.codes[left], other.codes[right][:, new]], axis=1)
        return Listed(nodes, codes, one.logs[left] + other.logs[right]), left

    def derivatives(self, factors: Sequence[LogFactor], rest: Listed) -> list[np.ndarray]:
        """For each factor the product of `rest` and all other factors, summed for the factor's nodes.

        Beside the entries that no factor forbids, those that one factor alone forbids are listed, with its number.
        """
        allowed, forbidden = rest, Listed(rest.nodes, rest.codes[:0], rest.logs[:0])
        by, waiting = np.empty(0, np.int64), list(range(len(factors)))
        entries = [self.listed(factor) for factor in factors]
        while waiting:
            number = waiting.pop(self.next_of(allowed, [entries[index] for index in waiting]))
            zeros = np.argwhere(factors[number].logs == -np.inf)
            first, _ = self.join(allowed, Listed(factors[number].nodes, zeros, np.zeros(len(zeros))))
            still, which = self.join(forbidden, entries[number])
            by = np.concatenate([by[which], np.full(len(first.logs), number)])
            forbidden = Listed(first.nodes, *(np.concatenate(pair) for pair in zip(still[1:], first[1:], strict=True)))
            allowed, _ = self.join(allowed, entries[number])
        found = []
        for number, (nodes, logs) in enumerate(factors):
            alone = Listed(forbidden.nodes, forbidden.codes[by == number], forbidden.logs[by == number])
            is_zero = logs == -np.inf
            divided = self.table(allowed, nodes) - np.where(is_zero, 0.0, logs)
            found.append(np.where(is_zero, self.table(alone, nodes), divided))
        return found

    def sum_to(self, factor: Listed, nodes: tuple[int, ...]) -> Listed:
        """The table summed over all but these nodes; a node that it has not is left out."""
        kept = tuple(node for node in nodes if node in factor.nodes)
        if len(kept) == len(factor.nodes):
            return factor
        codes = factor.codes[:, [factor.nodes.index(node) for node in kept]]
        groups, first = number_rows(codes, [self.num_states[node] for node in kept])
        tops = np.full(len(first), -np.inf)
        np.maximum.at(tops, groups, factor.logs)
        sums = np.bincount(groups, np.exp(factor.logs - tops[groups]), minlength=len(first))
        return Listed(kept, codes[first], stable.log(sums) + tops)

    def table(self, factor: Listed, nodes: tuple[int, ...]) -> np.ndarray:
        """All entries, summed over all but these nodes, with an axis for each of these."""
        found = self.sum_to(factor, nodes)
        shape = [self.num_states[node] for node in found.nodes]
        strides = np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)
        entries = np.full(math.prod(shape), -np.inf)
        entries[found.codes @ strides] = found.logs
        axes = [found.nodes.index(node) for node in nodes if node in found.nodes]
        missing = tuple(axis for axis, node in enumerate(nodes) if node not in found.nodes)
        whole = np.expand_dims(entries.reshape(shape).transpose(axes), missing)
        return np.broadcast_to(whole, [self.num_states[node] for node in nodes])
