"""`JunctionTree`: exact answers by message passing on a tree of cliques.

The default engine. Cost: exponential in the width of the best elimination order found, linear in the number of cliques;
`cost` gives it before a run, and a model that needs more memory than the limit raises `TooLarge` with the size. The
first query compiles a model's plan and packs its numbers; later queries share both (Lauritzen and Spiegelhalter 1988).

How the cliques are stored, and whether the tables are reduced by the evidence before a tree is built, `choose` says.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_number
from juncture.base.options import as_variable_names
from juncture.data.findings import Findings
from juncture.errors import InvalidModel, TooLarge
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    Answers,
    Cost,
    Engine,
    EnginePlan,
    Query,
    Question,
    check_budget,
)
from juncture.inference.engines.lowering import Lowered, check_factors, lower, noisy_children
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.junction_tree.answers import ExpectedAnswers, PackedModel, TreeAnswers
from juncture.inference.exact.junction_tree.choice import (
    Choice,
    choose,
    choose_dense,
    choose_part,
    choose_storage,
    choose_whole,
    is_quick,
)
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.dense_tree import pack_cliques
from juncture.inference.exact.junction_tree.plan import (
    check_cost,
    check_width,
    find_order,
    fits,
    has_scopes,
    lay_out_plan,
)
from juncture.networks.pairwise.model import PairwiseNetwork

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.reduced_answers import ReducedAnswers, RowwiseAnswers
    from juncture.networks.bayesian_network import Network

NO_ROWS = np.empty(0, np.int64)
PLANNING = 0.5  # of a budget: if it does not suffice, the rest is for other engines


@dataclass(frozen=True)
class JunctionTree(Engine):
    """Exact inference by messages between the cliques of a junction tree.

    `memory_limit` is how many bytes a run may take; by default half of what is free at the first query.

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

    def ask(self, model: Network, query: Query) -> Answers:
        """The answers to one query; rows of a source are answered block by block."""
        if query.findings.source is None:
            return super().ask(model, query)
        from juncture.inference.engines.source_answers import SourceAnswers

        return SourceAnswers.of(model, self, query.findings.source, query.targets)

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> JunctionTreePlan:
        check_factors(model, "a junction tree")
        if isinstance(model, PairwiseNetwork) and not observed:
            check_width(model.least_width, model.num_states)
        keep, gone = as_variable_names(targets, "targets"), as_variable_names(observed, "observed")
        part = choose_part(model, {*keep, *gone}, self.memory_limit, self.deadline)
        return JunctionTreePlan(self, model, part, tuple(keep))

    def choice(self, model: Network) -> Choice:
        """The junction tree of the whole model, chosen once."""
        derived = getattr(model, "derived", None)
        if type(derived) is not dict or "choice" not in derived:
            check_factors(model, "a junction tree")
            return choose_whole(model, self.deadline)
        found: Choice = derived["choice"]
        return found

    def choose_for(self, model: Network, codes: dict[str, int], num_rows: int | None = None) -> Choice:
        """The junction tree for one row of evidence, given by the codes of what it observes."""
        absent = frozenset(name for name in noisy_children(model) if codes.get(name) == 0)
        limit, deadline = self.memory_limit, self.deadline
        return choose(model, frozenset(codes), absent, num_rows=num_rows, memory_limit=limit, deadline=deadline)

    def cost(self, model: Network) -> Cost:
        """The cost of a run on the whole model, computed once."""
        return self.choice(model).cost

    def answer_row(self, model: Network, evidence: dict[str, Any], targets: Any = None) -> TreeAnswers | None:
        """The marginals of the targets, or all, given one row of exact labels; None where a plan has to be run.

        With targets it answers from the whole model, if a run on it is short, or not at all.
        """
        limit, deadline = self.memory_limit, self.deadline
        if targets is not None and (type(targets) not in {list, tuple} or not is_quick(model, limit, deadline)):
            return None
        try:
            if evidence and self.choice(model).is_long:
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
        return TreeAnswers(packed, evidence.copy(), names, marginals[None], np.array([log_evidence]), limit)

    def packed_model(self, model: Network) -> PackedModel:
        """The model's tables in their junction tree, compiled at the first call and kept with the model."""
        packed: PackedModel | None = model.derived.get("packed model")
        if packed is None:
            packed = model.derived.setdefault("packed model", self.pack(self.choice(model), lower(model)))
        elif self.memory_limit is not None:
            check_cost(packed.tree.plan.cost, self.memory_limit)
        return packed

    def pack(self, choice: Choice, lowered: Lowered) -> PackedModel:
        """The numbers of some factors in the junction tree that was chosen for them."""
        if choice.sparse is not None:
            check_cost(choice.cost, self.memory_limit)
            from juncture.inference.exact.junction_tree.sparse_tree import pack_possible

            return PackedModel.of(pack_possible(choice.sparse, lowered.factors), lowered)
        if choice.kind == "factors":
            from juncture.inference.exact.junction_tree.factored_tree import lay_out_factored, pack_factored

            plan = lay_out_factored(choice.structure, self.memory_limit)
            return PackedModel.of(pack_factored(plan, lowered.factors), lowered)
        return PackedModel.of(pack_cliques(lay_out_plan(choice.structure, self.memory_limit), lowered.factors), lowered)

    def answer_reduced(self, model: Network, findings: Findings, targets: tuple[str, ...]) -> ReducedAnswers:
        """The answers for one row of evidence that reduces the tables before a junction tree is built for them."""
        from juncture.inference.exact.junction_tree.reduced_answers import ReducedAnswers

        codes = codes_of_row(findings)
        states = {name: model.variable(name).labels[code] for name, code in codes.items()}
        reduced = lower(model, states).condition(states).scale(findings.likelihoods, codes)
        packed = self.pack(choose_storage(model, reduced, once=True, deadline=self.deadline), reduced)
        soft = {name: table for name, table in findings.likelihoods.items() if name not in codes}
        free = tuple(name for name in targets if name not in codes)
        rest = TreeAnswers.of(packed, Findings(packed.variables, {}, {}, soft), free, self.memory_limit)
        return ReducedAnswers(model.variables, findings, rest, codes)

    def find_order(self, model: Network, *, effort: float = 1.0) -> tuple[str, ...]:
        """A good elimination order of the model's variables, for `model.with_elimination_order`.

        The search takes `effort` times the work that it takes before a first query, which is a second or two at most,
        and starts from the order that the model has, if it has one.

        >>> from juncture.formats.bundled import example
        >>> JunctionTree().find_order(example("cancer"))
        ('Xray', 'Dyspnoea', 'Pollution', 'Smoker', 'Cancer')
        """
        check_factors(model, "the search for an elimination order")
        return find_order(model, effort)


