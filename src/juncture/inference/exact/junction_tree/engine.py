"""`JunctionTree`: exact answers by message passing on a tree of cliques.

The default engine. Cost: exponential in the width of the best elimination order found, linear in the number of cliques;
`cost` gives it before a run, and a model that needs more memory than the limit raises `TooLarge` with the size. The
first query compiles a model's plan and packs its numbers; later queries share both (Lauritzen and Spiegelhalter 1988).

The tree keeps all cells of its cliques, or only those that can be non-zero, which the zeros of the factors decide
(`find_sparse_plan`); or no cliques at all where they are too large (`factored_tree`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_number
from juncture.base.options import as_variable_names
from juncture.data.findings import Findings
from juncture.errors import InvalidModel, TooLarge, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    EXACT,
    Answers,
    Cost,
    Diagnostics,
    Engine,
    EnginePlan,
    Query,
    Question,
    Request,
    check_budget,
    expected_from_marginals,
    recall,
)
from juncture.inference.engines.lowering import Lowered, check_factors, lower, noisy_children
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.clique_search import OPERATIONS_PER_CELL, CliqueTree, PlanningTooLong
from juncture.inference.exact.junction_tree.answers import ExpectedAnswers, PackedModel, TreeAnswers
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.packed_tree import pack_cliques
from juncture.inference.exact.junction_tree.plan import (
    Structure,
    check_cost,
    check_width,
    find_order,
    find_structure,
    fits,
    has_scopes,
    lay_out_plan,
    search_structure,
)
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.sparse_plan import SparsePlan

PLANNING = 0.5  # of a budget: if it does not suffice, the rest is for other engines
MAX_PARTS = 16  # of a model that are kept for questions with targets
MAX_STRUCTURES = 16  # clique trees that are kept with a model
MAX_DECISIONS = 256  # whether to slice, kept by what was observed
MAX_WHOLE = 512  # variables up to which the cost of a run on the whole model is worked out for any question
LONG_RUN = 6e6  # operations, some milliseconds: from here on a plan for what was observed may be faster
SLICED_RUNS = 4  # packing and collecting anew and running, in runs
OPERATIONS_PER_SLICE = 24_000  # what slicing one factor costs


@dataclass(frozen=True)
class JunctionTree(Engine):
    """The engine's options: how many bytes a run may take; by default half of what is free at the first query.

    A `deadline`, a time of `time.monotonic`, is for a run with a budget: planning that is predicted to end later raises
    `TooLarge`, and what was planned by then is kept with the model.
    """

    memory_limit: int | None = None
    deadline: float | None = field(default=None, repr=False, compare=False)
    name: ClassVar[str] = "junction-tree"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS
    reads_sources: ClassVar[bool] = True

    def with_budget(self, seconds: float) -> JunctionTree:
        """The same engine, whose planning has to end within a share of this time from now on."""
        return replace(self, deadline=time.monotonic() + PLANNING * check_number(seconds, "seconds"))

    def _time_left(self, budget: float) -> float:
        """What planning has left of a budget."""
        return budget if self.deadline is None else self.deadline - time.monotonic() + (1.0 - PLANNING) * budget

    def ask(self, model: Any, query: Query) -> Answers:
        """The answers to one query; rows of a source are answered block by block."""
        if query.findings.source is None:
            return super().ask(model, query)
        from juncture.inference.engines.source_answers import SourceAnswers

        return SourceAnswers.of(model, self, query.findings.source, query.targets)

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> JunctionTreePlan:
        check_factors(model, "a junction tree")
        if isinstance(model, PairwiseNetwork) and not observed:
            check_width(model.least_width, model.num_states)
        keep, gone = as_variable_names(targets, "targets"), as_variable_names(observed, "observed")
        return JunctionTreePlan(self, model, self.part_for(model, {*keep, *gone}), tuple(keep))

    def should_slice(self, model: Any, findings: Findings) -> bool:
        """Whether to reduce the tables by the evidence before the junction tree is built.

        This is done where the whole model is too large, or where a run on it takes so long that reducing the factors,
        packing the smaller tables and running on them is predicted to be faster.
        """
        codes = codes_of_row(findings)
        observed = frozenset(codes)
        whole = self.cost(model)
        if not observed or not fits(whole, self.memory_limit):
            return bool(observed)
        if whole.operations < LONG_RUN:
            return False
        absent = frozenset(name for name in noisy_children(model) if codes.get(name) == 0)
        return recall(
            model,
            "slicing pays",
            (observed, absent),
            lambda: self.predicts_gain(model, observed, absent, whole),
            MAX_DECISIONS,
        )

    def predicts_gain(self, model: Any, observed: frozenset[str], absent: frozenset[str], whole: Cost) -> bool:
        slicing = OPERATIONS_PER_SLICE * len(lower(model).factors)
        if slicing >= whole.operations:
            return False
        return slicing + SLICED_RUNS * self.sliced_cost(model, observed, absent).operations < whole.operations

    def sliced_cost(self, model: Any, observed: frozenset[str], absent: frozenset[str] = frozenset()) -> Cost:
        """The cost of a run on tables reduced by evidence, the noisy children of `absent` in their lowest state."""
        noisy = {name: model.variable(name).labels for name in noisy_children(model) & observed}
        lowered = lower(model, {name: labels[0 if name in absent else -1] for name, labels in noisy.items()})
        rest = Lowered(lowered.variables.without(observed), lowered.hidden, reduce_scopes(lowered, observed))
        return self.structure(model, rest).cost

    def row_cost(self, model: Any, observed: frozenset[str]) -> Cost:
        """The cost of a run for one row of evidence on these variables, its tables reduced if `should_slice`."""
        whole = self.cost(model)
        if observed and not fits(whole, self.memory_limit):
            return self.sliced_cost(model, observed)
        pays = whole.operations >= LONG_RUN and self.predicts_gain(model, observed, frozenset(), whole)
        return self.sliced_cost(model, observed) if observed and pays else whole

    def cost(self, model: Any) -> Cost:
        """The cost of a run on the whole model, computed once."""
        derived = getattr(model, "derived", None)
        if type(derived) is not dict or "cost" not in derived:
            check_factors(model, "a junction tree")
            derived = model.derived
            sparse = self.sparse_plan(model)
            derived["cost"] = self.structure(model, lower(model)).cost if sparse is None else sparse.cost
        found: Cost = derived["cost"]
        return found

    def answer_sliced(self, model: Any, findings: Findings, targets: tuple[str, ...]) -> SlicedAnswers:
        """Reduce the tables by the evidence first."""
        codes = codes_of_row(findings)
        states = {name: model.variable(name).labels[code] for name, code in codes.items()}
        reduced = lower(model, states).condition(states).scale(findings.likelihoods, codes)
        share = share_kept(self.structure(model, reduced).tree.cost, once=True)
        packed = self.pack(model, reduced, self.find_sparse_plan(model, reduced, share))
        soft = {name: table for name, table in findings.likelihoods.items() if name not in codes}
        rest = Findings(packed.variables, {}, {}, soft)
        free = tuple(name for name in targets if name not in codes)
        return SlicedAnswers(model.variables, findings, TreeAnswers.of(packed, rest, free, self.memory_limit), codes)

    def answer_row(self, model: Any, evidence: dict[str, Any], targets: Any = None) -> TreeAnswers | None:
        """The marginals of the targets, or all, given one row of exact labels; None where a plan has to be run.

        With targets it answers from the whole model, as `part_for` says, or not at all.
        """
        if targets is not None and (type(targets) not in {list, tuple} or not self.is_quick(model)):
            return None
        try:
            if evidence and self.cost(model).operations >= LONG_RUN:
                return None
            packed = self.packed_model(model)
        except TooLarge:
            return None
        row = packed.code_labels(evidence)
        nodes = packed.all_nodes if targets is None else packed.find_nodes(targets)
        if row is None or nodes is None:
            return None
        marginals, log_evidence = packed.tree.run(row, nodes)
        marginals.setflags(write=False)
        names = packed.names if targets is None else tuple(targets)
        return TreeAnswers(packed, evidence.copy(), names, marginals[None], np.array([log_evidence]), self.memory_limit)

    def packed_model(self, model: Any) -> PackedModel:
        """The model's tables in their junction tree, compiled at the first call and kept with the model."""
        packed: PackedModel | None = model.derived.get("packed model")
        if packed is None:
            packed = model.derived.setdefault("packed model", self.pack(model, lower(model), self.sparse_plan(model)))
        elif self.memory_limit is not None:
            check_cost(packed.tree.plan.cost, self.memory_limit)
        return packed

    def pack(self, model: Any, lowered: Lowered, sparse: SparsePlan | None = None) -> PackedModel:
        if sparse is not None:
            check_cost(sparse.cost, self.memory_limit)
            from juncture.inference.exact.junction_tree.sparse_tree import pack_possible

            return PackedModel.of(pack_possible(sparse, lowered.factors), lowered)
        structure = self.structure(model, lowered)
        if structure.is_factored:
            from juncture.inference.exact.junction_tree.factored_tree import lay_out_factored, pack_factored

            plan = lay_out_factored(structure, self.memory_limit)
            return PackedModel.of(pack_factored(plan, lowered.factors), lowered)
        return PackedModel.of(pack_cliques(lay_out_plan(structure, self.memory_limit), lowered.factors), lowered)

    def sparse_plan(self, model: Any) -> SparsePlan | None:
        """The plan that keeps only cells that can be non-zero, where it is predicted to be faster; found once."""
        if "sparse plan" not in model.derived:
            lowered = lower(model)
            share = share_kept(self.structure(model, lowered).tree.cost)
            model.derived["sparse plan"] = self.find_sparse_plan(model, lowered, share)
        found: SparsePlan | None = model.derived["sparse plan"]
        return found

    def find_sparse_plan(self, model: Any, lowered: Lowered, most_kept: float) -> SparsePlan | None:
        find_tree = partial(self.find_tree, model, lowered)
        return find_sparse_plan(lowered, lowered.scopes, find_tree, most_kept, self.deadline)

    def keep_possible_cells(self, model: Any) -> None:
        """Answer from the cells that can be non-zero, however many they are; before the model's first question."""
        lowered = lower(model)
        model.derived["sparse plan"] = plan_sparsely(lowered, lowered.scopes, partial(self.find_tree, model, lowered))

    def find_tree(self, model: Any, lowered: Lowered, scopes: list[list[int]], shape: tuple[int, ...]) -> CliqueTree:
        """The clique tree for these factors, or for what is left of their scopes."""
        whole = self.structure(model, lowered).tree
        if shape == lowered.scope.shape and scopes == lowered.scopes:
            return whole

        def search() -> Structure:
            return find_structure(scopes, shape, known=whole.order, deadline=self.deadline)

        return recall(model, "structures", (shape, tuple(map(tuple, scopes))), search, MAX_STRUCTURES).tree

    def structure(self, model: Any, lowered: Lowered) -> Structure:
        """The clique tree for these factors, searched once and kept with the model."""
        key = (lowered.scope.shape, tuple(map(tuple, lowered.scopes)))

        def search() -> Structure:
            return search_structure(model, lowered, lambda: self.structure(model, lower(model)), self.deadline)

        return recall(model, "structures", key, search, MAX_STRUCTURES)

    def find_order(self, model: Any, *, effort: float = 1.0) -> tuple[str, ...]:
        """A good elimination order of the model's variables, for `model.with_elimination_order`.

        The search takes `effort` times the work that it takes before a first query, which is a second or two at most,
        and starts from the order that the model has, if it has one.

        >>> from juncture.formats.bundled import example
        >>> JunctionTree().find_order(example("cancer"))
        ('Xray', 'Dyspnoea', 'Pollution', 'Smoker', 'Cancer')
        """
        check_factors(model, "the search for an elimination order")
        return find_order(model, effort)

    def part_for(self, model: Any, names: set[str]) -> Any:
        """The model itself if a query names all variables or a run is quick, else the part that the query needs.

        This depends on the query alone, not on earlier ones: the same query gets the same bits.
        """
        if len(names) == len(model.variables) or self.is_quick(model):
            return model
        part = relevant_part(model, names)
        return recall(model, "parts", frozenset(part.variables.names), lambda: part, MAX_PARTS)

    def is_quick(self, model: Any) -> bool:
        """Whether a run on the whole model takes no longer than some milliseconds, and no more than the limit."""
        if len(model.variables) > MAX_WHOLE:
            return False
        if "is quick" not in model.derived:
            model.derived["is quick"] = self.has_short_run(model)
        return bool(model.derived["is quick"]) and (
            self.memory_limit is None or fits(self.cost(model), self.memory_limit)
        )

    def has_short_run(self, model: Any) -> bool:
        try:
            return self.cost(model).operations < LONG_RUN
        except PlanningTooLong:  # of this run, which does not say how long the next may take
            raise
        except (TooLarge, Unsupported):  # the part that the question touches may be answered all the same
            return False


