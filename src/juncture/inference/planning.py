"""`cost` and `compile`: what exact inference takes before it runs, and a plan that serves many runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData, InvalidModel
from juncture.evidence import as_findings
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.clique_search import Cost
from juncture.inference.exact.junction_tree.answers import PackedModel, TreeAnswers
from juncture.inference.exact.junction_tree.engine import JunctionTree, scopes_of
from juncture.inference.exact.junction_tree.packed_tree import pack_factors
from juncture.inference.exact.junction_tree.plan import CliquePlan, compile_plan, find_structure
from juncture.inference.exact.lowering import check_factors, lower
from juncture.inference.infer import as_targets
from juncture.memory import check_memory_limit
from juncture.options import as_names


def cost(model: Any, *, observed: Sequence[str] = (), targets: Sequence[str] | None = None) -> Cost:
    """What exact inference takes, without running it.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    observed
        The names of the variables that evidence will give.
    targets
        The variables whose marginals are wanted; all by default. Naming them limits the cost to their part of a
        Bayesian network.

    Returns
    -------
    Cost
        The width, the entries of the largest table, the bytes and the arithmetic operations of a run.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> cost(example("asia")).width
    2
    """
    check_factors(model, "cost")
    lowered = lower(needed_part(model, observed, targets))
    return find_structure(scopes_of(lowered), lowered.scope.shape).tree.cost


def compile(  # noqa: A001  the verb of every engine
    model: Any, *, observed: Sequence[str] = (), targets: Sequence[str] | None = None, memory_limit: int | None = None
) -> Plan:
    """A plan for the marginals of `targets` given any values of `observed`, for every model of this structure.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    observed, targets
        As in `cost`.
    memory_limit
        In bytes; a plan that needs more raises `TooLarge`.

    Returns
    -------
    Plan
        `plan.run(model, evidence)` gives beliefs; `plan.cost` says what a run takes.
    """
    check_factors(model, "compile")
    names = as_targets(model, targets)
    part = needed_part(model, observed, targets)
    lowered = lower(part)
    if memory_limit is not None:
        check_memory_limit(memory_limit)
    cliques = compile_plan(scopes_of(lowered), lowered.scope.shape, memory_limit)
    return Plan(names, tuple(part.variables.names), cliques)


@dataclass(frozen=True)
class Plan:
    """A compiled query: the variables that it needs, and their junction tree; no numbers."""

    targets: tuple[str, ...]
    variables: tuple[str, ...]
    cliques: CliquePlan

    @property
    def cost(self) -> Cost:
        return self.cliques.cost

    def run(self, model: Any, evidence: Any = None) -> Beliefs:
        """The beliefs of a model of the plan's structure, whatever its numbers, given evidence as `infer` takes it."""
        check_factors(model, "a plan")
        known = set(self.variables) <= set(model.variables.names)
        part = relevant_part(model, self.variables) if known else model
        lowered = lower(part)
        if part.variables.names != self.variables or not self._fits(scopes_of(lowered), lowered.scope.shape):
            raise InvalidModel("the plan was compiled for another structure; compile one for this model")
        findings = as_findings(evidence, model.variables)
        for name in findings.names:
            if name not in self.variables:
                raise InvalidData(f"{name!r} is not part of this plan; name it in observed= when compiling")
        nodes = {name: node for node, name in enumerate(lowered.scope.names)}
        tree = pack_factors(self.cliques, lowered.factors)
        answers = TreeAnswers.of(PackedModel(part.variables, nodes, tree), findings, self.targets)
        beliefs = Beliefs(model, JunctionTree(), self.targets, answers, findings.is_single)
        check_possible(beliefs, "warn")
        return beliefs

    def _fits(self, scopes: list[list[int]], shape: tuple[int, ...]) -> bool:
        flat = [node for scope in scopes for node in scope]
        starts = np.cumsum([0, *(len(scope) for scope in scopes)])
        return (
            np.array_equal(self.cliques.scope_nodes, flat)
            and np.array_equal(self.cliques.scope_starts, starts)
            and np.array_equal(self.cliques.num_states, shape)
        )

    def __repr__(self) -> str:
        return f"Plan(for {len(self.targets)} of {len(self.variables)} variables; {self.cost})"


def needed_part(model: Any, observed: Sequence[str], targets: Sequence[str] | None) -> Any:
    seen = [model.variable(name).name for name in as_names(observed, "observed")]
    return model if targets is None else relevant_part(model, {*as_targets(model, targets), *seen})
