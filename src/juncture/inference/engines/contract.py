"""The contract of engines: an `Engine` compiles a `Plan`, a run of the plan gives `Answers` with `Diagnostics`.

After the protocols come the pieces that keep it easy: answers that say how they were obtained (`Diagnosed`), expected
statistics from joint posteriors for engines without a faster way, and plans that are kept with their model (`recall`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from juncture.base.values import SameContent, format_count
from juncture.data.findings import Findings
from juncture.errors import TooLarge, UnknownVariable, Unsupported
from juncture.factors.conditional import AnyConditional
from juncture.factors.factor import Factor
from juncture.runtime.memory import format_bytes
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.inference.sampling.draws import Draws
    from juncture.networks.bayesian_network import Network


class Question(StrEnum):
    """What an engine can be asked."""

    MARGINALS = "marginals"  # p(targets | evidence)
    LOG_EVIDENCE = "log_evidence"  # log p(evidence), or log Z
    MODE = "mode"  # the most probable joint states
    DRAWS = "draws"  # rows from the posterior
    EXPECTED = "expected"  # expected sufficient statistics: the E-step of learning


ALL_QUESTIONS = frozenset(Question)
WHOLE = 2.0**53  # below it, a double holds every whole number
BELIEFS = frozenset({Question.MARGINALS, Question.LOG_EVIDENCE})
DENSITIES = frozenset({Question.LOG_EVIDENCE})
Request: TypeAlias = AnyConditional | Factor  # a conditional or a factor of the model


@dataclass(frozen=True)
class Cost:
    """What a run takes: the largest clique less one, its table's entries, bytes, and arithmetic operations.

    Where only those entries are kept that can be non-zero, these are counted, and `kept` is their part of all entries.
    `plan` says in words how the answer is computed, and why.
    """

    width: int
    largest_table: float
    bytes: float
    operations: float
    kept: float = field(default=1.0, repr=False)
    plan: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        """Counts are whole numbers, also where they were summed as logarithms."""
        for name in ("largest_table", "bytes", "operations"):
            count = getattr(self, name)
            if count < WHOLE:
                object.__setattr__(self, name, float(round(count)))

    def with_further(self, other: Cost) -> Cost:
        """The cost of a run and of another after it: the larger tables, all operations."""
        return replace(
            self,
            width=max(self.width, other.width),
            largest_table=max(self.largest_table, other.largest_table),
            bytes=max(self.bytes, other.bytes),
            operations=self.operations + other.operations,
            kept=min(self.kept, other.kept),
        )

    def _repr_html_(self) -> str:
        """The numbers by name, with their units, and how the answer is computed."""
        from juncture.drawing.notebook import html_table

        rows = [
            ("width", str(self.width)),
            ("largest table", f"{format_entries(self.largest_table)} entries"),
            ("memory", format_bytes(self.bytes)),
            ("operations", f"{self.operations:.2g}"),
            *([("kept", f"{self.kept:.2g} of all entries")] if self.kept < 1.0 else []),
            *([("plan", self.plan)] if self.plan else []),
        ]
        return html_table(["Cost", ""], rows, num_labels=1)

    def __str__(self) -> str:
        return (
            f"width {self.width}, largest table {format_entries(self.largest_table)} entries, "
            f"{format_bytes(self.bytes)}, {self.operations:.2g} operations"
            + (f"; {self.plan}" if self.plan else f", {self.kept:.2g} of all entries kept" if self.kept < 1.0 else "")
        )


NO_COST = Cost(-1, 0.0, 0.0, 0.0)


def format_entries(count: float) -> str:
    """A number of entries as short text; beyond the largest double only that is said."""
    return "more than 1e308" if count == math.inf else format_count(int(count))


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics(SameContent):
    """How far the answers of a run can be trusted.

    Attributes
    ----------
    exact
        Whether the answers are exact, but for rounding.
    converged
        Whether the engine reached its end by its own stopping rule.
    steps
        Iterations or draws; 0 for an engine that does not iterate.
    lower, upper
        Bounds of log p(evidence), for engines that have some; (row,) for many rows. Of a most probable assignment
        `upper` bounds the largest log of the product of factors.
    residual
        The largest change of a message or a belief in the last step, for engines that iterate.
    standard_errors
        The standard errors of the marginals of each variable, (state,), for engines that draw at random.
    effective_sample_size, r_hat
        For engines that draw: how many independent draws count as much, and whether chains agree.
    chi_square, pareto_k
        For weighted draws: an estimate of χ²(posterior ‖ proposal), and the shape of the tail of the weights, above 0.7
        of which errors cannot be trusted; the largest over the rows.
    acceptance_rate
        For engines that reject draws: the share that was accepted, (row,) for many rows.
    log_evidence_error
        The standard error of an estimate of log p(evidence), (row,) for many rows.
    engine
        The engine with all its options, so that it repeats the answer; None for the engine that was asked.
    """

    exact: bool = True
    converged: bool = True
    steps: int = 0
    lower: Any = None
    upper: Any = None
    residual: float | None = None
    standard_errors: Mapping[str, np.ndarray] = field(default_factory=dict)
    effective_sample_size: float | None = None
    r_hat: float | None = None
    chi_square: float | None = None
    pareto_k: float | None = None
    acceptance_rate: Any = None
    log_evidence_error: Any = None
    engine: Engine | None = None

    def __repr__(self) -> str:
        words = ["exact" if self.exact else "approximate", "converged" if self.converged else "not converged"]
        shown = (
            "steps", "lower", "upper", "residual", "effective_sample_size", "r_hat", "chi_square", "pareto_k",
            "acceptance_rate", "log_evidence_error", "engine",
        )  # fmt: skip
        known = {name: getattr(self, name) for name in shown}
        values = [
            f"{name}={value!r}"
            for name, value in known.items()
            if value is not None and not (name == "steps" and value == 0)
        ]
        return f"Diagnostics({', '.join([*words, *values])})"

    def standard_error(self, name: str) -> np.ndarray:
        """The standard errors of the marginal of a variable, (state,)."""
        if name not in self.standard_errors:
            raise UnknownVariable(f"the engine gives no standard error for {name!r}: its answer is not drawn at random")
        return self.standard_errors[name]


EXACT = Diagnostics()
SECONDS_PER_OPERATION = 2e-9  # of an exact run, roughly


def check_budget(cost: Cost, budget: float) -> None:
    """Raise `TooLarge` for an exact run that is predicted to take longer than a budget in seconds."""
    predicted = SECONDS_PER_OPERATION * cost.operations
    if predicted > budget:
        raise TooLarge(
            f"exact inference would take some {predicted:.2g} s ({cost}); the budget is {budget:g} s: raise the"
            " budget, observe more, or ask for fewer targets"
        )


class Answers:
    """The base of what an engine knows after a run."""

    if TYPE_CHECKING:  # fields of some answers

        @property
        def diagnostics(self) -> Diagnostics:
            """How far the answers can be trusted."""

        @property
        def log_evidence(self) -> np.ndarray:
            """Log p(evidence) of each row, an estimate or a bound where the answers are not exact.

            -inf where the evidence is found to be impossible. An engine that does not answer `LOG_EVIDENCE` has 0 else.
            """

        @property
        def findings(self) -> Findings:
            """The evidence."""

    @property
    def checks_itself(self) -> bool:
        """Whether each answer finds out alone if the evidence is possible, as p(evidence) may be found too large."""
        return False

    def possible_evidence(self) -> np.ndarray:
        """(row,): log p(evidence), or 0 in its place where an engine knows without it that a row is possible."""
        return self.log_evidence

    def all_marginals(self) -> np.ndarray | None:
        """(row, states of all nodes), where the engine has them in one array."""
        return None

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        """p(names | evidence) as (row, state of the first name, …)."""
        raise NotImplementedError

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The most probable joint states of the targets: codes (row, rank, target) and log p(them, evidence)."""
        raise NotImplementedError

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Rows of codes drawn from the posterior of a single row of evidence."""
        raise NotImplementedError

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        """For each conditional or factor of the model, expected statistics summed over the rows with their weights.

        Of variables with states a table of counts over the scope of the request; or, where the engine replaces a
        conditional by several small factors, one table for each of these in their order. Of a real child the weight,
        the mean and the scatter about it of (real parents, child), each with an axis per parent with states first.
        Rows of probability zero add nothing.
        """
        raise NotImplementedError

    def distribution(self, names: tuple[str, ...], is_single: bool) -> Any:
        """p(names | evidence) where some of the variables are real; for many rows a batch."""
        raise NotImplementedError


class RowAnswers(Answers):
    """The answers of a faster path for one row: all marginals in one array, and where each of them lies."""

    if TYPE_CHECKING:  # fields of some answers

        @property
        def targets(self) -> tuple[str, ...]: ...

        @property
        def views(self) -> Mapping[str, tuple[Scope, slice]]: ...

        @property
        def marginals(self) -> np.ndarray:
            """(1, states of all variables)."""


@dataclass(frozen=True, eq=False)
class Query:
    """What a plan is asked.

    Attributes
    ----------
    findings
        The evidence: one row or many.
    targets
        The variables that the answers are about.
    questions
        What the answers will be asked.
    rng
        For engines that draw.
    budget
        The number of seconds after which an engine that can stops with the best answer so far.
    memory_limit
        How many bytes a run may take; None for the limit of the engine.
    """

    findings: Findings
    targets: tuple[str, ...] = ()
    questions: frozenset[Question] = BELIEFS
    rng: np.random.Generator | None = None
    budget: float | None = None
    memory_limit: int | None = None


class EnginePlan:
    """The base of compiled queries: one serves every model of the same structure, and any values of the observed."""

    if TYPE_CHECKING:  # a field of some plans

        @property
        def cost(self) -> Cost:
            """What a run takes."""

    def prepare(self) -> None:
        """Do now what all runs share; a run does it otherwise when it is first needed. Some share nothing."""

    def run(self, model: Network, query: Query) -> Answers:
        """The answers for a model of the plan's structure, given the evidence of a query."""
        raise NotImplementedError