def codes_of_row(findings: Findings) -> dict[str, int]:
    """The codes of what a single row observes."""
    return {name: int(column[0]) for name, column in findings.codes.items() if column[0] >= 0}


def reduce_scopes(lowered: Lowered, observed: frozenset[str]) -> tuple[Factor, ...]:
    """Factors over what is left of each scope once the observed variables are gone; their numbers do not matter."""
    scopes = (factor.scope.without(observed) for factor in lowered.factors)
    return tuple(Factor.trusted(scope, np.empty(0)) for scope in scopes)


@dataclass(frozen=True, eq=False)
class JunctionTreePlan(EnginePlan):
    """A plan for the part of a model that the targets and the observed variables need."""

    engine: JunctionTree
    model: Any
    part: Any
    targets: tuple[str, ...]
    coded: list[tuple[Findings, CodedFindings]] = field(default_factory=list)  # of the last run, for steps of EM

    @property
    def cost(self) -> Cost:
        return self.engine.cost(self.part)

    def prepare(self) -> None:
        self.engine.packed_model(self.part)

    def run(self, model: Any, query: Query) -> TreeAnswers | SlicedAnswers | ExpectedAnswers:
        findings = query.findings
        if query.budget is not None:
            cost = self.cost
            check_budget(cost, self.engine._time_left(query.budget))
        if model is self.model and findings.is_single and self.engine.should_slice(self.part, findings):
            return self.engine.answer_sliced(self.part, findings, self.targets)
        packed = self.engine.packed_model(self.part) if model is self.model else self.pack(model)
        if query.questions == {Question.EXPECTED}:
            return ExpectedAnswers(packed, findings, self.targets, self.code_findings(findings, packed))
        return TreeAnswers.of(packed, findings, self.targets, self.engine.memory_limit)

    def pack(self, model: Any) -> PackedModel:
        """The tables of another model of the same structure, in the cliques of this plan."""
        check_factors(model, "a plan")
        names, cliques = self.part.variables.names, self.engine.packed_model(self.part).tree.plan
        part = relevant_part(model, names) if set(names) <= set(model.variables.names) else model
        lowered = lower(part)
        if part.variables.names != names or not has_scopes(cliques, lowered.scopes, lowered.scope.shape):
            raise InvalidModel("the plan was compiled for another structure; compile one for this model")
        tree = self.engine.packed_model(self.part).tree.repack(lowered.factors)
        return self.engine.pack(part, lowered) if tree is None else PackedModel.of(tree, lowered)

    def code_findings(self, findings: Findings, packed: PackedModel) -> CodedFindings:
        """Findings by node; those of a block of data are coded once for all steps of EM."""
        if not self.coded or self.coded[0][0] is not findings:
            self.coded[:] = [(findings, CodedFindings.of(findings, packed.nodes))]
        return self.coded[0][1]


