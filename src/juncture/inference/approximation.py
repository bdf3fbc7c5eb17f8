"""What `method="auto"` does where an exact answer is too large: a promising engine, with bounds around its answer.

An engine for the beliefs and one for the bounds of log p(evidence) run beside each other (`Bracketed`). Without a budget
their dials depend on the model alone. With a budget the dials are turned up, each step predicted from the one before,
while time is left; then `diagnostics.engine` is the pair that ran last, which repeats the answer bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import ApproximationWarning, TooLarge, Unsupported, warn_user
from juncture.inference.bounded.clique_trees import BoundedCliqueTree
from juncture.inference.bounded.mini_buckets import MiniBucket
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import BELIEFS, Answers, Cost, Engine, EnginePlan, Question
from juncture.inference.messages.loopy import LoopyBP

GROWTH = 4.0  # how much longer the next turn of a dial is taken to run
SHARE = 0.5  # of the time that is left, for the bounds


@dataclass(frozen=True)
class Bracketed:
    """An engine for the beliefs, and an engine for the bounds of log p(evidence) that go with them."""

    answering: Engine
    bounding: Engine
    answers: ClassVar[frozenset[Question]] = BELIEFS

    @property
    def name(self) -> str:
        return self.answering.name

    def with_memory_limit(self, memory_limit: int) -> Bracketed:
        return Bracketed(
            self.answering.with_memory_limit(memory_limit), self.bounding.with_memory_limit(memory_limit)
        )

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BracketedPlan:
        plans = (engine.compile(model, observed, targets) for engine in (self.answering, self.bounding))
        return BracketedPlan(*plans)


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
        answers = self.answering.run(model, findings, questions=questions, rng=rng, budget=budget)
        bounds = self.bounding.run(model, findings, questions=questions, rng=rng, budget=budget)
        return bracket(answers, bounds)


def bracket(answers: Any, bounds: Answers) -> Answers:
    """The answers of one engine with the bounds of another; the estimate of log p(evidence) is kept inside them."""
    lower, upper = bounds.diagnostics.lower, bounds.diagnostics.upper
    estimate = np.clip(answers.log_evidence, lower, upper)
    diagnostics = replace(answers.diagnostics, lower=lower, upper=upper)
    bracketed: Answers = replace(answers, log_evidence=estimate, diagnostics=diagnostics)
    return bracketed
