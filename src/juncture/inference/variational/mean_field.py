"""`MeanField`: the nearest product of distributions, q(x) = Π q(xᵢ), by coordinate ascent.

The lower bound log Z ≥ E log Π factors + H(q) rises with every update q(xᵢ) ∝ exp E[log factors of i | xᵢ], until q is
a local optimum: of several starts the best counts. The gap is KL(q ‖ p). Each sweep costs a pass over all tables for
each of their variables, so models of any width are taken; the answers are the worse the stronger variables depend on
each other, and most often too certain. Choose it for large models with weak dependencies, or for its bound.
With `clusters`, q is a product over clusters of variables, each kept exactly (Jordan et al. 1999).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.inference.engines.contract import Cost, Diagnostics, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import FactorAnswers, outer_product
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods, node_scope
from juncture.inference.engines.lowering import is_gaussian
from juncture.inference.variational.coordinate_ascent import (
    CoordinateAscent,
    Course,
    Layout,
    feasible_start,
    lay_out,
    possible_rows,
    random_start,
    start_of,
    warn_of_early_end,
)
from juncture.inference.variational.gaussian_mean_field import GaussianMeanFieldPlan
from juncture.inference.variational.structured_mean_field import StructuredPlan, as_clusters, complete_clusters
from juncture.numerics.iteration import check_stopping_rule
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

SINGLE_STEPS = 1000  # of single variables, from where clusters start
ANSWERS = frozenset({Question.MARGINALS, Question.LOG_EVIDENCE, Question.EXPECTED})


@dataclass(frozen=True)
class MeanField(Engine):
    """Mean field: the product of independent distributions that is nearest to the posterior, by coordinate ascent.

    Parameters
    ----------
    starts
        How many starts are tried, of which the one with the highest lower bound counts: the first is `start`, others
        are drawn at random (`infer(..., rng=)`).
    tolerance, max_steps
        A row of evidence is at its end when a sweep changes no probability by more than `tolerance`, or after
        `max_steps` sweeps.
    clusters
        Lists of names. Each cluster keeps the dependencies among its variables, exactly; all other variables are
        clusters of their own.
    start
        Where the first start begins: a mapping from names to distributions, or an array of all distributions one
        after the other; None for uniform distributions. A uniform start keeps symmetries: where an optimum breaks
        one, it may end at a saddle point, and further starts do better.
    memory_limit
        In bytes.

    Examples
    --------
    >>> import juncture as jt
    >>> spins = [jt.Variable(name, 2) for name in "abc"]
    >>> pairs = [(0, 1), (1, 2), (0, 2)]
    >>> triangle = jt.MarkovNetwork([jt.Factor([spins[i], spins[j]], [[1, 1], [1, 2]]) for i, j in pairs])
    >>> beliefs = jt.infer(triangle, method=jt.MeanField())
    >>> round(beliefs["a"][1], 6), round(beliefs.log_evidence, 6)  # exact: 13/18, log 18 = 2.890372
    (0.734676, 2.858033)
    """

    starts: int = 1
    tolerance: float = 1e-9
    max_steps: int = 1000
    clusters: tuple[tuple[str, ...], ...] = ()
    start: Any = field(default=None, repr=False)
    memory_limit: int | None = None
    name: ClassVar[str] = "mean-field"
    answers: ClassVar[frozenset[Question]] = ANSWERS
    draws_at_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.starts, "starts", least=1)
        check_stopping_rule(self.tolerance, self.max_steps)
        object.__setattr__(self, "clusters", as_clusters(self.clusters))

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EnginePlan:
        if is_gaussian(model):
            return GaussianMeanFieldPlan.of(model, observed, self.memory_limit)
        plan = MeanFieldPlan(self, layout_of(model))
        if all(len(cluster) == 1 for cluster in self.clusters):
            return plan
        single = replace(plan, engine=replace(self, clusters=(), max_steps=SINGLE_STEPS))
        return StructuredPlan(self, model, complete_clusters(self.clusters, node_scope(model)), single)


def layout_of(model: Network) -> Layout:
    """The layout of a model's factors, which is kept with the model."""
    arrays = factor_arrays(model)
    if "mean field" not in model.derived:
        model.derived["mean field"] = lay_out(arrays)
    layout: Layout = model.derived["mean field"]
    return layout


