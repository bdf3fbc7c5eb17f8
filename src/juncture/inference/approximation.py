"""What `method="auto"` does where an exact answer is too large: a promising engine, with bounds around its answer.

An engine for the beliefs and one for bounds of log p(evidence) run one after the other (`Bracketed`). Without a budget
their dials depend on the model alone. With a budget the dials are turned up while the next turn, predicted from the
last one, fits into the time that is left. The beliefs say which pair ran; it repeats the answer bit for bit.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import ApproximationWarning, NotConvergedWarning, TooLarge, warn_user
from juncture.inference.bounded.mini_bucket import MiniBucket
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import BELIEFS, Answers, Cost, Engine, EnginePlan, Question
from juncture.inference.messages.loopy import LoopyBP

GROWTH = 6.0  # how many times as long as the last turn of a dial the next one is taken to last
QUICK = 2e8  # operations of a step up to which the bound of mini-buckets is raised where there is no budget
MAX_BOUND = 40
SHARES = (0.4, 0.6)  # of the budget, for the beliefs and for the bounds


@dataclass(frozen=True)
class Bracketed:
    """An engine for the beliefs, and an engine for the bounds of log p(evidence) that go with them."""

    answering: Engine
    bounding: Engine
    answers: ClassVar[frozenset[Question]] = BELIEFS

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.answering.name

    def with_memory_limit(self, memory_limit: int) -> Bracketed:
        return Bracketed(*(engine.with_memory_limit(memory_limit) for engine in (self.answering, self.bounding)))

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BracketedPlan:
        return BracketedPlan(*(engine.compile(model, observed, targets) for engine in (self.answering, self.bounding)))


@dataclass(frozen=True, eq=False)
class BracketedPlan:
    """The plans of both engines."""

    answering: EnginePlan
    bounding: EnginePlan

    @property
    def cost(self) -> Cost:
        return self.answering.cost.with_further(self.bounding.cost)

    def prepare(self) -> None:
        self.answering.prepare()
        self.bounding.prepare()

    def run(
        self,
        model: Any,
        findings: Findings,
        *,
        questions: frozenset[Question] = BELIEFS,
        rng: np.random.Generator | None = None,
        budget: float | None = None,
    ) -> Answers:
        shares = [None if budget is None else share * budget for share in SHARES]
        answers = self.answering.run(model, findings, questions=questions, rng=rng, budget=shares[0])
        return bracket(answers, self.bounding.run(model, findings, questions=questions, rng=rng, budget=shares[1]))


def bracket(answers: Any, bounds: Answers) -> Any:
    """The answers of one engine with the bounds of another; the estimate of log p(evidence) is moved inside them."""
    lower, upper = bounds.diagnostics.lower, bounds.diagnostics.upper
    estimate = np.clip(answers.log_evidence, lower, upper)
    diagnostics = replace(answers.diagnostics, lower=lower, upper=upper)
    return replace(answers, log_evidence=estimate, diagnostics=diagnostics)


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

    def run(self, engine: Engine, budget: float | None = None) -> Run:
        """The answers of an engine, which stops within the budget if it can."""
        started = time.monotonic()
        plan = engine.compile(self.model, self.findings.names, self.targets)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # the one warning of `approximate` says it
            answers = plan.run(self.model, self.findings, rng=self.rng, budget=budget)
        return Run(answers.diagnostics.engine or engine, answers, time.monotonic() - started)


def approximate(
    query: Query, refusal: TooLarge, *, memory_limit: int | None = None, budget: float | None = None
) -> Any:
    """Approximate beliefs where an exact answer was refused, with one warning that says by which engine."""
    if budget is None:
        best = query.run(LoopyBP())
        bounds = query.run(quick_buckets(query))
    else:
        best = query.run(LoopyBP(), SHARES[0] * budget)
        bounds = raise_bound(query, budget - best.seconds)
    engine: Engine = Bracketed(best.engine, bounds.engine)
    if memory_limit is not None:
        engine = engine.with_memory_limit(memory_limit)
    answers = bracket(best.answers, bounds.answers)
    answers = replace(answers, diagnostics=replace(answers.diagnostics, engine=engine))
    beliefs = Beliefs(query.model, engine, query.targets, answers, query.findings.is_single)
    warn_user(describe(beliefs, refusal), ApproximationWarning)
    return beliefs


def quick_buckets(query: Query) -> MiniBucket:
    """Mini-buckets of the largest bound whose steps are quick."""
    chosen = MiniBucket(bound=1)
    for engine in bucket_dial():
        cost = engine.compile(query.model, query.findings.names, query.targets).cost
        if cost.operations * query.findings.num_rows > QUICK:
            break
        chosen = engine
    return chosen


def raise_bound(query: Query, seconds: float) -> Run:
    """Mini-buckets with a larger and larger bound, while the next one is predicted to end in time."""
    deadline = time.monotonic() + seconds
    best: Run | None = None
    for engine in bucket_dial():
        left = deadline - time.monotonic()
        if best is not None and GROWTH * best.seconds > left:
            break
        try:
            run = query.run(engine, max(left, 0.0))
        except TooLarge:
            if best is None:
                raise
            break
        best = run if best is None or is_tighter(run, best) else best
        if run.answers.diagnostics.exact:
            break
    assert best is not None  # noqa: S101  the dial has a first position
    return best


def bucket_dial() -> Iterator[MiniBucket]:
    return (MiniBucket(bound=bound) for bound in range(2, MAX_BOUND, 2))


def is_tighter(run: Run, other: Run) -> bool:
    return bool(np.sum(gap(run)) <= np.sum(gap(other)))


def gap(run: Run) -> np.ndarray:
    """upper - lower of each row."""
    found = run.answers.diagnostics
    both = np.atleast_1d(found.upper), np.atleast_1d(found.lower)
    return np.where(np.isneginf(both[0]), 0.0, both[0] - np.maximum(both[1], -1e300))


def describe(beliefs: Beliefs, refusal: TooLarge) -> str:
    """What was refused, what ran instead, and how far off it may be."""
    found = beliefs.diagnostics
    converged = "" if found.converged else ", which did not converge"
    reason = str(refusal).split(";", 1)[0]
    head = f"{reason}; the answer is an approximation by {beliefs.method!r}{converged}"
    if not beliefs.is_single or not math.isfinite(found.upper - found.lower):
        return f'{head}; method="exact" refuses instead'
    return (
        f'{head}; log p(evidence) lies between {found.lower:.6g} and {found.upper:.6g}; method="exact" refuses instead'
    )
