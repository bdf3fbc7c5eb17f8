"""What `method="auto"` does where an exact answer is too large: a promising engine, with bounds around its answer.

An engine for the beliefs and others for bounds of log p(evidence) run one after the other (`Bracketed`). Without a
budget their dials depend on the model alone. With a budget the dials are turned up while the next turn, predicted from
the last one, fits into the time that is left. The beliefs say which engines ran; they repeat the answer bit for bit.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import ApproximationWarning, NotConvergedWarning, TooLarge, warn_user
from juncture.inference.bounded.bounded_clique_tree import BoundedCliqueTree
from juncture.inference.bounded.mini_bucket import MiniBucket
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import BELIEFS, Answers, Cost, Engine, EnginePlan, Question
from juncture.inference.factor_arrays import factor_arrays, log_likelihoods
from juncture.inference.factor_maxima import bound_log_evidence
from juncture.inference.messages.loopy import LoopyBP
from juncture.inference.messages.tree_reweighted import TreeReweighted
from juncture.inference.variational.mean_field import MeanField

GROWTH = 4.0  # how many times as long as the last turn of a dial the next one is taken to last
QUICK = 3e7  # operations up to which the bound of mini-buckets is raised where there is no budget
STEPS = 5  # of tightening that mini-buckets then take
SIZES = (2**16, 2**14, 2**12, 2**10)  # of the tables of bounded clique trees where there is no budget
RISING_SIZES = (2**8, 2**10, 2**12, 2**14, 2**16, 2**18, 2**20, 2**22)
MAX_BOUND = 40
OPERATIONS_PER_NODE = 10_000  # what a step of mini-buckets takes for each node, besides its tables
SECONDS_PER_NODE = 5e-3  # what engines of bounded tables take at the least for each node
MOST_NODES = 2000  # for which they are asked where there is no budget
FACTORS_PER_NODE = 3  # more of them take as much time as more nodes
MOST_PAIRS = 20_000  # for which tree-reweighted messages are asked then
SHARE = 0.5  # of the budget, for the beliefs; the rest is for the bounds


@dataclass(frozen=True)
class Bracketed:
    """An engine for the beliefs, and engines for the bounds of log p(evidence) that go with them."""

    answering: Engine
    bounding: tuple[Engine, ...]
    answers: ClassVar[frozenset[Question]] = BELIEFS

    @property
    def name(self) -> str:
        return self.answering.name

    def with_memory_limit(self, memory_limit: int) -> Bracketed:
        limited = tuple(engine.with_memory_limit(memory_limit) for engine in self.bounding)
        return Bracketed(self.answering.with_memory_limit(memory_limit), limited)

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BracketedPlan:
        bounding = tuple(engine.compile(model, observed, targets) for engine in self.bounding)
        return BracketedPlan(self.answering.compile(model, observed, targets), bounding)


@dataclass(frozen=True, eq=False)
class BracketedPlan:
    """The plans of all engines."""

    answering: EnginePlan
    bounding: tuple[EnginePlan, ...]

    @property
    def cost(self) -> Cost:
        return reduce(lambda cost, plan: cost.with_further(plan.cost), self.bounding, self.answering.cost)

    def prepare(self) -> None:
        for plan in (self.answering, *self.bounding):
            plan.prepare()

    def run(
        self,
        model: Any,
        findings: Findings,
        *,
        questions: frozenset[Question] = BELIEFS,
        rng: np.random.Generator | None = None,
        budget: float | None = None,
    ) -> Answers:
        share = None if budget is None else budget / (1 + len(self.bounding))
        answers = self.answering.run(model, findings, questions=questions, rng=rng, budget=share)
        bounds = [plan.run(model, findings, questions=questions, rng=rng, budget=share) for plan in self.bounding]
        return bracket(model, answers, bounds)


def bracket(model: Any, answers: Any, bounds: Sequence[Answers]) -> Any:
    """The answers of one engine with the bounds of others; the estimate of log p(evidence) is moved inside them.

    The upper bound by the largest entries of all tables is always there.
    """
    arrays = factor_arrays(model)
    largest = bound_log_evidence(model, arrays, log_likelihoods(arrays, answers.findings))
    crude = float(largest[0]) if answers.findings.is_single else largest
    lower = tightest(np.maximum, [found.diagnostics.lower for found in bounds])
    upper = tightest(np.minimum, [crude, *(found.diagnostics.upper for found in bounds)])
    upper = upper if lower is None else tightest(np.maximum, [upper, lower])  # equal, but for rounding
    estimate = np.clip(answers.log_evidence, lower, upper)
    diagnostics = replace(answers.diagnostics, lower=lower, upper=upper)
    return replace(answers, log_evidence=estimate, diagnostics=diagnostics)


def tightest(choose: np.ufunc, bounds: Sequence[Any]) -> Any:
    """Of each row the best of the bounds that are known: a number, or (row,); None where none is known."""
    known = [bound for bound in bounds if bound is not None]
    best = choose.reduce(np.array(known), axis=0) if known else None
    return float(best) if isinstance(best, np.floating) else best


@dataclass(frozen=True)
class Run:
    """An engine, configured so that it repeats its answers, and how long they took."""

    engine: Engine
    answers: Answers
    seconds: float


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked: a model, one or more rows of evidence, and targets."""

    model: Any
    findings: Findings
    targets: tuple[str, ...]
    rng: np.random.Generator | None = None
    memory_limit: int | None = None

    def run(self, engine: Engine, budget: float | None = None, questions: frozenset[Question] = BELIEFS) -> Run:
        """The answers of an engine, which keeps to the limit of memory, and stops within the budget if it can."""
        started = time.monotonic()
        if self.memory_limit is not None:
            engine = engine.with_memory_limit(self.memory_limit)
        plan = engine.compile(self.model, self.findings.names, self.targets)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # the one warning of `approximate` says it
            answers = plan.run(self.model, self.findings, questions=questions, rng=self.rng, budget=budget)
        return Run(answers.diagnostics.engine or engine, answers, time.monotonic() - started)