@dataclass(frozen=True, eq=False)
class MeanFieldPlan(EnginePlan):
    """The factors of each node; `kept` are the last distributions for some evidence, from which learning goes on."""

    engine: MeanField
    layout: Layout
    kept: dict[Findings, np.ndarray] | None = None

    @property
    def cost(self) -> Cost:
        """Of all sweeps of all starts, at most, of one row."""
        arrays = self.layout.arrays
        numbers = 4 * arrays.total_states + arrays.log_values.size + 8 * arrays.scopes.size
        return Cost(
            int(np.diff(arrays.scope_starts).max(initial=1)) - 1,
            float(arrays.table_sizes.max(initial=1)),
            8.0 * numbers,
            2.0 * self.layout.operations * self.engine.max_steps * self.engine.starts,
        )

    @cached_property
    def for_learning(self) -> MeanFieldPlan:
        """The plan whose runs go on where the last run with the same evidence ended: the bound of EM then rises."""
        return replace(self, kept={})

    def run(self, model: Network, query: Query) -> FactorAnswers:
        findings = query.findings
        if Question.EXPECTED in query.questions and self.kept is None:
            return self.for_learning.run(model, query)
        layout = layout_of(model)
        check_rows(layout.arrays, findings.num_rows, self.engine.memory_limit)
        search = Search(self.engine, layout, model, layout.unary + log_likelihoods(layout.arrays, findings))
        last = None if self.kept is None else self.kept.get(findings)
        course, diagnostics = search.run(last, query.rng, query.budget)
        if not diagnostics.converged and self.kept is None:  # learning goes on from there
            warn_of_early_end(course.is_cut)
        if self.kept is not None:
            self.kept[findings] = course.beliefs
        return as_answers(layout.arrays, node_scope(model), findings, course, diagnostics)


def check_rows(arrays: FactorArrays, num_rows: int, memory_limit: int | None) -> None:
    what = f"mean field for {number_of(num_rows, 'row')} of {number_of(arrays.num_nodes, 'variable')}"
    check_memory(8.0 * 5 * num_rows * arrays.total_states, what, advise_fewer(num_rows), memory_limit)


@dataclass(frozen=True, eq=False)
class Search:
    """Coordinate ascent from several starts; of each row the best counts."""

    engine: MeanField
    layout: Layout
    model: Network
    fields: np.ndarray  # (row, state of all nodes)

    def run(
        self, last: np.ndarray | None, rng: np.random.Generator | None, budget: float | None
    ) -> tuple[Course, Diagnostics]:
        """The best course of each row, from `last` or from all starts while time is left."""
        deadline = None if budget is None else time.perf_counter() + budget
        arrays, num_starts = self.layout.arrays, 1 if last is not None else self.engine.starts
        first = start_of(arrays, self.model, self.engine.start) if last is None else last
        best = self.ascend(first, deadline)
        done = 1
        for child in (np.random.default_rng(0) if rng is None else rng).spawn(num_starts - 1):
            course = None if best.is_cut else self.ascend(random_start(self.layout, child, done), deadline)
            if course is None or course.is_cut:  # an incomplete start would not be repeated by the same options
                break
            best, done = better_of(best, course), done + 1
        return best, self.diagnose(best, done, num_starts)

    def ascend(self, start: np.ndarray, deadline: float | None) -> Course:
        is_possible = possible_rows(self.layout.arrays, self.fields)
        beliefs, is_possible = feasible_start(self.layout, self.fields, start, is_possible)
        ascent = CoordinateAscent(self.layout, self.fields, beliefs, is_possible, self.engine.tolerance, deadline)
        return ascent.run(self.engine.max_steps)

    def diagnose(self, course: Course, done: int, num_starts: int) -> Diagnostics:
        """The engine that repeats an answer that time has cut short."""
        residual = float(course.changes.max(initial=0.0))
        repeat = replace(self.engine, starts=done, max_steps=course.steps if course.is_cut else self.engine.max_steps)
        return Diagnostics(
            exact=False,
            converged=residual <= self.engine.tolerance,
            steps=course.steps,
            lower=course.bounds,
            residual=residual,
            engine=repeat if course.is_cut or done < num_starts else None,
        )


def better_of(one: Course, other: Course) -> Course:
    """Of each row the course with the higher lower bound; of equal ones the first."""
    is_better = other.bounds > one.bounds
    return Course(
        np.where(is_better[:, np.newaxis], other.beliefs, one.beliefs),
        np.where(is_better, other.bounds, one.bounds),
        np.where(is_better, other.changes, one.changes),
        max(one.steps, other.steps),
    )


def as_answers(
    arrays: FactorArrays, scope: Scope, findings: Findings, course: Course, diagnostics: Diagnostics
) -> FactorAnswers:
    is_impossible = np.isneginf(course.bounds)
    beliefs = np.where(is_impossible[:, np.newaxis], np.nan, course.beliefs) if is_impossible.any() else course.beliefs
    lower = float(course.bounds[0]) if findings.is_single else course.bounds
    return FactorAnswers(
        arrays,
        scope,
        findings,
        beliefs,
        course.bounds,
        replace(diagnostics, lower=lower),
        partial(product_belief, arrays, beliefs),
        MeanField.name,
        is_product=True,
    )


def product_belief(arrays: FactorArrays, beliefs: np.ndarray, factor: int) -> np.ndarray:
    """The belief of a factor whose nodes are independent."""
    starts = arrays.state_starts
    return outer_product([beliefs[:, starts[node] : starts[node + 1]] for node in arrays.scope(factor)])
