"""`StrongJunctionTree`: exact answers in networks with real-valued variables, by a strong elimination order.

For conditional linear Gaussian networks: real-valued variables with real-valued parents and parents with states, and
variables with states whose parents have states, or are real-valued and observed. Real-valued variables are eliminated
first, for all configurations of the states at once; what is left is a product of tables over the variables with states.
Every answer is exact: that of a real-valued variable is the whole mixture. Cost: the configurations that real-valued
variables depend on together. Each question is planned for the part of the network that it needs; one that is too large
is refused with its size, and the others are answered (Lauritzen and Jensen 2001; Cowell 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from juncture.base.checks import check_number
from juncture.base.options import as_variable_names
from juncture.errors import Unsupported
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    DENSITIES,
    Cost,
    Engine,
    EnginePlan,
    Query,
    Question,
    check_budget,
)
from juncture.inference.engines.real_variables import has_real_variables
from juncture.inference.exact.hybrid.answers import HybridAnswers
from juncture.inference.exact.hybrid.learning_plans import LearningPlans
from juncture.inference.exact.hybrid.planning import Planner
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.networks.bayesian_network import BayesianNetwork


@dataclass(frozen=True)
class StrongJunctionTree(Engine):
    """The engine's options.

    Parameters
    ----------
    tolerance
        How far, relative to the size of its terms, evidence may be off a relation without noise before it counts as
        impossible.
    memory_limit
        How many bytes a run may take; by default half of what is free.
    """

    tolerance: float = 1e-9
    memory_limit: int | None = None
    name: ClassVar[str] = "strong-junction-tree"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", least=0)

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> Any:
        if not has_real_variables(model):
            return JunctionTree(self.memory_limit).compile(model, observed, targets)
        if not isinstance(model, BayesianNetwork):
            raise Unsupported(f"a strong junction tree takes a network; got {type(model).__name__}")
        keep, seen = as_variable_names(targets, "targets"), as_variable_names(observed, "observed")
        return StrongPlan(self, model, tuple(seen), tuple(keep))


@dataclass(frozen=True, eq=False)
class StrongPlan(EnginePlan):
    """A plan for the targets, given values of the observed variables."""

    engine: StrongJunctionTree
    model: BayesianNetwork
    observed: tuple[str, ...]
    targets: tuple[str, ...]

    @property
    def cost(self) -> Cost:
        """What a run takes where the variables named are observed, with all targets together or one by one."""
        planner = Planner(self.model, frozenset(self.observed), frozenset(self.observed), self.engine.memory_limit)
        return planner.cost(self.targets)

    @cached_property
    def plans(self) -> LearningPlans:
        """What all steps of learning share."""
        return LearningPlans()

    def run(self, model: Any, query: Query) -> HybridAnswers:
        findings = query.findings
        if query.budget is not None:
            check_budget(self.cost, query.budget)
        options = self.engine.tolerance, self.engine.memory_limit
        if Question.EXPECTED in query.questions:
            return HybridAnswers(model, findings, self.targets, *options, self.plans)
        answers = HybridAnswers(model, findings, self.targets, *options)
        if query.questions == DENSITIES and not findings.is_single and not findings.likelihoods:
            answers.find_densities()
            return answers
        for pattern in answers.patterns[:1]:
            pattern.planner.common(self.targets)  # which refuses conditionals that it cannot take
        return answers