def approximate(query: Query, refusal: TooLarge, budget: float | None = None) -> Beliefs:
    """Approximate beliefs where an exact answer was refused, with one warning that says by which engine."""
    started = time.monotonic()
    best = find_beliefs(query, None if budget is None else SHARE * budget)
    bounds = find_bounds(query, None if budget is None else budget - (time.monotonic() - started))
    engine: Any = Bracketed(best.engine, tuple(run.engine for run in bounds))
    answers = bracket(query.model, best.answers, [run.answers for run in bounds])
    answers = replace(answers, diagnostics=replace(answers.diagnostics, engine=engine))
    beliefs = Beliefs(query.model, engine, query.targets, answers, query.findings.is_single)
    warn_user(describe(beliefs, refusal), ApproximationWarning)
    return beliefs


def find_beliefs(query: Query, seconds: float | None) -> Run:
    """Beliefs by clique trees of bounded tables, the larger the more time there is; of large models by messages."""
    best = query.run(LoopyBP(), seconds)
    if seconds is None:
        trees = (try_run(query, BoundedCliqueTree(size)) for size in SIZES if is_small(query, math.inf))
        return next((run for run in trees if run is not None), best)
    deadline, last = time.monotonic() + seconds, 0.0
    for size in RISING_SIZES:
        left = deadline - time.monotonic()
        run = (
            try_run(query, BoundedCliqueTree(size), left / 2)
            if is_small(query, left) and GROWTH * last <= left
            else None
        )
        if run is None:
            break
        best, last = run, run.seconds
        if run.answers.diagnostics.exact:
            break
    return best


def try_run(query: Query, engine: Engine, seconds: float | None = None) -> Run | None:
    """A run of an engine; None where it does not keep to the limit of memory or of time."""
    try:
        return query.run(engine, seconds)
    except TooLarge:
        return None