class Engine:
    """The base of algorithms: a frozen dataclass of the options of one, which compiles plans.

    An engine overrides `compile`, and those other methods for which it has a way of its own.
    """

    name: ClassVar[str]
    answers: ClassVar[frozenset[Question]]  # what it can be asked
    draws_itself: ClassVar[bool] = False  # whether `draw` is there
    draws_at_random: ClassVar[bool] = False  # whether its answers depend on the generator of the query
    reads_sources: ClassVar[bool] = False  # whether rows of a source may be answered block by block

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EnginePlan:
        """A plan for questions about the targets, given values of the observed variables."""
        raise NotImplementedError

    def with_memory_limit(self, memory_limit: int) -> Self:
        """The same engine, which raises `TooLarge` for a run that needs more bytes."""
        if "memory_limit" not in getattr(self, "__dataclass_fields__", ()):
            raise Unsupported(f"the engine {self.name!r} keeps to no limit of memory: leave memory_limit out")
        limited: Self = replace(self, memory_limit=memory_limit)  # type: ignore[type-var]
        return limited

    def with_budget(self, seconds: float) -> Self:
        """The same engine, whose planning keeps to a share of these seconds from now on; most plan at once."""
        return self

    def answer_row(self, model: Network, evidence: dict[str, Any], targets: Any = None) -> RowAnswers | None:
        """The marginals of the targets, or all, given one row of labels; None where a plan has to be run."""
        return None

    def draw(self, model: Network, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """At least `n` draws of all variables given one row of evidence."""
        raise Unsupported(f"the engine {self.name!r} does not draw rows; infer again with another method")

    def ask(self, model: Network, query: Query) -> Answers:
        """The answers to one query: a plan for it is compiled and run. A budget counts from here on."""
        engine = self if query.budget is None else self.with_budget(query.budget)
        if query.memory_limit is not None:
            engine = engine.with_memory_limit(query.memory_limit)
        return engine.compile(model, query.findings.names, query.targets).run(model, query)


class Diagnosed(SameContent):
    """An answer that says by its diagnostics how far it can be trusted; equal to another by content."""

    diagnostics: Diagnostics

    @property
    def exact(self) -> bool:
        """Whether the answer is exact, but for rounding."""
        return self.diagnostics.exact

    @property
    def converged(self) -> bool:
        """Whether the algorithm reached its end by its own stopping rule."""
        return self.diagnostics.converged


class OneVariable(Diagnosed):
    """Beliefs about one variable of each row or step, asked by its name as those of a network are."""

    variable: ClassVar[str]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name == self.variable

    def __iter__(self) -> Iterator[str]:
        return iter((self.variable,))

    def _check_variable(self, name: object) -> None:
        if name not in self:
            raise UnknownVariable.among(name, [self.variable])


def expected_from_marginals(
    answers: Answers, requests: Sequence[Request], weights: np.ndarray
) -> list[list[np.ndarray]]:
    """For each request, its joint posterior summed over the possible rows with their weights."""
    possible = answers.log_evidence > -np.inf
    counted = np.where(possible, weights, 0.0)
    return [[sum_rows(answers.marginal(names_of(request)), counted)] for request in requests]


def names_of(request: Request) -> tuple[str, ...]:
    """The variables of a factor, or of a conditional with the parents first."""
    return request.scope.names if isinstance(request, Factor) else (*request.parents.names, request.child.name)


def sum_rows(tables: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ weight · table over the rows of positive weight; the tables of other rows may be NaN."""
    counted = weights > 0
    return np.tensordot(weights[counted], tables[counted], axes=1)


Entry = TypeVar("Entry")


def recall(model: Network, memo: str, key: Hashable, make: Callable[[], Entry], size: int) -> Entry:
    """The entry of this key, made if it is missing; beyond `size` entries the least recently used is dropped.

    A memo is kept with its model and is never changed: a new entry goes into a copy that replaces the memo. So threads
    never read a dictionary that changes, and no lock is held across a fork. Two threads may both make the same entry;
    an entry depends on its key alone, so either will do.
    """
    known: dict[Hashable, Entry] = model.derived.get(memo, {})
    entry = known[key] if key in known else make()
    if not known or next(reversed(known)) != key:
        known = model.derived.get(memo, {})  # other threads may have added entries meanwhile
        others = [item for item in known.items() if item[0] != key]
        model.derived[memo] = dict([*others[max(0, len(others) - size + 1) :], (key, entry)])
    return entry
