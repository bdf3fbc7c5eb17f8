"""The answers of a junction tree: marginals from one run; joints, best states and samples from further runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EXACT, Answers, Diagnostics, Request, RowAnswers
from juncture.inference.engines.lowering import Lowered, determined_nodes
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.variables import Scope, State

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.packed_tree import PackedTree


@dataclass(frozen=True, eq=False)
class PackedModel:
    """The variables of a model, the tree that holds its tables, and each node's number, hidden nodes last."""

    variables: Scope
    nodes: dict[str, int]
    tree: PackedTree
    groups: Mapping[str, slice] = field(default_factory=dict)  # child → the factors that its conditional became

    @classmethod
    def of(cls, tree: PackedTree, lowered: Lowered) -> PackedModel:
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        return cls(lowered.variables, nodes, tree, lowered.groups)

    def factors_of(self, request: Request) -> range:
        """The numbers of the factors that a conditional or a factor of the model became."""
        if not isinstance(request, Factor):
            group = self.groups[request.child.name]
            return range(group.start, group.stop)
        number = self.positions[id(request)]
        return range(number, number + 1)

    @cached_property
    def positions(self) -> dict[int, int]:
        """The identity of each factor → its number."""
        numbered = list(enumerate(self.tree.factors))
        return {id(factor): number for number, factor in reversed(numbered)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return self.variables.names

    @cached_property
    def determined(self) -> frozenset[int]:
        """The hidden nodes that are functions of the others."""
        return determined_nodes(tuple(self.nodes))

    @cached_property
    def all_nodes(self) -> np.ndarray:
        """The nodes of all variables; hidden ones come after."""
        return np.arange(len(self.variables))

    def code_labels(self, evidence: dict[str, Any]) -> CodedFinding | None:
        """One row of labels by node; None if one of them is not exactly that of a state."""
        observed, codes = [], []
        for name, value in evidence.items():
            known = self.labels.get(name)
            code = None if known is None or type(value) not in {str, int} else known[1].get(value)
            if known is None or code is None:
                return None
            observed.append(known[0])
            codes.append(code)
        return CodedFinding.hard(observed, codes)

    def find_nodes(self, names: Sequence[Any]) -> np.ndarray | None:
        """The nodes of these variables; None if one of the names is not that of a variable."""
        if not all(type(name) is str and name in self.labels for name in names):
            return None
        return np.array([self.labels[name][0] for name in names], np.int64)

    @cached_property
    def starts(self) -> list[int]:
        """Where each node's states start in an array of all marginals."""
        return [0, *np.cumsum(self.tree.plan.num_states).tolist()]

    @cached_property
    def views(self) -> dict[str, tuple[Scope, slice]]:
        """Name → (its scope, where its states lie in an array of all marginals)."""
        ends = zip(self.variables, self.starts, self.starts[1:], strict=False)
        return {variable.name: (Scope([variable]), slice(start, stop)) for variable, start, stop in ends}

    @cached_property
    def labels(self) -> dict[str, tuple[int, dict[State, int]]]:
        """Name → (node, label → code), for labels that are text or whole numbers: these match by being equal."""
        return {
            variable.name: (
                node,
                {label: code for code, label in enumerate(variable.labels) if type(label) in {str, int}},
            )
            for node, variable in enumerate(self.variables)
        }


@dataclass(frozen=True, eq=False)
class TreeAnswers(RowAnswers):
    """The packed model, the evidence of a run (findings, or a mapping of labels), and the results of the run."""

    packed: PackedModel
    evidence: Any
    targets: tuple[str, ...]
    marginals: np.ndarray  # (1, states of all nodes in order), or (row, states of the targets in their order)
    log_evidence: np.ndarray  # (row,)
    memory_limit: int | None = None  # of searches for the best states; None: half of what is free
    diagnostics: ClassVar[Diagnostics] = EXACT

    @classmethod
    def of(
        cls, packed: PackedModel, findings: Findings, targets: tuple[str, ...], memory_limit: int | None = None
    ) -> TreeAnswers:
        nodes = np.array([packed.nodes[name] for name in targets], dtype=np.int64)
        rows = CodedFindings.of(findings, packed.nodes)
        if not findings.is_single:
            return cls(packed, findings, targets, *packed.tree.run_rows(rows, nodes), memory_limit)
        marginals, log_evidence = packed.tree.run(rows.row(0), nodes)
        return cls(packed, findings, targets, marginals[np.newaxis], np.array([log_evidence]), memory_limit)

    @property
    def views(self) -> dict[str, tuple[Scope, slice]]:
        views = self.packed.views
        return views if self.targets is self.packed.names else {name: views[name] for name in self.targets}

    @cached_property
    def findings(self) -> Findings:
        return as_findings(self.evidence, self.packed.variables) if type(self.evidence) is dict else self.evidence

    @cached_property
    def rows(self) -> CodedFindings:
        return CodedFindings.of(self.findings, self.packed.nodes)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        if len(names) != 1:
            return self._joint(names)
        return self.marginals[:, self.slices[names[0]]]

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The columns of `marginals` for each target: by node for one row, in the order of the targets for many."""
        if type(self.evidence) is dict or self.evidence.is_single:
            return {name: self.packed.views[name][1] for name in self.targets}
        sizes = [self.packed.variables.variable(name).num_states for name in self.targets]
        ends = np.cumsum(sizes).tolist()
        return {n: slice(end - size, end) for n, size, end in zip(self.targets, sizes, ends, strict=True)}

    def _joint(self, names: tuple[str, ...]) -> np.ndarray:
        """p(a, b, c | e) = p(a, b | e) p(c | a, b, e): a row of evidence for each state of all but the last."""
        scope = Scope(self.packed.variables.variable(name) for name in names)
        num_rows, num_combinations = len(self.log_evidence), math.prod(scope.shape[:-1])
        codes = np.unravel_index(np.arange(num_combinations), scope.shape[:-1]) if names[:-1] else ()
        added = {name: np.tile(column, num_rows) for name, column in zip(names, codes, strict=False)}
        answers = TreeAnswers.of(self.packed, extend_findings(self.findings, added, num_combinations), names[-1:])
        total = np.repeat(self.log_evidence, num_combinations)
        possible = np.isfinite(answers.log_evidence) & ~find_clashes(self.findings, added, num_combinations)
        weights = np.exp(np.subtract(answers.log_evidence, total, out=np.full(len(total), -np.inf), where=possible))
        last = answers.marginal(names[-1:]) if names else np.ones((len(total), 1))
        table = np.where(possible[:, np.newaxis], last * weights[:, np.newaxis], 0.0)
        table[np.isneginf(total)] = np.nan
        return table.reshape(num_rows, *scope.shape)

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        from juncture.inference.exact.junction_tree.best_assignments import best_assignments, best_of_marginal

        if count == 1 and len(targets) == 1:
            return best_of_marginal(self.marginal(targets), self.log_evidence)
        nodes = tuple(self.packed.nodes[name] for name in targets)
        rows, which = (self.rows, np.zeros(1, np.int64)) if self.findings.is_single else self.rows.distinct()
        codes, values = best_assignments(
            self.packed.tree, rows, nodes, count, self.memory_limit, self.packed.determined
        )
        codes, values = codes[which], values[which]
        if len(targets) == 1:  # with the same bits as the best alone
            first, top = best_of_marginal(self.marginal(targets), self.log_evidence)
            values[:, :1] = np.where(codes[:, :1, 0] == first[:, :, 0], top, values[:, :1])
        return codes, values

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_tables(self.packed, self.rows, requests, weights)[0]

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        codes = self.packed.tree.draw(self.rows.row(0), num_rows, rng)
        return {name: codes[:, self.packed.nodes[name]] for name in self.packed.names}


def expected_tables(
    packed: PackedModel, rows: CodedFindings, requests: Sequence[Request], weights: np.ndarray
) -> tuple[list[list[np.ndarray]], np.ndarray]:
    """The expected counts of the factors of each request, and log p(evidence) of each row."""
    sums, log_evidence = packed.tree.expected_sums(rows, weights)
    return [[sums(number) for number in packed.factors_of(request)] for request in requests], log_evidence


@dataclass(frozen=True, eq=False)
class ExpectedAnswers(Answers):
    """The answers of a run for expected statistics; a question of another kind takes a run of its own."""

    packed: PackedModel
    findings: Findings
    targets: tuple[str, ...]
    rows: CodedFindings
    diagnostics: ClassVar[Diagnostics] = EXACT

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        tables, self.__dict__["log_evidence"] = expected_tables(self.packed, self.rows, requests, weights)
        return tables

    @cached_property
    def log_evidence(self) -> np.ndarray:
        return self.others.log_evidence

    @cached_property
    def others(self) -> TreeAnswers:
        return TreeAnswers.of(self.packed, self.findings, self.targets)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        return self.others.marginal(names)

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        return self.others.best(targets, count)

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self.others.sample(num_rows, rng)


def extend_findings(findings: Findings, codes: dict[str, np.ndarray], times: int) -> Findings:
    """Each row of findings `times` over, with further (or other) codes for some variables."""
    hard, soft = (
        {name: np.repeat(array, times, axis=0) for name, array in part.items()}
        for part in (findings.codes, findings.likelihoods)
    )
    return Findings(findings.variables, hard | codes, {}, soft, num_rows=findings.num_rows * times)


def find_clashes(findings: Findings, codes: dict[str, np.ndarray], times: int) -> np.ndarray:
    """Which of the extended rows contradict the evidence."""
    clash = np.zeros(findings.num_rows * times, dtype=bool)
    for name, column in codes.items():
        if name in findings.codes:
            seen = np.repeat(findings.codes[name], times)
            clash |= (seen >= 0) & (seen != column)
    return clash