@dataclass(frozen=True, eq=False)
class SlicedAnswers(Answers):
    """The answers of a model that was reduced by one row of evidence, and the codes of the observed variables."""

    variables: Scope
    findings: Findings
    rest: TreeAnswers
    observed: dict[str, int]
    diagnostics: ClassVar[Diagnostics] = EXACT

    @property
    def log_evidence(self) -> np.ndarray:
        return self.rest.log_evidence

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        free = tuple(name for name in names if name not in self.observed)
        values = self.rest.marginal(free) if free else np.ones(1)
        shape = [self.variables.variable(name).num_states for name in names]
        table = np.zeros((1, *shape))
        index = tuple(self.observed.get(name, slice(None)) for name in names)
        table[(slice(None), *index)] = values
        return table

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        free = tuple(name for name in targets if name not in self.observed)
        codes, values = self.rest.best(free, count)
        columns = [
            codes[:, :, free.index(name)] if name in free else np.full(values.shape, self.observed[name])
            for name in targets
        ]
        return np.stack(columns, axis=2) if columns else codes, values

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = self.rest.sample(num_rows, rng)
        return {**drawn, **{name: np.full(num_rows, code) for name, code in self.observed.items()}}

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return expected_from_marginals(self, requests, weights)


LEAST_CELLS = 25_000  # of all cliques: from here on it is looked for zeros
LEAST_ZEROS = 0.02  # ... and the part of the factors' entries that are zero
MOST_KEPT = 0.55  # of all cells: up to here a run on those that can be non-zero is faster
MANY_CELLS, MOST_KEPT_OF_MANY = 5e7, 0.25  # of so many, less: it takes seconds to search for the others
MOST_KEPT_ONCE = 0.06  # ... also if they are searched for one run
LARGE = 2**32  # bytes of all cells: from here on the others are left out at any rate
MOST_CELLS = 2**24  # that are listed, which takes seconds
FindTree = Callable[[list[list[int]], tuple[int, ...]], CliqueTree]  # from scopes and numbers of states


