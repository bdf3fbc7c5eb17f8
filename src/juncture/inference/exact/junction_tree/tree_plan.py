"""`JunctionTreePlan`: the plan of a question, to run on any evidence and on any numbers of the same structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import InvalidModel
from juncture.inference.engines.contract import BELIEFS, Cost, Question, check_budget
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.junction_tree.answers import ExpectedAnswers, PackedModel, TreeAnswers
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.plan import has_scopes
from juncture.inference.exact.junction_tree.sliced_answers import SlicedAnswers
from juncture.inference.exact.lowering import check_factors, lower

if TYPE_CHECKING:
    from juncture.inference.exact.junction_tree.engine import JunctionTree


@dataclass(frozen=True, eq=False)
class JunctionTreePlan:
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

    def run(
        self,
        model: Any,
        findings: Findings,
        *,
        questions: frozenset[Question] = BELIEFS,
        rng: np.random.Generator | None = None,
        budget: float | None = None,
    ) -> TreeAnswers | SlicedAnswers | ExpectedAnswers:
        if budget is not None:
            cost = self.cost
            check_budget(cost, self.engine._time_left(budget))
        if model is self.model and findings.is_single and self.engine.should_slice(self.part, findings):
            return self.engine.answer_sliced(self.part, findings, self.targets)
        packed = self.engine.packed_model(self.part) if model is self.model else self.pack(model)
        if questions == {Question.EXPECTED}:
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