def find_bounds(query: Query, seconds: float | None) -> list[Run]:
    """Bounds of log p(evidence): by mini-buckets, or of large models by mean field and tree-reweighted messages.

    Where tables have zeros, mean field would have to search where to start, and is left out.
    """
    if is_small(query, math.inf if seconds is None else seconds):
        try:
            return [query.run(quick_buckets(query)) if seconds is None else raise_bound(query, seconds)]
        except TooLarge:  # no bound is small enough
            pass
    engines: list[Engine] = [] if np.isneginf(factor_arrays(query.model).log_values).any() else [MeanField()]
    engines += [TreeReweighted()] if is_pairwise(query) else []
    share = None if seconds is None else max(seconds, 0.0) / max(len(engines), 1)
    return [run for engine in engines if (run := try_run(query, engine, share)) is not None]


def is_pairwise(query: Query) -> bool:
    """Whether tree-reweighted messages take the model: no factor has three variables, and they are not too many."""
    arrays = factor_arrays(query.model)
    has_pairs = bool((np.diff(arrays.scope_starts) <= 2).all())
    return has_pairs and arrays.num_nodes * query.findings.num_rows <= MOST_PAIRS


def is_small(query: Query, seconds: float) -> bool:
    """Whether engines of bounded tables answer in so many seconds; where there is no limit, within a few."""
    arrays = factor_arrays(query.model)
    num_nodes = max(arrays.num_nodes, arrays.num_factors / FACTORS_PER_NODE) * query.findings.num_rows
    return num_nodes <= (MOST_NODES if seconds == math.inf else seconds / SECONDS_PER_NODE)


def quick_buckets(query: Query) -> MiniBucket:
    """Mini-buckets of the largest bound whose steps are quick and whose tables keep to the limit of memory."""
    work = OPERATIONS_PER_NODE * len(query.model.variables)
    most = math.inf if query.memory_limit is None else query.memory_limit
    chosen = MiniBucket(bound=2, max_steps=STEPS)
    for engine in bucket_dial(STEPS):
        cost = engine.compile(query.model, query.findings.names, query.targets).cost
        if (cost.operations + work) * query.findings.num_rows > QUICK or cost.bytes > most:
            break
        chosen = engine
    return chosen


def raise_bound(query: Query, seconds: float) -> Run:
    """Mini-buckets with a larger and larger bound, while the next one is predicted to end in time."""
    deadline = time.monotonic() + seconds
    best = last = query.run(MiniBucket(bound=2), seconds)
    for engine in bucket_dial():
        left = deadline - time.monotonic()
        if last.answers.diagnostics.exact or GROWTH * last.seconds > left:
            break
        try:
            last = query.run(engine, left)
        except TooLarge:
            break
        best = last if is_tighter(last, best) else best
    return best


def bucket_dial(max_steps: int = 30) -> Iterator[MiniBucket]:
    return (MiniBucket(bound=bound, max_steps=max_steps) for bound in range(4, MAX_BOUND, 2))


def is_tighter(run: Run, other: Run) -> bool:
    return bool(np.sum(gap(run)) <= np.sum(gap(other)))


def gap(run: Run) -> np.ndarray:
    """upper - lower of each row, 0 where the evidence is impossible."""
    upper, lower = (np.atleast_1d(bound) for bound in (run.answers.diagnostics.upper, run.answers.diagnostics.lower))
    return np.where(np.isneginf(upper), 0.0, upper - np.maximum(lower, -1e300))


def describe(beliefs: Beliefs, refusal: TooLarge) -> str:
    """What was refused, what ran instead, and how far off it may be."""
    found = beliefs.diagnostics
    converged = "" if found.converged else ", which did not converge"
    parts = [str(refusal).split(";", 1)[0], f"the answer is an approximation by {beliefs.method!r}{converged}"]
    if beliefs.is_single and found.lower is not None and math.isfinite(found.upper - found.lower):
        parts.append(f"log p(evidence) lies between {found.lower:.6g} and {found.upper:.6g}")
    elif beliefs.is_single and math.isfinite(found.upper):
        parts.append(f"log p(evidence) is at most {found.upper:.6g}")
    return "; ".join([*parts, 'method="exact" refuses instead'])
