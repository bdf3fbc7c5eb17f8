"""`ChainEngine`: what all engines of Markov chains share: their options, their plan, their answers and their draws."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.base.shown import Shown
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, InvalidData
from juncture.inference.engines.contract import BELIEFS, Cost, Diagnostics, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods, node_scope
from juncture.inference.engines.verb_options import as_budget
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.markov_chains.blocks import BlockTransition, connecting_blocks
from juncture.inference.sampling.markov_chains.chain_answers import (
    ChainAnswers,
    diagnose,
    warn_of_chains,
    without_stuck,
)
from juncture.inference.sampling.markov_chains.chains import Chain, ChainSet, Spread, Transition
from juncture.inference.sampling.markov_chains.targets import Target, importance_starts, is_refuted
from juncture.inference.sampling.weighted_draws import Streams
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

EVIDENCE_WORK = 2.0e6  # nodes of all particles of an estimate of log p(evidence)
ANSWERS = frozenset({Question.MARGINALS, Question.LOG_EVIDENCE, Question.EXPECTED})


@dataclass(frozen=True)
class ChainEngine(Engine):
    """The options that all engines of Markov chains take; `transition` says how a chain moves."""

    draws: int = 1000
    chains: int = 4
    warmup: int = 500
    thin: int = 1
    progress: ProgressCallback | None = field(default=None, repr=False, compare=False, kw_only=True)
    memory_limit: int | None = field(default=None, repr=False, kw_only=True)
    name: ClassVar[str]
    answers: ClassVar[frozenset[Question]] = ANSWERS
    draws_itself: ClassVar[bool] = True
    draws_at_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, least in (("draws", 1), ("chains", 1), ("warmup", 0), ("thin", 1)):
            object.__setattr__(self, name, check_count(getattr(self, name), name, least=least))
        check_progress(self.progress)

    def transition(self, model: Network, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
        """How a chain moves, and whether it reaches every state: None if that is not known."""
        raise NotImplementedError

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> ChainPlan:
        return ChainPlan(self, chain_cost(self, factor_arrays(model), len(targets)), tuple(targets))

    def draw(self, model: Network, findings: Findings, n: int, rng: Any = None) -> Draws:
        """At least `n` draws of all variables, split evenly over the chains; one row of evidence."""
        count = check_count(n, "the number of draws")
        each = replace(self, draws=max(1, ceil(count / self.chains)))
        run = each.start(model, findings, rng)
        run.chain_set.warm_up(each.warmup)
        run.chain_set.extend(each.draws, progress=each.progress, limit=each.memory_limit)
        return run.draws

    def start(self, model: Network, findings: Findings, rng: Any = None) -> ChainRun:
        """Chains at their starts, given one row of evidence."""
        if not findings.is_single:
            raise InvalidData("given= takes one row of evidence; sample once for each row")
        plan = self.compile(model, findings.names, model.variables.names)
        nodes = plan.nodes_of(model)
        started = plan.start(model, findings, targets_of(model, findings), nodes, as_generator(rng))
        if not started.is_possible[0]:
            raise ImpossibleEvidence("the evidence has probability zero")
        return ChainRun(model.variables, started.chain_set, self.warmup)


def targets_of(model: Network, findings: Findings) -> list[Target]:
    """The distribution of the free nodes given each row."""
    arrays = factor_arrays(model)
    return [Target(arrays, row) for row in log_likelihoods(arrays, findings)]


def chain_cost(engine: ChainEngine, arrays: FactorArrays, num_targets: int) -> Cost:
    """Of all sweeps of all chains, for one row."""
    sweeps = engine.chains * (engine.warmup + engine.thin * engine.draws)
    return Cost(
        int(np.diff(arrays.scope_starts).max(initial=1)) - 1,
        float(arrays.table_sizes.max(initial=1)),
        8.0 * (arrays.log_values.size + 8 * arrays.scopes.size) + engine.draws * engine.chains * num_targets,
        2.0 * sweeps * float(arrays.num_states[arrays.scopes].sum()),
    )


@dataclass(frozen=True, eq=False)
class ChainEvidence:
    """Log p(evidence) of each row by annealed importance sampling, with a generator of its own."""

    model: Network
    targets: Sequence[Target]
    streams: Streams

    def estimate(self, row: int) -> float:
        from juncture.inference.sampling.markov_chains.annealed import PARTICLES, anneal

        num_nodes = self.targets[row].arrays.num_nodes
        num_particles = int(np.clip(EVIDENCE_WORK / max(1, num_nodes), 4, PARTICLES))
        return anneal(self.model, self.targets[row], self.streams.generator(row), num_particles).log_evidence


@dataclass(frozen=True, eq=False)
class Started:
    """Chains at their starts, for the rows that are possible."""

    chain_set: ChainSet
    is_possible: np.ndarray  # (row,)
    is_irreducible: bool | None


@dataclass(frozen=True, eq=False)
class ChainPlan(EnginePlan):
    """The variables whose states are kept; all numbers are those of the model that is run."""

    engine: ChainEngine
    cost: Cost
    targets: tuple[str, ...]

    def nodes_of(self, model: Network) -> np.ndarray:
        """The nodes of the targets."""
        scope = node_scope(model)
        return np.array([scope.axis(name) for name in self.targets], np.int64)

    def start(
        self, model: Network, findings: Findings, targets: Sequence[Target], nodes: np.ndarray, rng: np.random.Generator
    ) -> Started:
        """Chains for each row that has a start."""
        is_possible = np.array([not is_refuted(target) for target in targets], np.bool_)
        moves: list[Transition] = []
        verdicts: list[bool | None] = []
        engine = self.engine
        num_states = int(factor_arrays(model).num_states.max(initial=1))
        children = rng.spawn(len(targets))
        sets = []
        for row in np.flatnonzero(is_possible).tolist():
            move, verdict = engine.transition(model, targets[row], nodes)
            starts = None
            if verdict is not True and isinstance(move, BlockTransition):
                starts = importance_starts(model, findings.row(row), engine.chains, children[row].spawn(1)[0])
            try:
                sets.append(ChainSet.start([move], engine.chains, engine.thin, num_states, children[row], starts))
            except ImpossibleEvidence:
                is_possible[row] = False
                continue
            moves.append(move)
            verdicts.append(verdict)
        joined = ChainSet(
            moves, [chain for one in sets for chain in one.chains], engine.chains, engine.thin,
            sets[0].dtype if sets else np.int8,
        )  # fmt: skip
        return Started(joined, is_possible, False if False in verdicts else None if None in verdicts else True)

    def run(self, model: Network, query: Query) -> ChainAnswers:
        findings = query.findings
        deadline = np.inf if query.budget is None else time.perf_counter() + query.budget
        generator, engine, arrays = as_generator(query.rng), self.engine, factor_arrays(model)
        needs_all = Question.EXPECTED in query.questions or not self.targets
        nodes = np.arange(arrays.num_nodes) if needs_all else self.nodes_of(model)
        targets = targets_of(model, findings)
        started = self.start(model, findings, targets, nodes, generator)
        chains = started.chain_set
        chains.warm_up(engine.warmup, deadline)
        chains.extend(engine.draws, deadline, engine.progress, engine.memory_limit)
        done = chains.num_draws if chains.transitions else engine.draws
        draws = np.zeros((findings.num_rows, engine.chains, done, len(nodes)), chains.dtype)
        draws[started.is_possible] = chains.draws if chains.transitions else 0
        is_free = np.array([target.fixed[nodes] < 0 for target in targets]).reshape(len(targets), len(nodes))
        names = tuple(node_scope(model).names[node] for node in nodes)
        diagnostics = self.diagnose(started, draws, names, arrays.num_states[nodes], is_free, findings.is_single)
        if diagnostics.converged and query.questions & BELIEFS:
            is_stuck = find_stuck(started, targets, nodes, draws, is_free, diagnostics, generator.spawn(1)[0])
            diagnostics = without_stuck(diagnostics, is_stuck)
        if chains.transitions:
            warn_of_chains(diagnostics, started.is_irreducible, engine.name)
        evidence = ChainEvidence(model, targets, Streams.of(generator))
        return ChainAnswers(
            arrays, node_scope(model), findings, nodes, draws, started.is_possible, diagnostics, engine.name, evidence
        )

    def diagnose(
        self,
        started: Started,
        draws: np.ndarray,
        names: tuple[str, ...],
        sizes: np.ndarray,
        is_free: np.ndarray,
        is_single: bool,
    ) -> Diagnostics:
        """The diagnostics, with the engine that repeats an answer that time has cut short."""
        engine, chains = self.engine, started.chain_set
        if not chains.transitions:
            return Diagnostics(exact=False, converged=False)
        is_cut = chains.num_warmup < engine.warmup or chains.num_draws < engine.draws
        repeat = replace(engine, draws=chains.num_draws, warmup=chains.num_warmup) if is_cut else None
        return diagnose(draws, names, sizes, is_free, is_single, repeat, started.is_irreducible)


def find_stuck(
    started: Started,
    targets: Sequence[Target],
    nodes: np.ndarray,
    draws: np.ndarray,
    is_free: np.ndarray,
    diagnostics: Diagnostics,
    rng: np.random.Generator,
) -> np.ndarray:
    """(row, node): which of the nodes that were kept never changed, though another of their states is probable."""
    is_stuck, chains = np.zeros(is_free.shape, np.bool_), iter(started.chain_set.chains)
    for row in np.flatnonzero(started.is_possible).tolist():
        codes = [next(chains).codes for _ in range(draws.shape[1])]
        never = is_free[row] & (draws[row] == draws[row, :1, :1]).all(axis=(0, 1))
        if not never.any() or targets[row].arrays.num_nodes >= MOST_NODES:
            continue
        present = np.array([each if each.ndim == 1 else each[0] for each in codes])  # of a tempered chain the first
        found = stuck_nodes(targets[row], nodes[never], present, diagnostics.effective_sample_size or 1.0, rng)
        is_stuck[row] = np.isin(nodes, found)
    return is_stuck


@dataclass
class ChainRun(Shown):
    """Chains that go on where they stopped: after an interruption, in another process, or for more draws.

    `jt.sampling.start_chains` makes one. It can be pickled.
    """

    variables: Scope
    chain_set: ChainSet
    warmup: int

    def extend(self, draws: int, budget: float | None = None) -> Draws:
        """So many further draws of each chain, after the warm-up; fewer where the budget of seconds ends before.

        Parameters
        ----------
        draws
            The number of draws of each chain.
        budget
            In seconds; None for as long as it takes.

        Returns
        -------
        Draws
            All draws so far.
        """
        seconds, count = as_budget(budget), check_count(draws, "draws", least=1)
        deadline = np.inf if seconds is None else time.perf_counter() + seconds
        chains = self.chain_set
        chains.warm_up(self.warmup - chains.num_warmup, deadline)
        chains.extend(count, deadline)
        return self.draws

    @property
    def draws(self) -> Draws:
        """All draws so far."""
        codes = self.chain_set.draws[0]
        values = {name: codes[..., column] for column, name in enumerate(self.variables.names)}
        return Draws(values, self.variables)

    def __repr__(self) -> str:
        chains = number_of(self.chain_set.num_chains, "chain")
        return f"ChainRun({chains}, {number_of(self.chain_set.num_draws, 'draw')} each)"


SWEEPS = 60  # of which the last half is looked at
MOST_TRIED = 8  # variables of a row, evenly spread among those that never changed
MOST_NODES = 256  # of a model whose states are held
ALLOWED = 3.0  # times the least probability that effective draws are sure to meet


def stuck_nodes(
    target: Target, unchanged: np.ndarray, codes: np.ndarray, size: float, rng: np.random.Generator
) -> list[int]:
    """Those of the nodes that never changed which have another state that is too probable to have been missed.

    `codes` (chain, node) is where the chains are, `size` their effective sample size.
    """
    if not len(unchanged) or target.arrays.num_nodes >= MOST_NODES:
        return []
    tried = unchanged[np.linspace(0, len(unchanged) - 1, min(MOST_TRIED, len(unchanged))).astype(int)]
    least = mean_log_joint(target, target, codes, rng) + np.log(ALLOWED / size)
    return [int(node) for node in tried if best_elsewhere(target, int(node), codes, rng) > least]


def best_elsewhere(target: Target, node: int, codes: np.ndarray, rng: np.random.Generator) -> float:
    """The largest mean of log p where a node is held at a state in which no chain is; -inf if none is possible."""
    found = -np.inf
    for state in set(target.states(node).tolist()) - set(codes[:, node].tolist()):
        held = hold(target, node, state)
        moved = codes.copy()
        moved[:, node] = state
        found = max(found, mean_log_joint(target, held, moved, rng))
    return found


def hold(target: Target, node: int, state: int) -> Target:
    """The same target where a node has one state left."""
    field, start = target.field.copy(), target.arrays.state_starts[node]
    others = np.arange(start, target.arrays.state_starts[node + 1]) != start + state
    field[start : target.arrays.state_starts[node + 1]][others] = -np.inf
    return Target(target.arrays, field)


def mean_log_joint(target: Target, held: Target, codes: np.ndarray, rng: np.random.Generator) -> float:
    """The mean of log p over sweeps of the held target from the codes of each chain; -inf where it is impossible."""
    if is_refuted(held):
        return -np.inf
    move = BlockTransition(held, connecting_blocks(held).blocks, np.arange(held.arrays.num_nodes))
    totals = []
    for start, child in zip(codes, rng.spawn(len(codes)), strict=True):
        first, kept = start.astype(np.int64), np.empty((SWEEPS, held.arrays.num_nodes), np.int64)
        try:
            if held.log_joint(first) == -np.inf:
                first = move.start(child, Spread.of(child))
        except ImpossibleEvidence:
            return -np.inf
        move.advance(Chain(first, child, np.zeros(2, np.uint64)), SWEEPS, kept)
        totals.append(target.log_joints(kept[SWEEPS // 2 :]).mean())
    return float(np.mean(totals))