def find_sparse_plan(
    lowered: Lowered, scopes: list[list[int]], find_tree: FindTree, most_kept: float, deadline: float | None = None
) -> SparsePlan | None:
    """The plan for possible cells if these are at most this part of all cells, else None.

    Of small models and those with few zeros only the sizes, then the zeros, are looked at.
    """
    all_cells = cells_of(find_tree(scopes, lowered.scope.shape))
    if all_cells < LEAST_CELLS:
        return None
    from juncture.inference.exact.junction_tree.sparse_plan import has_zeros

    if not has_zeros(lowered.factors, LEAST_ZEROS):
        return None
    return plan_sparsely(lowered, scopes, find_tree, min(MOST_CELLS, most_kept * all_cells), deadline)


def plan_sparsely(
    lowered: Lowered,
    scopes: list[list[int]],
    find_tree: FindTree,
    most_cells: float = MOST_CELLS,
    deadline: float | None = None,
) -> SparsePlan | None:
    """The plan for possible cells if there are at most so many, else None."""
    from juncture.inference.exact.junction_tree.sparse_plan import find_supports, plan_possible_cells

    supports = find_supports(lowered.factors, scopes, lowered.scope.shape)
    tree = find_tree(supports.scopes, tuple(np.maximum(supports.counts, 1).tolist()))
    if cells_of(tree) > most_cells and not supports.restrictive.any():  # then all of these are possible
        return None
    all_cells = cells_of(find_tree(scopes, lowered.scope.shape))
    return plan_possible_cells(supports, scopes, tree, all_cells, most_cells, deadline)


def share_kept(all_cells: Cost, *, once: bool = False) -> float:
    """The part of all cells up to which those that can be non-zero are kept alone; of a plan that runs once, less."""
    if all_cells.bytes > LARGE:
        return 1.0
    if once:
        return MOST_KEPT_ONCE
    return MOST_KEPT if all_cells.operations < MANY_CELLS * OPERATIONS_PER_CELL else MOST_KEPT_OF_MANY


def cells_of(tree: CliqueTree) -> float:
    return tree.cost.operations / OPERATIONS_PER_CELL
