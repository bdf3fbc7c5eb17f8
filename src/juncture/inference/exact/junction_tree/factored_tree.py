"""`FactoredTree`: a junction tree whose cliques stay products of factors and messages; no table of a clique is stored.

`FactoredPlan` lays out the factors and the messages in flat arrays (after Shenoy and Shafer 1990), and `FactoredTree`
has the numbers of a model in this order. The memory grows with the separators, not with the cliques.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Cost
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.dense_tree import (
    CELLS_OF_SUMS,
    MOST_SUMS,
    DenseTree,
    log_tables,
    pack_cliques,
    scale_table,
)
from juncture.inference.exact.junction_tree.plan import KEPT_ENTRIES, Structure, check_cost, lay_out_plan
from juncture.kernels.factored_tree.combined_tables import MOST_CELLS
from juncture.kernels.factored_tree.layout import FactoredLayout, order_axes
from juncture.kernels.factored_tree.propagation import DRAWN_CELLS, draw_factored, pass_messages, touch_cliques
from juncture.kernels.junction_tree.packing import assign_factors
from juncture.kernels.junction_tree.propagation import DONE, TINY
from juncture.numerics import stable
from juncture.runtime import parallel
from juncture.runtime.parallel import blocks_of

CHUNK_CELLS = 4096  # 32 KiB: a few chunks stay in a core's cache


@dataclass(frozen=True, eq=False, repr=False)
class FactoredPlan:
    """Scopes and sizes, and the layout that the kernels read (`kernels.factored_tree.layout`).

    The store holds the factors, a likelihood and a marginal for each node, the messages, room to work in, and where
    sums for the factors are asked these.
    """

    num_states: np.ndarray  # (node,)
    scope_starts: np.ndarray  # (factor + 1,)
    scope_nodes: np.ndarray
    factor_cliques: np.ndarray  # (factor,): the clique that each factor belongs to
    factor_axes: tuple[tuple[int, ...], ...]  # (factor,): its axes in the order of its clique
    layout: FactoredLayout
    structure: Structure
    first_likelihood: int  # the number of the table of node 0's likelihood
    first_marginal: int  # ... and of its marginal
    first_sums: int  # the number of the table of factor 0's sums
    factor_sizes: np.ndarray  # (factor,): entries of each
    factors_size: int  # entries of all factors, with which the store begins
    messages: slice  # where the messages lie in the store
    store_size: int  # without sums
    sums_size: int
    chunk_cells: int
    num_cells: int
    num_marginals: int
    cost: Cost

    @property
    def num_cliques(self) -> int:
        return len(self.layout.parents)

    def __repr__(self) -> str:
        return f"FactoredPlan({self.num_cliques} cliques, {self.cost})"


def lay_out_factored(structure: Structure, memory_limit: int | None = None) -> FactoredPlan:
    """The structure's tables in one store; TooLarge when they would need more bytes than the limit."""
    check_cost(structure.factored_cost, memory_limit)
    states, tree = structure.num_states, structure.tree
    axes, message_starts, message_nodes = order_axes(tree.starts, tree.nodes, tree.parents, states)
    factor_cliques = assign_factors(tree.order, tree.node_cliques, structure.scope_starts, structure.scope_nodes)
    clique_axes, scopes = split_list(axes, tree.starts), split_list(structure.scope_nodes, structure.scope_starts)
    pairs = zip(scopes, factor_cliques, strict=True)
    factor_axes = tuple(order_scope(scope, clique_axes[clique] if clique >= 0 else scope) for scope, clique in pairs)
    factors = [scope[list(order)] for scope, order in zip(scopes, factor_axes, strict=True)]
    messages, nodes = split_list(message_nodes, message_starts), list(np.arange(len(states))[:, np.newaxis])
    tables = [*factors, *messages, *nodes, *nodes, *factors]
    sizes = np.array([int(np.prod(states[table])) for table in tables], np.int64)
    parts = np.split(np.arange(len(tables)), np.cumsum([len(factors), len(messages), len(nodes), len(nodes)]))
    of_factors, of_messages, likelihoods, marginals, sums = parts
    at, ends = place_tables(sizes, [of_factors, likelihoods, marginals, of_messages])
    scratch = ends[-1]
    spare = scratch + scratch_size(tree.parents, sizes[of_messages])
    store_size = spare + MOST_CELLS + max(DRAWN_CELLS, int(states.max(initial=1)))
    at[sums] = store_size + np.cumsum(sizes[sums]) - sizes[sums]
    homes, all_cliques = smallest_cliques(tree.starts, tree.nodes, states), np.arange(len(messages))
    held = (np.concatenate([factor_cliques, tree.parents, homes]), np.concatenate(parts[:3]))
    asked = (np.concatenate([homes, factor_cliques]), np.concatenate(parts[3:]))
    layout = FactoredLayout(
        states, tree.starts, axes, tree.parents,
        at, np.cumsum([0, *map(len, tables)]), np.concatenate([np.empty(0, np.int64), *tables]),
        *list_by_owner(*held, len(messages)), *list_by_owner(*asked, len(messages)),
        *list_by_owner(tree.parents, all_cliques, len(messages)),
        homes, len(factors), scratch, spare,
    )  # fmt: skip
    return FactoredPlan(
        num_states=states,
        scope_starts=structure.scope_starts,
        scope_nodes=structure.scope_nodes,
        factor_cliques=factor_cliques,
        factor_axes=factor_axes,
        layout=layout,
        structure=structure,
        first_likelihood=len(factors) + len(messages),
        first_marginal=len(factors) + len(messages) + len(nodes),
        first_sums=len(tables) - len(factors),
        factor_sizes=sizes[of_factors],
        factors_size=ends[0],
        messages=slice(ends[2], ends[3]),
        store_size=store_size,
        sums_size=int(sizes[sums].sum()),
        chunk_cells=CHUNK_CELLS,
        num_cells=int(sum(np.prod(states[nodes]) for nodes in clique_axes)),
        num_marginals=int(states.sum()),
        cost=structure.factored_cost,
    )


