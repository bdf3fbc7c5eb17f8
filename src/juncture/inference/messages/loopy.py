"""`LoopyBP`: sum-product and max-product messages on any factor graph.

Messages are passed as in a tree, again and again, until none changes. In a forest, also one that the observed variables
leave over, the answers are exact. On a graph with cycles they are an approximation, often a good one, without a bound;
the messages may not converge, which `damping` may help. The log-evidence is that of Bethe: exact in a forest. Choose it
where exact inference is too large. Cost: every table once for each of its variables, in each step (Pearl 1988;
Kschischang, Frey and Loeliger 2001; Yedidia, Freeman and Weiss 2005).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from juncture.checks import check_choice, check_number
from juncture.data.findings import Findings
from juncture.inference.engines.contract import BELIEFS, Cost, EnginePlan, Question
from juncture.inference.engines.real_variables import is_gaussian
from juncture.inference.exact.lowering import check_factors
from juncture.inference.factor_answers import FactorAnswers
from juncture.inference.factor_arrays import factor_arrays, log_likelihoods
from juncture.inference.messages.diagnosis import diagnose
from juncture.inference.messages.gaussian_loopy import GaussianLoopyPlan, pair_system
from juncture.inference.messages.loopy_answers import make_answers
from juncture.inference.messages.message_layout import MessageGraph, scale_likelihoods
from juncture.inference.messages.message_run import MessageSchedule, run_messages
from juncture.iteration import check_stopping_rule
from juncture.kernels.messages.schedules import FLOODING, RESIDUAL
from juncture.memory import advise_fewer, check_memory
from juncture.values import number_of

SCHEDULES = {"flooding": FLOODING, "residual": RESIDUAL}


@dataclass(frozen=True)
class LoopyBP:
    """Loopy belief propagation: messages between factors and variables, until they do not change.

    Parameters
    ----------
    damping
        Which share of an old message a new one keeps, in logarithms: 0 keeps nothing. A forest needs none and takes
        none.
    tolerance
        The messages have converged when no number of a message, scaled to sum to 1, changes by more in a step.
    max_steps
        The most steps; in each one, every node is updated about once.
    schedule
        "residual" updates the variable first whose neighbours have changed most; "flooding" updates all at once from
        the messages of the step before.
    memory_limit
        In bytes; a run that needs more raises `TooLarge`.
    """

    damping: float = 0.0
    tolerance: float = 1e-9
    max_steps: int = 200
    schedule: Literal["residual", "flooding"] = "residual"
    memory_limit: int | None = None
    name: ClassVar[str] = "loopy"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.EXPECTED, Question.MODE}

    def __post_init__(self) -> None:
        check_number(self.damping, "damping", least=0, below=1)
        check_stopping_rule(self.tolerance, self.max_steps)
        check_choice(self.schedule, tuple(SCHEDULES), "schedule")

    def with_memory_limit(self, memory_limit: int) -> LoopyBP:
        return replace(self, memory_limit=memory_limit)

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EnginePlan:
        check_factors(model, self.name)
        if is_gaussian(model):
            return GaussianLoopyPlan(self, pair_system(model))
        return LoopyPlan(self, find_cost(model))


@dataclass(frozen=True)
class MaxProductBP(LoopyBP):
    """`LoopyBP` that is only asked for the most probable assignment, by max-product."""

    name: ClassVar[str] = "max-product"
    answers: ClassVar[frozenset[Question]] = frozenset({Question.MODE})


def find_cost(model: Any) -> Cost:
    """The cost of one step for one row."""
    arrays = factor_arrays(model)
    sizes, widths = arrays.table_sizes.astype(float), np.diff(arrays.scope_starts)
    entries = float(arrays.num_states[arrays.scopes].sum())
    return Cost(
        int(widths.max(initial=1)) - 1,
        float(sizes.max(initial=0)),
        8.0 * (4 * entries + 3 * arrays.total_states + 2 * arrays.log_values.size),
        2 * float(sizes @ widths) + 6 * entries,
    )


@dataclass(frozen=True, eq=False)
class LoopyPlan:
    """A run of loopy belief propagation; `cost` is that of one step for one row."""

    engine: LoopyBP
    cost: Cost

    def prepare(self) -> None:
        """Nothing is shared between runs of different models."""

    def run(
        self,
        model: Any,
        findings: Findings,
        *,
        questions: frozenset[Question] = BELIEFS,
        rng: np.random.Generator | None = None,
        budget: float | None = None,
    ) -> FactorAnswers:
        deadline = math.inf if budget is None else time.monotonic() + budget
        graph, num_rows = MessageGraph.of(model), findings.num_rows
        what = f"the messages of {number_of(num_rows, 'row')}"
        check_memory(self.cost.bytes * max(num_rows, 1), what, advise_fewer(num_rows), self.engine.memory_limit)
        logs, log_scales = scale_likelihoods(graph, log_likelihoods(graph.arrays, findings))
        wants_sums = bool(questions & self.engine.answers - {Question.MODE})
        wants_best = Question.MODE in questions or not wants_sums
        schedule = MessageSchedule(
            SCHEDULES[self.engine.schedule], self.engine.damping, self.engine.tolerance, self.engine.max_steps
        )
        run = run_messages(graph, logs, schedule, deadline, wants_sums=wants_sums, wants_best=wants_best)
        diagnostics = diagnose(self.engine, run)
        return make_answers(graph, model, findings, log_scales, run, diagnostics, self.engine.name)
