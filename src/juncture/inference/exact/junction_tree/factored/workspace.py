"""The buffers of a run on a tree whose cliques are kept as factors and messages, and how evidence enters them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.inference.exact.junction_tree.coded_findings import CodedFinding
from juncture.inference.exact.junction_tree.factored.plan import FactoredPlan
from juncture.kernels.factored_tree.cliques import pass_messages


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