def place_tables(sizes: np.ndarray, parts: list[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """(where each table begins, where each part ends): the tables one after the other, part after part."""
    order = np.concatenate(parts)
    stops = np.cumsum(sizes[order])
    at = np.zeros(len(sizes), np.int64)
    at[order] = stops - sizes[order]
    ends = np.concatenate([[0], stops])
    return at, ends[np.cumsum([len(part) for part in parts])].tolist()


def scratch_size(parents: np.ndarray, message_sizes: np.ndarray) -> int:
    """The entries of the messages to all children of a clique, where these are most."""
    has_parent = parents >= 0
    return int(np.bincount(parents[has_parent], message_sizes[has_parent]).max(initial=0))


def split_list(items: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """The parts of a list, from each start to the next."""
    return [items[start:stop] for start, stop in pairwise(starts.tolist())]


def order_scope(scope: np.ndarray, axes: np.ndarray) -> tuple[int, ...]:
    """The axes of a scope in the order of those of its clique."""
    place = {node: position for position, node in enumerate(axes.tolist())}
    return tuple(sorted(range(len(scope)), key=lambda axis: place[int(scope[axis])]))


def smallest_cliques(starts: np.ndarray, members: np.ndarray, num_states: np.ndarray) -> np.ndarray:
    """(node,): the smallest clique that holds each node, of equal ones the first."""
    cliques = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    log_sizes = np.add.reduceat(np.log(num_states[members]), starts[:-1])
    order = np.lexsort((-cliques, -np.round(log_sizes[cliques], 9)))  # the last one stays
    homes = np.empty(len(num_states), np.int64)
    homes[members[order]] = cliques[order]
    return homes


def list_by_owner(owners: np.ndarray, items: np.ndarray, num_owners: int) -> tuple[np.ndarray, np.ndarray]:
    """(starts, items): those of each owner in their order; owner -1 is left out."""
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(num_owners + 1))
    return starts - starts[0], items[order][starts[0] :]


LOG_2 = float(np.log(2.0))


@dataclass(frozen=True, eq=False, repr=False)
class FactoredTree:
    """The plan, and the factors' entries in the order of their cliques; the log of what was divided out."""

    plan: FactoredPlan
    entries: np.ndarray  # of all factors, none above 1
    least: np.ndarray  # (table,): the smallest positive entry of each factor, 1 for other tables
    log_scale: float  # of the factors
    is_safe: bool  # False: doubles do not hold some entries, so run in logarithms
    factors: tuple[Factor, ...]
    log_tops: tuple[float, ...]  # (factor,): what was divided out of each
    workspaces: threading.local = field(default_factory=threading.local)

    def run(self, evidence: CodedFinding, targets: np.ndarray) -> tuple[np.ndarray, float]:
        """(marginals, log evidence) of a single row; -inf when it is impossible."""
        space, log_total = self.collect(evidence)
        if log_total == -np.inf:
            return np.full(self.plan.num_marginals, np.nan), -np.inf
        space.distribute(self.plan.first_marginal + targets)
        return normalize_each(space.marginals(), self.plan.num_states, holds_logs=space.holds_logs), log_total

    def collect(self, evidence: CodedFinding, *, with_sums: bool = False) -> tuple[Workspace, float]:
        """The buffers after messages were sent towards the root, and log p(evidence).

        They hold logarithms where doubles might not hold a product.
        """
        found = self.collect_doubles(evidence, with_sums=with_sums) if self.is_safe and evidence.is_safe else None
        if found is None:
            logs = evidence.as_logs(self.plan.num_states)
            found = self.collect_logs(*logs, maximize=False, with_sums=with_sums)
        return found[0], found[1] + evidence.log_scale

    def collect_doubles(self, evidence: CodedFinding, *, with_sums: bool) -> tuple[Workspace, float] | None:
        """As `collect`; None where a product might vanish."""
        prior = self.prior
        space = self.workspace(with_sums=with_sums)
        space.begin(self.least, prior)
        space.enter(evidence)
        touch_cliques(self.plan.layout, np.concatenate([evidence.observed, evidence.soft]), space.touched)
        status, log_total = space.collect(prior)
        return None if status == TINY else (space, log_total + self.log_scale)

    def collect_logs(
        self, nodes: np.ndarray, log_likelihoods: np.ndarray, *, maximize: bool, with_sums: bool = False
    ) -> tuple[Workspace, float]:
        """The buffers, which hold logarithms, after messages were sent; the log of the total or the largest product."""
        space = Workspace.of(self.plan, self.log_entries, with_sums=with_sums, holds_logs=True, maximize=maximize)
        space.begin(self.least, None)
        space.enter_logs(nodes, log_likelihoods)
        return space, space.collect()[1] + self.log_scale

    def run_logs(
        self, nodes: np.ndarray, log_likelihoods: np.ndarray, targets: np.ndarray, *, maximize: bool
    ) -> tuple[np.ndarray, float]:
        """(log-marginals or max-marginals, log of the total or of the largest product)."""
        space, log_total = self.collect_logs(nodes, log_likelihoods, maximize=maximize)
        if log_total > -np.inf:
            space.distribute(self.plan.first_marginal + targets)
        return space.marginals(), log_total

    def run_rows(self, rows: CodedFindings, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(marginals (row, states of the targets), log evidence (row,)): row by row, on all cores."""
        sizes = self.plan.num_states[targets]
        columns = np.repeat(np.cumsum(self.plan.num_states)[targets] - np.cumsum(sizes), sizes) + np.arange(sizes.sum())
        marginals, log_evidence = np.empty((rows.num_rows, len(columns))), np.empty(rows.num_rows)

        def fill(row: int) -> None:
            found, log_evidence[row] = self.run(rows.row(row), targets)
            marginals[row] = found[columns]

        parallel.map(fill, range(rows.num_rows), is_worth_threads=self.keeps_buffers)
        return marginals, log_evidence

    def choose_rows(self, rows: CodedFindings, tie: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """By max-product (best codes (row, node), logs of their products (row,), whether others are as good (row,))."""
        codes = np.zeros((rows.num_rows, len(self.plan.num_states)), np.int64)
        log_tops, is_tied = np.empty(rows.num_rows), np.zeros(rows.num_rows, np.bool_)

        def fill(row: int) -> None:
            evidence = rows.row(row)
            found = self.best_codes(*evidence.as_logs(self.plan.num_states), tie)
            codes[row], log_tops[row], is_tied[row] = found[0], found[1] + evidence.log_scale, found[2].any()

        parallel.map(fill, range(rows.num_rows), is_worth_threads=self.keeps_buffers)
        return codes, log_tops, is_tied

    def best_codes(
        self, nodes: np.ndarray, log_likelihoods: np.ndarray, tie: float
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """(the first best code of each node, log of the largest product, whether other codes are as good (node,))."""
        sizes = self.plan.num_states
        marginals, log_top = self.run_logs(nodes, log_likelihoods, np.arange(len(sizes)), maximize=True)
        if log_top == -np.inf:
            return np.zeros(len(sizes), np.int64), log_top, np.zeros(len(sizes), np.bool_)
        starts = np.cumsum(sizes) - sizes
        tops = np.maximum.reduceat(marginals, starts)
        is_best = marginals >= np.repeat(tops - tie * np.maximum(1.0, np.abs(tops)), sizes)
        firsts = np.searchsorted(np.flatnonzero(is_best), starts)
        return np.flatnonzero(is_best)[firsts] - starts, log_top, np.add.reduceat(is_best.astype(np.int64), starts) > 1

    def draw(self, evidence: CodedFinding, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Codes (row, node) drawn from the posterior."""
        codes = np.zeros((num_rows, len(self.plan.num_states)), np.int64)
        uniforms = rng.random(codes.shape)
        space, _ = self.collect(evidence)
        draw_factored(
            self.plan.layout, space.store, space.is_used, uniforms, codes,
            int(self.plan.cost.operations), self.plan.chunk_cells, space.holds_logs,
        )  # fmt: skip
        return codes

    def expected_sums(self, rows: CodedFindings, weights: np.ndarray) -> tuple[Callable[[int], np.ndarray], np.ndarray]:
        """(the expected counts for the scope of a factor, by its number; log evidence (row,))."""
        plan, log_evidence = self.plan, np.empty(rows.num_rows)
        num_sums = max(1, min(MOST_SUMS, CELLS_OF_SUMS // max(plan.sums_size, 1)))
        asked = plan.first_sums + np.flatnonzero(plan.factor_cliques >= 0)

        def sums_of(part: slice) -> np.ndarray:
            sums = np.zeros(plan.sums_size)
            for row in range(part.start, part.stop):
                space, log_evidence[row] = self.collect(rows.row(row), with_sums=True)
                if log_evidence[row] > -np.inf and weights[row] > 0.0 and plan.sums_size:
                    space.distribute(asked)
                    sums += float(weights[row]) * normalize_each(
                        space.sums(), plan.factor_sizes, holds_logs=space.holds_logs
                    )
            return sums

        blocks = blocks_of(rows.num_rows, max(1, -(-rows.num_rows // num_sums)))
        sums = sum(parallel.map(sums_of, blocks, is_worth_threads=self.keeps_buffers), np.zeros(plan.sums_size))

        def sums_for(factor: int) -> np.ndarray:
            axes = plan.factor_axes[factor]
            scope = plan.scope_nodes[plan.scope_starts[factor] : plan.scope_starts[factor + 1]]
            start = plan.layout.table_at[plan.first_sums + factor] - plan.store_size
            table = sums[start : start + plan.factor_sizes[factor]].reshape(plan.num_states[scope[list(axes)]])
            return table.transpose(np.argsort(axes))

        return sums_for, log_evidence

    def repack(self, factors: Sequence[Factor]) -> FactoredTree:
        """The numbers of another model in the same plan."""
        return pack_factored(self.plan, factors)

    def with_tables(self, memory_limit: int | None) -> DenseTree:
        """The same model with all cliques multiplied out and stored; TooLarge when they need more than the limit."""
        return pack_cliques(lay_out_plan(self.plan.structure, memory_limit), self.factors)

    @property
    def keeps_buffers(self) -> bool:
        """Whether messages are so few that each thread keeps its buffers, and the messages without evidence."""
        return self.plan.messages.stop - self.plan.messages.start <= KEPT_ENTRIES

    @cached_property
    def prior(self) -> Prior | None:
        """The messages without evidence, if these are kept and in the range of doubles."""
        if not self.keeps_buffers:
            return None
        space = self.workspace()
        space.begin(self.least, None)
        if space.collect()[0] != DONE:
            return None
        return Prior(space.store[self.plan.messages].copy(), space.least.copy(), space.exponents.copy())

    def workspace(self, *, with_sums: bool = False) -> Workspace:
        """Buffers of the running thread's own, kept for its next run if they are not too large."""
        space: Workspace | None = getattr(self.workspaces, "space", None)
        if space is None or (with_sums and not len(space.sums())):
            space = Workspace.of(self.plan, self.entries, with_sums=with_sums)
            if self.keeps_buffers:
                self.workspaces.space = space
        return space

    @property
    def log_factors(self) -> list[np.ndarray]:
        """The logarithms of every factor's entries, less what was divided out, one axis a variable."""
        return log_tables(self.factors, self.log_tops)

    @cached_property
    def log_entries(self) -> np.ndarray:
        return in_clique_order(self.plan, self.log_factors)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the buffers, which belong to threads."""
        return {name: value for name, value in self.__dict__.items() if name != "workspaces"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, workspaces=threading.local())


def pack_factored(plan: FactoredPlan, factors: Sequence[Factor]) -> FactoredTree:
    """Every factor in the order of its clique, divided by its largest entry if that is far from 1 or above it."""
    scaled = [scale_below_one(factor) for factor in factors]
    tables, log_tops, is_kept = zip(*scaled, strict=True) if scaled else ((), (), ())
    least = np.ones(len(plan.layout.table_at))
    least[: len(tables)] = [table.min(where=table > 0.0, initial=np.inf) for table in tables]
    shapes = [
        plan.num_states[plan.scope_nodes[a:b]] for a, b in zip(plan.scope_starts, plan.scope_starts[1:], strict=False)
    ]
    entries = in_clique_order(plan, [table.reshape(shape) for table, shape in zip(tables, shapes, strict=True)])
    constants = [table[0] for table, clique in zip(tables, plan.factor_cliques, strict=True) if clique < 0]
    log_scale = float(np.sum([*log_tops, *stable.log(constants)]))
    return FactoredTree(plan, entries, least, log_scale, all(is_kept), tuple(factors), log_tops)


def scale_below_one(factor: Factor) -> tuple[np.ndarray, float, bool]:
    """As `scale_table`, and divided by a power of two if an entry is still above 1."""
    values, log_top, is_kept = scale_table(factor)
    _, exponent = np.frexp(values.max())
    return (
        (values / 2.0**exponent, log_top + exponent * LOG_2, is_kept)
        if values.max() > 1.0
        else (values, log_top, is_kept)
    )


def in_clique_order(plan: FactoredPlan, tables: Sequence[np.ndarray]) -> np.ndarray:
    """The entries of all tables, each with its axes in the order of its clique."""
    ordered = [table.transpose(axes).reshape(-1) for table, axes in zip(tables, plan.factor_axes, strict=True)]
    return np.concatenate([np.empty(0), *ordered])


def normalize_each(values: np.ndarray, sizes: np.ndarray, *, holds_logs: bool) -> np.ndarray:
    """Tables of these sizes, one after the other, each divided by its sum; from their logarithms if these are given."""
    starts = np.cumsum(sizes) - sizes
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        if holds_logs:
            values = np.exp(values - np.repeat(np.maximum.reduceat(values, starts), sizes))
        return values / np.repeat(np.add.reduceat(values, starts), sizes)


@dataclass(frozen=True, eq=False)
class Prior:
    """The messages towards the root without evidence, with their scales."""

    messages: np.ndarray
    least: np.ndarray  # (table,)
    exponents: np.ndarray  # (clique,)


@dataclass(frozen=True, eq=False)
class Workspace:
    """The store, which of its tables are in use, and the scales of the messages."""

    plan: FactoredPlan
    store: np.ndarray
    is_used: np.ndarray  # (table,)
    least: np.ndarray  # (table,): the smallest positive entry
    exponents: np.ndarray  # (clique,): of the powers of two that messages were divided by
    touched: np.ndarray  # (clique,): whose messages are to be sent
    holds_logs: bool = False
    maximize: bool = False

    @classmethod
    def of(
        cls,
        plan: FactoredPlan,
        entries: np.ndarray,
        *,
        with_sums: bool = False,
        holds_logs: bool = False,
        maximize: bool = False,
    ) -> Workspace:
        """New buffers with the entries of the factors, and room for sums for them if asked."""
        num_tables = len(plan.layout.table_at)
        store = np.empty(plan.store_size + (plan.sums_size if with_sums else 0))
        store[: plan.factors_size] = entries
        is_used, touched = np.empty(num_tables, np.bool_), np.empty(plan.num_cliques, np.bool_)
        exponents = np.zeros(plan.num_cliques, np.int64)
        return cls(plan, store, is_used, np.ones(num_tables), exponents, touched, holds_logs, maximize)

    def begin(self, least: np.ndarray, prior: Prior | None) -> None:
        """Without evidence and questions; if there are messages from before, none is to be sent."""
        self.is_used[: self.plan.first_likelihood] = True
        self.is_used[self.plan.first_likelihood :] = False
        self.touched[:] = prior is None
        self.least[:] = least if prior is None else prior.least
        self.exponents[:] = 0 if prior is None else prior.exponents

    def enter(self, evidence: CodedFinding) -> None:
        """Set the likelihoods of what was observed: hard by code, soft by a likelihood per state."""
        for node, code in zip(evidence.observed.tolist(), evidence.codes.tolist(), strict=True):
            self.likelihood(node, 0.0)[code] = 1.0
        at = 0
        for node in evidence.soft.tolist():
            likelihood = self.likelihood(node, 1.0)
            likelihood *= evidence.likelihoods[at : at + len(likelihood)]
            at += len(likelihood)
            least = likelihood.min(where=likelihood > 0.0, initial=np.inf)
            self.least[self.plan.first_likelihood + node] = least

    def enter_logs(self, nodes: np.ndarray, log_likelihoods: np.ndarray) -> None:
        """Add log-likelihoods, one node's after the other's; a node may come twice."""
        at = 0
        for node in nodes.tolist():
            likelihood = self.likelihood(node, 0.0)
            likelihood += log_likelihoods[at : at + len(likelihood)]
            at += len(likelihood)

    def likelihood(self, node: int, value: float) -> np.ndarray:
        """A node's likelihood, from now on in use; if it was not before, with this value for each state."""
        table = self.plan.first_likelihood + node
        start = self.plan.layout.table_at[table]
        entries = self.store[start : start + self.plan.num_states[node]]
        if not self.is_used[table]:
            entries[:] = value
        self.is_used[table] = True
        return entries

    def collect(self, prior: Prior | None = None) -> tuple[int, float]:
        """Send the messages of the touched cliques towards the root: how that ended, and the log of the total."""
        return self.send(np.empty(0) if prior is None else prior.messages, is_down=False)

    def distribute(self, tables: np.ndarray) -> None:
        """Fill in these tables; the messages are used up."""
        self.is_used[tables] = True
        if len(tables):
            self.send(np.empty(0), is_down=True)

    def send(self, messages: np.ndarray, *, is_down: bool) -> tuple[int, float]:
        plan = self.plan
        status, log_total = pass_messages(
            plan.layout, self.store, messages, self.is_used, self.touched, self.least, self.exponents,
            is_down, int(plan.cost.operations), plan.chunk_cells, self.holds_logs, self.maximize,
        )  # fmt: skip
        return int(status), float(log_total)

    def marginals(self) -> np.ndarray:
        """A copy of the marginals of all nodes, not normalized; those that were not asked hold anything."""
        at = self.plan.layout.table_at
        start = at[self.plan.first_marginal] if self.plan.num_marginals else 0
        return self.store[start : start + self.plan.num_marginals].copy()

    def sums(self) -> np.ndarray:
        """The sums for all factors, not normalized."""
        return self.store[self.plan.store_size :]
