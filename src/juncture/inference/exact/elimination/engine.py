"""`VariableElimination`: one variable after the other summed (or maximised) out of the product of all factors.

Choose it to see the algorithm, to check others, or for a single question: every marginal takes a pass of its own.
Tables are first reduced by the evidence. Cost: the tables that eliminations make; `compile` lists them before a run,
step by step (Zhang and Poole 1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from juncture.base.options import as_names
from juncture.errors import InvalidData
from juncture.inference.engines.contract import ALL_QUESTIONS, Cost, Engine, EnginePlan, Query, Question, check_budget
from juncture.inference.engines.lowering import HIDDEN, check_factors, lower
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.elimination.answers import EliminationAnswers
from juncture.inference.exact.elimination.buckets import Elimination, plan_elimination
from juncture.networks.elimination_order import as_order
from juncture.variables import Scope


@dataclass(frozen=True)
class VariableElimination(Engine):
    """Bucket elimination: sum out one variable after another.

    Parameters
    ----------
    order
        The order of elimination, which names all variables; by default an order with small tables.
    memory_limit
        In bytes; by default a share of the free memory. A question that needs more raises `TooLarge`.
    """

    order: Sequence[str] | None = None
    memory_limit: int | None = None
    name: ClassVar[str] = "variable-elimination"
    answers: ClassVar[frozenset[Question]] = ALL_QUESTIONS

    def __post_init__(self) -> None:
        if self.order is not None:
            object.__setattr__(self, "order", as_order(self.order))

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> EliminationPlan:
        """The steps to the joint posterior of the targets, given that some variables are observed.

        >>> from juncture.formats.bundled import example
        >>> print(VariableElimination().compile(example("fuel"), observed=["G"], targets=["B"]))
        sum F out of (B, F): 4 entries
        leaves (B): 2 entries
        """
        check_factors(model, "variable elimination")
        self.check_order(model)
        named = {"observed": observed, "targets": targets}
        gone, keep = ([model.variable(name).name for name in as_names(names, what)] for what, names in named.items())
        return EliminationPlan(self, relevant_part(model, {*gone, *keep}), tuple(gone), tuple(keep))

    def plan(
        self, scope: Scope, scopes: Sequence[Sequence[int]], keep: frozenset[int], maximized: frozenset[int]
    ) -> Elimination:
        """How to eliminate all nodes of the scope but `keep` from factors over `scopes`."""
        order = None if self.order is None else nodes_in_order(self.order, scope, keep)
        return plan_elimination(
            scopes, scope.shape, keep=keep, maximized=maximized, memory_limit=self.memory_limit, order=order
        )

    def check_order(self, model: Any) -> None:
        for name in self.order or ():
            model.variable(name)  # an unknown name is refused here


@dataclass(frozen=True, eq=False)
class EliminationPlan(EnginePlan):
    """The steps to the joint posterior of the targets, by name; `print` shows them."""

    engine: VariableElimination
    part: Any  # of the model: what the targets and the observed variables need
    observed: tuple[str, ...]
    targets: tuple[str, ...]

    @cached_property
    def variables(self) -> Scope:
        """The variables of the part, then hidden ones."""
        return lower(self.part).scope

    @cached_property
    def elimination(self) -> Elimination:
        lowered = lower(self.part)
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        scopes = [*(factor.scope.names for factor in lowered.factors), *([name] for name in self.targets)]
        free = [[nodes[name] for name in names if name not in self.observed] for names in scopes]
        kept = frozenset(nodes[name] for name in (*self.observed, *self.targets))
        return self.engine.plan(lowered.scope, free, kept, frozenset())

    @property
    def cost(self) -> Cost:
        return self.elimination.cost

    def run(self, model: Any, query: Query) -> EliminationAnswers:
        if query.budget is not None:
            check_budget(self.cost, query.budget)
        return EliminationAnswers(relevant_part(model, self.part.variables.names), query.findings, self.engine.plan)

    def __repr__(self) -> str:
        return f"EliminationPlan({len(self.variables)} variables; {self.cost})"

    def __str__(self) -> str:
        return self.elimination.describe([name.removeprefix(HIDDEN) for name in self.variables.names])


def nodes_in_order(order: Sequence[str], scope: Scope, keep: frozenset[int]) -> list[int]:
    """The nodes of the given names, after the hidden nodes, which a user cannot name."""
    nodes = {name: node for node, name in enumerate(scope.names)}
    hidden = [name for name in nodes if name.startswith(HIDDEN)]
    named = set(order).union(hidden)
    for name, node in nodes.items():
        if name not in named and node not in keep:
            raise InvalidData(f"the elimination order leaves out {name!r}, which is neither observed nor a target")
    return [nodes[name] for name in (*hidden, *order) if name in nodes]
