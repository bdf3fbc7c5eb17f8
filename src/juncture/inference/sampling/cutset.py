"""`CutsetSampling`: a few variables are drawn, all others are summed out exactly given them.

Draws c of a cut-set C from a proposal q have the weight p(c, evidence) / q(c), and the marginals are Rao-Blackwellised:
Σ w p(x | c, evidence) / Σ w, which has no more variance than draws of all variables. Without C the rest of the model is
narrow enough for the junction tree; draws of the same c are answered once. Choose it for models that are a little too
wide for exact inference (Bidyuk and Dechter 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_variable_names
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.graphs.undirected import UndirectedGraph
from juncture.inference.engines.contract import (
    BELIEFS,
    Answers,
    Cost,
    Diagnostics,
    Engine,
    EnginePlan,
    Query,
    Question,
    Request,
)
from juncture.inference.engines.lowering import check_factors, lower
from juncture.inference.engines.verb_options import DRAWS
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.exact.junction_tree.plan import fits
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.importance_weights import chi_square, has_reliable_errors, pareto_k
from juncture.inference.sampling.table_proposals import loopy_proposals
from juncture.inference.sampling.weighted_answers import check_weights
from juncture.inference.sampling.weighted_draws import Batch, Streams, Tally

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

ROUNDING = 1e-14  # of probabilities that no draw changes


@dataclass(frozen=True)
class CutsetSampling(Engine):
    """Cutset sampling: draws of some variables, given each of which the others are summed out exactly.

    Parameters
    ----------
    draws
        The number of draws of the cut-set, for each row of evidence.
    width
        The cut-set is such that the rest of the model, without observed variables, has at most this width.
    cutset
        The names of the variables to draw; None for a greedy choice.
    memory_limit
        In bytes.

    Examples
    --------
    >>> import juncture as jt
    >>> engine = jt.sampling.CutsetSampling(draws=200, width=1)
    >>> beliefs = jt.infer(jt.example("asia"), {"xray": "yes"}, method=engine, rng=0)
    >>> exact = jt.infer(jt.example("asia"), {"xray": "yes"})
    >>> bool(abs(beliefs["lung"]["yes"] - exact["lung"]["yes"]) < 0.05)
    True
    """

    draws: int = 1000
    width: int = 8
    cutset: tuple[str, ...] | None = None
    memory_limit: int | None = None
    name: ClassVar[str] = "cutset"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.DRAWS}
    draws_itself: ClassVar[bool] = True
    draws_at_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)
        check_count(self.width, "width", least=0)
        if self.cutset is not None:
            object.__setattr__(self, "cutset", tuple(as_variable_names(self.cutset, "cutset")))

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> CutsetPlan:
        check_factors(model, self.name)
        if any(variable.is_real for variable in model.variables):
            raise Unsupported("the engine 'cutset' takes variables with states; use method='likelihood-weighting'")
        for name in self.cutset or ():
            model.variable(name)
        return CutsetPlan(self)

    def draw(self, model: Network, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """`n` draws of the cut-set given one row of evidence, with their weights, and of the rest given each."""
        (part,) = replace(self, draws=n).compile(model).run(model, Query(findings, rng=rng)).rows
        possible = part.log_weights > -math.inf
        columns = part.sample(np.where(possible, part.counts, 0), rng)
        logs = np.repeat(part.log_weights[possible], part.counts[possible])
        return Draws({name: column[np.newaxis] for name, column in columns.items()}, model.variables, logs[np.newaxis])


def find_cutset(model: Network, observed: Sequence[str], width: int) -> tuple[str, ...]:
    """Variables to remove, one after the other the one in most of the cliques that are too wide."""
    scopes, removed = [part.scope.names for part in lower(model).factors], set(observed)
    named, found = set(model.variables.names), list[str]()
    while True:
        kept = [[name for name in scope if name not in removed] for scope in scopes]
        edges = {(a, b) for scope in kept for a in scope for b in scope if a < b}
        tree = UndirectedGraph(sorted(edges), sorted({name for scope in kept for name in scope})).junction_tree()
        wide = [set(clique) & named for clique in tree.cliques if len(clique) > width + 1]
        if not any(wide):
            return tuple(found)
        members = [name for clique in wide for name in sorted(clique)]
        found.append(max(dict.fromkeys(members), key=members.count))
        removed.add(found[-1])


@dataclass(frozen=True, eq=False)
class CutsetPlan(EnginePlan):
    """A run of draws of a cut-set."""

    engine: CutsetSampling

    @property
    def cost(self) -> Cost:
        """Of one run of the junction tree, at its largest."""
        return Cost(self.engine.width, 0.0, 0.0, 0.0)

    def cutset(self, model: Network, findings: Findings) -> tuple[str, ...]:
        """The variables to draw: those that were named, or as many as the width asks for."""
        observed = [name for name in findings.codes if findings.is_observed(name).all()]
        names = find_cutset(model, observed, self.engine.width) if self.engine.cutset is None else self.engine.cutset
        return tuple(name for name in names if name not in observed)

    def run(self, model: Network, query: Query) -> CutsetAnswers:
        findings = query.findings
        streams, rows = Streams.of(query.rng), []
        nodes = [model.variables.axis(name) for name in self.cutset(model, findings)]
        for row, proposal in enumerate(loopy_proposals(model, findings, nodes=nodes)):
            log_q = replace(proposal, target=replace(proposal.target, factors=(), log_constant=0.0))
            batch = log_q.source().draw(self.engine.draws, streams.generator(row))
            free = [node for node in nodes if node not in proposal.target.fixed]
            rows.append(CutsetDraws.of(model, findings.row(row), free, batch, self.engine))
        check_weights([part.tally for part in rows], findings, self.engine.name)
        answers = CutsetAnswers(rows, findings, Diagnostics(exact=False), self.engine.name)
        return replace(answers, diagnostics=answers.diagnose())


@dataclass(frozen=True, eq=False)
class CutsetDraws:
    """The different draws of the cut-set for one row of evidence, with exact answers given each of them."""

    model: Network
    given: Findings  # evidence and draw, a row for each draw
    exact: Sequence[Answers]  # one of many rows, or one for each draw
    counts: np.ndarray  # (draw,): how often each was drawn
    log_weights: np.ndarray  # (draw,)
    names: frozenset[str]  # of the cut-set

    @classmethod
    def of(
        cls, model: Network, row: Findings, nodes: Sequence[int], batch: Batch, engine: CutsetSampling
    ) -> CutsetDraws:
        _, first, counts = np.unique(batch.codes[list(nodes)], axis=1, return_index=True, return_counts=True)
        names = [model.variables.names[node] for node in nodes]
        columns = {name: batch.codes[node][first] for name, node in zip(names, nodes, strict=True)}
        repeated = row.repeat(len(first))
        given = Findings(
            row.variables, {**repeated.codes, **columns}, {}, dict(repeated.likelihoods), num_rows=len(first)
        )
        exact = answer_exactly(model, given, engine.memory_limit)
        log_joint = np.concatenate([answers.log_evidence for answers in exact])
        return cls(model, given, exact, counts, log_joint + batch.log_weights[first], frozenset(names))

    @cached_property
    def tally(self) -> Tally:
        """The sums of the weights of all draws."""
        logs = np.repeat(self.log_weights, self.counts)
        top = float(logs.max())
        weights = np.exp(logs - top) if top > -math.inf else np.zeros(len(logs))
        return Tally(top, float(weights.sum()), float((weights**2).sum()), np.empty(0), np.empty(0), logs)

    @cached_property
    def weights(self) -> np.ndarray:
        """(draw,): those of one draw each, which sum to 1 with their counts."""
        return np.asarray(np.exp(self.log_weights - self.tally.log_scale) / self.tally.total)

    def marginals(self, names: tuple[str, ...]) -> np.ndarray:
        """p(names | draw, evidence), (draw, state of the first name, …); 0 for a draw that is impossible."""
        tables = np.concatenate([answers.marginal(names) for answers in self.exact])
        return np.where(np.isnan(tables), 0.0, tables)

    def mean(self, names: tuple[str, ...]) -> np.ndarray:
        """The Rao-Blackwellised estimate of p(names | evidence)."""
        tables = self.marginals(names)
        if self.tally.is_empty:
            return np.full(tables.shape[1:], np.nan)
        return np.asarray(np.tensordot(self.counts * self.weights, tables, axes=1))

    def standard_error(self, name: str) -> np.ndarray:
        """By the delta method, with what one effective draw may change."""
        tables, mean = self.marginals((name,)), self.mean((name,))
        variance = (self.counts * self.weights**2) @ (tables - mean) ** 2
        spread = 1.0 if name in self.names else np.ptp(tables, axis=0)
        return np.asarray(np.sqrt(variance + (spread / self.tally.effective_sample_size) ** 2 + ROUNDING**2))

    def sample(self, counts: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """So many rows given each draw, one draw after the other."""
        names = self.model.variables.names
        plan = JunctionTree().compile(self.model, self.given.names, names)
        rows = [
            plan.run(self.model, Query(self.given.row(int(draw)), questions=DRAWS)).sample(int(counts[draw]), rng)
            for draw in np.flatnonzero(counts)
        ]
        return {name: np.concatenate([row[name] for row in rows]) for name in names}


def answer_exactly(model: Network, given: Findings, memory_limit: int | None) -> list[Answers]:
    """The junction tree given each row: all at once, or one by one where only the reduced tables fit in memory."""
    tree = JunctionTree(memory_limit)
    plan = tree.compile(model, given.names, model.variables.names)
    if fits(tree.cost(model), memory_limit):
        return [plan.run(model, Query(given))]
    return [plan.run(model, Query(given.row(row))) for row in range(given.num_rows)]


@dataclass(frozen=True, eq=False)
class CutsetAnswers(Answers):
    """Rao-Blackwellised estimates for each row of evidence."""

    rows: Sequence[CutsetDraws]
    findings: Findings
    diagnostics: Diagnostics
    engine_name: str

    @property
    def checks_itself(self) -> bool:
        return True

    @cached_property
    def log_evidence(self) -> np.ndarray:
        return np.array([part.tally.log_evidence for part in self.rows])

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        return np.array([part.mean(names) for part in self.rows])

    def diagnose(self) -> Diagnostics:
        parts = [part.tally for part in self.rows if not part.tally.is_empty]
        is_single, errors = self.findings.is_single, np.array([part.tally.log_evidence_error for part in self.rows])
        names = [variable.name for variable in self.findings.variables]
        by_name = {name: np.array([part.standard_error(name) for part in self.rows]) for name in names}
        return Diagnostics(
            exact=not any(part.names for part in self.rows),
            converged=all(has_reliable_errors(part.log_weights) for part in parts),
            steps=max(part.num_draws for part in parts),
            standard_errors={name: array[0] if is_single else array for name, array in by_name.items()},
            effective_sample_size=min(part.effective_sample_size for part in parts),
            chi_square=max(chi_square(part.log_weights) for part in parts),
            pareto_k=max(pareto_k(part.log_weights) for part in parts),
            log_evidence_error=float(errors[0]) if is_single else errors,
        )

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer mode")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        (part,) = self.rows
        counts = rng.multinomial(num_rows, part.counts * part.weights)
        order = rng.permutation(num_rows)
        return {name: column[order] for name, column in part.sample(counts, rng).items()}

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer expected")