@dataclass(frozen=True, eq=False)
class JunctionTreePlan(EnginePlan):
    """A plan for the part of a model that the targets and the observed variables need."""

    engine: JunctionTree
    model: Network
    part: Any
    targets: tuple[str, ...]
    coded: list[tuple[Findings, CodedFindings]] = field(default_factory=list)  # of the last run, for steps of EM

    @property
    def cost(self) -> Cost:
        return self.engine.choice(self.part).explained_cost

    def prepare(self) -> None:
        self.engine.packed_model(self.part)

    def run(self, model: Network, query: Query) -> Answers:
        findings, engine = query.findings, self.engine
        is_expected = query.questions == {Question.EXPECTED}
        apart = self.rows_apart(findings, is_expected=is_expected) if model is self.model else NO_ROWS
        if query.budget is not None:
            check_budget(self.cost_of(findings, apart), engine._time_left(query.budget))
        if len(apart):
            return self.answer_apart(findings, apart)
        packed = engine.packed_model(self.part) if model is self.model else self.pack(model)
        if is_expected:
            return ExpectedAnswers(packed, findings, self.targets, self.code_findings(findings, packed))
        return TreeAnswers.of(packed, findings, self.targets, engine.memory_limit)

    def rows_apart(self, findings: Findings, *, is_expected: bool) -> np.ndarray:
        """The rows that reduce the tables each for itself; expected statistics do only where it is needed."""
        whole = self.engine.choice(self.part)
        is_beyond = not fits(whole.cost, self.engine.memory_limit)
        if not findings.codes or not (is_beyond or (whole.is_long and not is_expected)):
            return NO_ROWS
        from juncture.data.missingness import number_patterns

        codes, noisy = np.stack(list(findings.codes.values()), axis=1), noisy_children(self.part)
        absent = codes[:, [name in noisy for name in findings.codes]] == 0
        first, kind = number_patterns(np.hstack([codes >= 0, absent]))
        sharing = [None] if findings.is_single else np.bincount(kind).tolist()
        rows = [codes_of_row(findings.row(row)) for row in first.tolist()]
        choices = [self.engine.choose_for(self.part, row, count) for row, count in zip(rows, sharing, strict=True)]
        is_reduced = np.array([choice.is_reduced for choice in choices])
        order = np.argsort(kind, kind="stable")  # rows that observe the same variables share a clique tree
        return np.asarray(order[is_reduced[kind[order]]])

    def cost_of(self, findings: Findings, apart: np.ndarray) -> Cost:
        """What a run takes with the rows apart each for itself."""
        if not len(apart):
            return self.engine.cost(self.part)
        costs = [self.engine.choose_for(self.part, codes_of_row(findings.row(row))).cost for row in apart.tolist()]
        return reduce(Cost.with_further, costs if len(apart) == findings.num_rows else [self.cost, *costs])

    def answer_apart(self, findings: Findings, apart: np.ndarray) -> ReducedAnswers | RowwiseAnswers:
        if findings.is_single:
            return self.engine.answer_reduced(self.part, findings, self.targets)
        from juncture.inference.exact.junction_tree.reduced_answers import RowwiseAnswers

        return RowwiseAnswers.of(self.engine, self.part, findings, self.targets, apart)

    def pack(self, model: Network) -> PackedModel:
        """The tables of another model of the same structure, in the cliques of this plan."""
        check_factors(model, "a plan")
        names, cliques = self.part.variables.names, self.engine.packed_model(self.part).tree.plan
        part = relevant_part(model, names) if set(names) <= set(model.variables.names) else model
        lowered = lower(part)
        if part.variables.names != names or not has_scopes(cliques, lowered.scopes, lowered.scope.shape):
            raise InvalidModel("the plan was compiled for another structure; compile one for this model")
        tree = self.engine.packed_model(self.part).tree.repack(lowered.factors)
        if tree is None:  # possible states were dropped that are positive there
            return self.engine.pack(choose_dense(part, lowered, self.engine.deadline), lowered)
        return PackedModel.of(tree, lowered)

    def code_findings(self, findings: Findings, packed: PackedModel) -> CodedFindings:
        """Findings by node; those of a block of data are coded once for all steps of EM."""
        if not self.coded or self.coded[0][0] is not findings:
            self.coded[:] = [(findings, CodedFindings.of(findings, packed.nodes))]
        return self.coded[0][1]


def codes_of_row(findings: Findings) -> dict[str, int]:
    """The codes of what a single row observes."""
    return {name: int(column[0]) for name, column in findings.codes.items() if column[0] >= 0}
