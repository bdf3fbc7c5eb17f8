"""What `method="auto"` does where an exact answer is too large: promising engines in turn, with bounds of the answer.

Of beliefs, an engine for the marginals and others for bounds of log p(evidence) run one after the other (`Bracketed`).
Without a budget their dials depend on the model alone. With a budget the engines come in an order that depends on the
model alone, while the next one, predicted from the last of its kind, fits into the time that is left: a longer budget
is a longer part of the same order. The bounds are the tightest of all that ran, so that no budget loosens them, and the
beliefs are those of the best. The beliefs say which engines gave them; they repeat the answer bit for bit.

Of the most probable assignment, a minimum cut is exact where it applies. Otherwise max-product messages, plain and
damped, and iterated conditional modes each find an assignment of all variables, and the best of them counts
(`BestOf`), with a proven bound of what any other assignment could reach. Where some variables would have to be summed
out, or several assignments are asked for, nothing approximates: the refusal stands.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import ApproximationWarning, NotConvergedWarning, TooLarge, Unsupported, warn_user
from juncture.inference.bounded.bounded_clique_tree import BoundedCliqueTree
from juncture.inference.bounded.mini_bucket import MiniBucket
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.contract import BELIEFS, Answers, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import BestCodes
from juncture.inference.engines.factor_arrays import (
    bound_log_evidence,
    bound_log_joint,
    factor_arrays,
    least_log_joint,
    log_likelihoods,
    node_scope,
)
from juncture.inference.messages.icm import ICM
from juncture.inference.messages.loopy import LoopyAnswers, LoopyBP, MaxProductBP
from juncture.inference.messages.max_flow import MaxFlow
from juncture.inference.messages.tree_reweighted import TreeReweighted
from juncture.inference.variational.mean_field import MeanField

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

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
ROUNDING = 1e-9  # of the sum of the smallest entries
SHARE = 0.5  # of the time that is left, for an engine; the rest is for those after it


@dataclass(frozen=True)
class Bracketed(Engine):
    """An engine for the beliefs, and engines for the bounds of log p(evidence) that go with them."""

    answering: Engine
    bounding: tuple[Engine, ...]
    answers: ClassVar[frozenset[Question]] = BELIEFS

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.answering.name

    def with_memory_limit(self, memory_limit: int) -> Bracketed:
        limited = tuple(engine.with_memory_limit(memory_limit) for engine in self.bounding)
        return Bracketed(self.answering.with_memory_limit(memory_limit), limited)

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BracketedPlan:
        bounding = tuple(engine.compile(model, observed, targets) for engine in self.bounding)
        return BracketedPlan(self.answering.compile(model, observed, targets), bounding)


@dataclass(frozen=True, eq=False)
class BracketedPlan(EnginePlan):
    """The plans of all engines."""

    answering: EnginePlan
    bounding: tuple[EnginePlan, ...]

    @property
    def cost(self) -> Cost:
        return reduce(lambda cost, plan: cost.with_further(plan.cost), self.bounding, self.answering.cost)

    def prepare(self) -> None:
        for plan in (self.answering, *self.bounding):
            plan.prepare()

    def run(self, model: Network, query: Query) -> Answers:
        share = None if query.budget is None else query.budget / (1 + len(self.bounding))
        answers = self.answering.run(model, replace(query, budget=share))
        bounds = [plan.run(model, replace(query, budget=share)) for plan in self.bounding]
        return bracket(model, answers, bounds)


def bracket(model: Network, answers: Any, bounds: Sequence[Answers]) -> Any:
    """The answers of one engine with the bounds of all; its estimate of log p(evidence) is moved inside them.

    The upper bound by the largest entries of all tables is always there. Messages that contradict each other, and give
    less than any possible states have, or had not converged and lie beyond the bounds, are no estimate: it is NaN then.
    """
    arrays = factor_arrays(model)
    likelihoods = log_likelihoods(arrays, answers.findings)
    largest, least = bound_log_evidence(model, arrays, likelihoods), least_log_joint(arrays, likelihoods)
    crude = float(largest[0]) if answers.findings.is_single else largest
    found = [each.diagnostics for each in (answers, *bounds)]
    lower = tightest(np.maximum, [each.lower for each in found])
    upper = tightest(np.minimum, [crude, *(each.upper for each in found)])
    upper = upper if lower is None else tightest(np.maximum, [upper, lower])  # equal, but for rounding
    estimate = np.clip(answers.log_evidence, lower, upper)
    is_unsettled = answers.is_unsettled if isinstance(answers, LoopyAnswers) else np.zeros(len(estimate), dtype=bool)
    is_beyond = is_unsettled & (estimate != answers.log_evidence)
    is_none = (is_beyond | (estimate < least - ROUNDING * np.abs(least))) & (estimate > -np.inf)
    diagnostics = replace(answers.diagnostics, lower=lower, upper=upper)
    return replace(answers, log_evidence=np.where(is_none, np.nan, estimate), diagnostics=diagnostics)


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
class Problem:
    """A model and a query about it, which engines are tried on in turn."""

    model: Network
    query: Query

    @property
    def num_rows(self) -> int:
        return self.query.findings.num_rows

    def compile(self, engine: Engine) -> EnginePlan:
        return engine.compile(self.model, self.query.findings.names, self.query.targets)

    def run(self, engine: Engine, budget: float | None = None, questions: frozenset[Question] = BELIEFS) -> Run:
        """The answers of an engine, which keeps to the limit of memory, and stops within the budget if it can."""
        started = time.monotonic()
        if self.query.memory_limit is not None:
            engine = engine.with_memory_limit(self.query.memory_limit)
        plan = self.compile(engine)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # the one warning of `approximate` says it
            answers = plan.run(self.model, replace(self.query, questions=questions, budget=budget))
        return Run(answers.diagnostics.engine or engine, answers, time.monotonic() - started)

    def beliefs(self, engine: Engine, answers: Answers) -> Beliefs:
        return Beliefs(self.model, engine, self.query.targets, answers, self.query.findings.is_single)


def approximate(model: Network, query: Query, refusal: TooLarge) -> Beliefs:
    """Approximate beliefs where an exact answer was refused, with one warning that says by which engine."""
    problem, budget = Problem(model, query), query.budget
    if budget is None:
        runs = [find_beliefs(problem), *find_bounds(problem)]
    else:
        started, messages = time.monotonic(), problem.run(LoopyBP(), SHARE * budget)
        left = 0.0 if messages.answers.diagnostics.exact else started + budget - time.monotonic()
        runs = [messages, *run_in_order(problem, engines_in_order(problem, RISING_SIZES), left)]
    best = max(reversed(runs), key=rank)
    bounds = [run for run in decisive(runs) if run is not best]
    engine: Any = Bracketed(best.engine, tuple(run.engine for run in bounds))
    answers = bracket(model, best.answers, [run.answers for run in bounds])
    answers = replace(answers, diagnostics=replace(answers.diagnostics, engine=engine))
    beliefs = problem.beliefs(engine, answers)
    warn_user(describe_beliefs(beliefs, refusal), ApproximationWarning)
    return beliefs


def rank(run: Run) -> int:
    """Which of several runs gives the beliefs: an exact one, else the last of the clique trees, else messages."""
    if run.answers.diagnostics.exact:
        return 3
    return 2 if isinstance(run.engine, BoundedCliqueTree) else int(isinstance(run.engine, LoopyBP))


def decisive(runs: Sequence[Run], sides: Sequence[str] = ("lower", "upper")) -> list[Run]:
    """The runs that have the tightest bounds of some row; of equal ones the first."""
    first: set[int] = set()
    for side in sides:
        bounds = {index: getattr(run.answers.diagnostics, side) for index, run in enumerate(runs)}
        known = {index: np.atleast_1d(bound) for index, bound in bounds.items() if bound is not None}
        if known:
            table, indices = np.stack(list(known.values())), np.array(list(known))
            first.update(indices[(table.argmax if side == "lower" else table.argmin)(axis=0)].tolist())
    return [runs[index] for index in sorted(first)]


# --- with a budget ---------------------------------------------------------------------------------------------------
def engines_in_order(problem: Problem, sizes: Sequence[int] = ()) -> Iterator[Engine]:
    """Engines for bounds, with larger and larger tables, and clique trees of these sizes between them."""
    yield from quick_bounds(problem)
    yield MiniBucket(bound=2)
    for engine, size in zip_longest(bucket_dial(), sizes):
        if size is not None:
            yield BoundedCliqueTree(size)
        yield engine


def run_in_order(problem: Problem, engines: Iterator[Engine], seconds: float) -> list[Run]:
    """The engines one after the other, while the next is predicted to end in time; an exact one is the last.

    Each may take a share of the time that is left, which grows with the time there is. A kind of engine whose tables do
    not fit into memory is left out from there on.
    """
    deadline = time.monotonic() + seconds
    runs: list[Run] = []
    taken: dict[type, float] = {}  # seconds of the last engine of each kind
    for engine in engines:
        left = deadline - time.monotonic()
        if taken.get(type(engine)) == math.inf:
            continue
        if predict(problem, engine, taken) >= left:
            break
        run = try_run(problem, engine, SHARE * left)
        if run is None and deadline - time.monotonic() <= (1.0 - SHARE) * left:
            break
        taken[type(engine)] = math.inf if run is None else run.seconds
        runs += [] if run is None else [run]
        if run is not None and run.answers.diagnostics.exact:
            break
    return runs


def predict(problem: Problem, engine: Engine, taken: Mapping[type, float]) -> float:
    """How many seconds an engine takes at the least; one that looks at the clock after each step takes none."""
    if not isinstance(engine, (MiniBucket, BoundedCliqueTree)):
        return 0.0
    return GROWTH * taken[type(engine)] if type(engine) in taken else SECONDS_PER_NODE * size_of(problem)


# --- without a budget ------------------------------------------------------------------------------------------------
def find_beliefs(problem: Problem) -> Run:
    """Beliefs by a clique tree of bounded tables; of large models by messages."""
    messages = problem.run(LoopyBP())
    trees = (try_run(problem, BoundedCliqueTree(size)) for size in SIZES if size_of(problem) <= MOST_NODES)
    return next((run for run in trees if run is not None), messages)


def try_run(problem: Problem, engine: Engine, seconds: float | None = None) -> Run | None:
    """A run of an engine; None where it does not keep to the limit of memory or of time."""
    try:
        return problem.run(engine, seconds)
    except TooLarge:
        return None


def find_bounds(problem: Problem) -> list[Run]:
    """Bounds of log p(evidence): by mini-buckets, or of large models by mean field and tree-reweighted messages."""
    if size_of(problem) <= MOST_NODES:
        try:
            return [problem.run(quick_buckets(problem))]
        except TooLarge:  # no bound is small enough
            pass
    return [run for engine in quick_bounds(problem) if (run := try_run(problem, engine)) is not None]


def quick_bounds(problem: Problem) -> list[Engine]:
    """The engines for bounds that take models of any size.

    Where tables have zeros, mean field would have to search where to start, and is left out.
    """
    engines: list[Engine] = [] if np.isneginf(factor_arrays(problem.model).log_values).any() else [MeanField()]
    return [*engines, TreeReweighted()] if is_pairwise(problem) else engines


def is_pairwise(problem: Problem) -> bool:
    """Whether tree-reweighted messages take the model: no factor has three variables, and they are not too many."""
    arrays = factor_arrays(problem.model)
    has_pairs = bool((np.diff(arrays.scope_starts) <= 2).all())
    return has_pairs and arrays.num_nodes * problem.num_rows <= MOST_PAIRS


def size_of(problem: Problem) -> float:
    """The nodes of all rows, or what the factors take as many."""
    arrays = factor_arrays(problem.model)
    return float(max(arrays.num_nodes, arrays.num_factors / FACTORS_PER_NODE)) * problem.num_rows


def quick_buckets(problem: Problem) -> MiniBucket:
    """Mini-buckets of the largest bound whose steps are quick and whose tables keep to the limit of memory."""
    work = OPERATIONS_PER_NODE * len(problem.model.variables)
    most = math.inf if problem.query.memory_limit is None else problem.query.memory_limit
    chosen = MiniBucket(bound=2, max_steps=STEPS)
    for engine in bucket_dial(STEPS):
        cost = problem.compile(engine).cost
        if (cost.operations + work) * problem.num_rows > QUICK or cost.bytes > most:
            break
        chosen = engine
    return chosen


def bucket_dial(max_steps: int = 30) -> Iterator[MiniBucket]:
    return (MiniBucket(bound=bound, max_steps=max_steps) for bound in range(4, MAX_BOUND, 2))


def describe_beliefs(beliefs: Beliefs, refusal: TooLarge) -> str:
    """What was refused, what ran instead, and how far off it may be."""
    found = beliefs.diagnostics
    converged = "" if found.converged else ", which did not converge"
    parts = [str(refusal).split(";", 1)[0], f"the answer is an approximation by {beliefs.method!r}{converged}"]
    if beliefs.is_single and found.lower is not None and math.isfinite(found.upper - found.lower):
        parts.append(f"log p(evidence) lies between {found.lower:.6g} and {found.upper:.6g}")
    elif beliefs.is_single and math.isfinite(found.upper):
        parts.append(f"log p(evidence) is at most {found.upper:.6g}")
    num_none = int(np.isnan(beliefs.answers.log_evidence).sum())
    if num_none:
        where = "" if beliefs.is_single else f" of {number_of(num_none, 'row')}"
        parts.append(f"its messages contradict each other, so that there is no estimate of log p(evidence){where}")
    return "; ".join([*parts, 'method="exact" refuses instead'])


MODE = frozenset({Question.MODE})
SEARCHES = (MaxProductBP(), MaxProductBP(damping=0.5), ICM())
SHARE_OF_SEARCHES = 0.7  # of the budget, for the searches; the rest is for the bound


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

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BestOfPlan:
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

    def run(self, model: Network, query: Query) -> BestCodes:
        share = None if query.budget is None else query.budget / len((*self.plans, *self.bounding))
        found = [plan.run(model, replace(query, questions=MODE, budget=share)) for plan in self.plans]
        bounds = [plan.run(model, replace(query, questions=BELIEFS, budget=share)) for plan in self.bounding]
        return join_best(self.engine, model, query.findings, found, bounds)


def join_best(
    engine: BestOf, model: Network, findings: Findings, found: Sequence[Any], bounds: Sequence[Answers]
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


def approximate_mode(model: Network, query: Query, refusal: TooLarge) -> Beliefs:
    """The answers of the searches where an exact answer was refused, with one warning unless a cut proves them."""
    problem, budget = Problem(model, query), query.budget
    cut = run_cut(problem)
    if cut is not None:
        return problem.beliefs(MaxFlow(), cut)
    share = None if budget is None else SHARE_OF_SEARCHES * budget / len(SEARCHES)
    runs = [problem.run(engine, share, MODE) for engine in SEARCHES if takes(problem, engine)]
    if budget is None:
        bounds = find_bounds(problem)
    else:
        bounds = run_in_order(problem, engines_in_order(problem), (1 - SHARE_OF_SEARCHES) * budget)
    bounds = decisive([run for run in bounds if run.answers.diagnostics.upper is not None], ["upper"])
    engine: Any = BestOf(tuple(run.engine for run in runs), tuple(run.engine for run in bounds))
    found, upper = ([run.answers for run in each] for each in (runs, bounds))
    answers = join_best(engine, model, query.findings, found, upper)
    answers = replace(answers, diagnostics=replace(answers.diagnostics, engine=engine))
    beliefs = problem.beliefs(engine, answers)
    warn_user(describe_mode(beliefs, refusal), ApproximationWarning)
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


def describe_mode(beliefs: Beliefs, refusal: TooLarge) -> str:
    """What was refused, what ran instead, and what any assignment could reach."""
    parts = [str(refusal).split(";", 1)[0], f"the states are the best that {beliefs.method} found, not proven best"]
    if beliefs.is_single:
        log_joint, upper = float(beliefs.answers.log_joint[0]), beliefs.diagnostics.upper  # type: ignore[attr-defined]
        parts.append(f"their log_joint is {log_joint:.6g}, and none exceeds {upper:.6g}")
    return "; ".join([*parts, 'method="exact" refuses instead'])
