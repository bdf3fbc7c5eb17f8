"""What `most_probable(method="auto")` does where an exact answer is too large: the best of several searches.

A minimum cut is exact where it applies. Otherwise max-product messages, plain and damped, and iterated conditional
modes each find an assignment of all variables, and the best of them counts, with a proven bound of what any other
assignment could reach. Where some variables would have to be summed out, or several assignments are asked for, nothing
approximates: the refusal stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import ApproximationWarning, TooLarge, Unsupported, warn_user
from juncture.inference.automatic.marginals import (
    Problem,
    decisive,
    engines_in_order,
    find_bounds,
    run_in_order,
    tightest,
)
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import BELIEFS, Answers, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_arrays import factor_arrays, log_likelihoods, node_scope
from juncture.inference.engines.factor_maxima import bound_log_joint
from juncture.inference.engines.most_probable_codes import BestCodes
from juncture.inference.messages.icm import ICM
from juncture.inference.messages.loopy import MaxProductBP
from juncture.inference.messages.max_flow import MaxFlow

MODE = frozenset({Question.MODE})
SEARCHES = (MaxProductBP(), MaxProductBP(damping=0.5), ICM())
SHARE = 0.7  # of the budget, for the searches; the rest is for the bound


@dataclass(frozen=True)
class BestOf(Engine):
    """Several engines of `most_probable`, of whose assignments the best counts, and engines that bound the others."""

    engines: tuple[Engine, ...]
    bounding: tuple[Engine, ...] = ()  # of log p(evidence), which no assignment exceeds
    answers: ClassVar[frozenset[Question]] = MODE

    @property
    def name(self) -> str:  # type: ignore[override]
        return " and ".join(dict.fromkeys(engine.name for engine in self.engines))

    def with_memory_limit(self, memory_limit: int) -> BestOf:
        both = (self.engines, self.bounding)
        return BestOf(*(tuple(engine.with_memory_limit(memory_limit) for engine in engines) for engines in both))

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BestOfPlan:
        both = (self.engines, self.bounding)
        plans = (tuple(engine.compile(model, observed, targets) for engine in engines) for engines in both)
        return BestOfPlan(self, *plans)


@dataclass(frozen=True, eq=False)
class BestOfPlan(EnginePlan):
    """The plans of all engines."""

    engine: BestOf
    plans: tuple[EnginePlan, ...]
    bounding: tuple[EnginePlan, ...]

    @property
    def cost(self) -> Cost:
        first, *others = (*self.plans, *self.bounding)
        return reduce(lambda cost, plan: cost.with_further(plan.cost), others, first.cost)

    def prepare(self) -> None:
        for plan in (*self.plans, *self.bounding):
            plan.prepare()

    def run(self, model: Any, query: Query) -> BestCodes:
        share = None if query.budget is None else query.budget / len((*self.plans, *self.bounding))
        found = [plan.run(model, replace(query, questions=MODE, budget=share)) for plan in self.plans]
        bounds = [plan.run(model, replace(query, questions=BELIEFS, budget=share)) for plan in self.bounding]
        return join_best(self.engine, model, query.findings, found, bounds)


def join_best(
    engine: BestOf, model: Any, findings: Findings, found: Sequence[Any], bounds: Sequence[Answers]
) -> BestCodes:
    """Of each row the best assignment, the first of equal ones, and the lowest bound of all assignments."""
    logs = np.stack([answers.log_joint for answers in found])
    winners = logs.argmax(axis=0)
    rows = np.arange(findings.num_rows)
    arrays = factor_arrays(model)
    by_maxima = bound_log_joint(arrays, log_likelihoods(arrays, findings))
    upper = tightest(np.minimum, [by_maxima, *(np.atleast_1d(each.diagnostics.upper) for each in bounds)])
    upper = np.maximum(upper, logs.max(axis=0))
    diagnostics = replace(
        found[int(winners[0]) if findings.is_single else 0].diagnostics,
        exact=False,
        converged=all(found[winner].diagnostics.converged for winner in winners),
        upper=float(upper[0]) if findings.is_single else upper,
        engine=None,
    )
    codes = np.stack([answers.codes for answers in found])[winners, rows]
    return BestCodes(node_scope(model), findings, codes, logs[winners, rows], diagnostics, engine.name)


def approximate_mode(model: Any, query: Query, refusal: TooLarge) -> Beliefs:
    """The answers of the searches where an exact answer was refused, with one warning unless a cut proves them."""
    problem, budget = Problem(model, query), query.budget
    cut = run_cut(problem)
    if cut is not None:
        return problem.beliefs(MaxFlow(), cut)
    share = None if budget is None else SHARE * budget / len(SEARCHES)
    runs = [problem.run(engine, share, MODE) for engine in SEARCHES if takes(problem, engine)]
    if budget is None:
        bounds = find_bounds(problem)
    else:
        bounds = run_in_order(problem, engines_in_order(problem), (1 - SHARE) * budget)
    bounds = decisive([run for run in bounds if run.answers.diagnostics.upper is not None], ["upper"])
    engine: Any = BestOf(tuple(run.engine for run in runs), tuple(run.engine for run in bounds))
    found, upper = ([run.answers for run in each] for each in (runs, bounds))
    answers = join_best(engine, model, query.findings, found, upper)
    answers = replace(answers, diagnostics=replace(answers.diagnostics, engine=engine))
    beliefs = problem.beliefs(engine, answers)
    warn_user(describe(beliefs, refusal), ApproximationWarning)
    return beliefs


def run_cut(problem: Problem) -> BestCodes | None:
    """The exact mode of an attractive binary model of pairs; None for others."""
    try:
        answers: Any = problem.run(MaxFlow(), questions=MODE).answers
    except (Unsupported, TooLarge):
        return None
    if not answers.diagnostics.exact:
        return None
    found: BestCodes = replace(answers, diagnostics=replace(answers.diagnostics, engine=MaxFlow()))
    return found


def takes(problem: Problem, engine: Engine) -> bool:
    """Whether an engine takes the model: some cannot sum out hidden variables."""
    try:
        problem.compile(engine)
    except Unsupported:
        return False
    return True


def describe(beliefs: Beliefs, refusal: TooLarge) -> str:
    """What was refused, what ran instead, and what any assignment could reach."""
    parts = [str(refusal).split(";", 1)[0], f"the states are the best that {beliefs.method} found, not proven best"]
    if beliefs.is_single:
        log_joint, upper = float(beliefs.answers.log_joint[0]), beliefs.diagnostics.upper  # type: ignore[attr-defined]
        parts.append(f"their log_joint is {log_joint:.6g}, and none exceeds {upper:.6g}")
    return "; ".join([*parts, 'method="exact" refuses instead'])
