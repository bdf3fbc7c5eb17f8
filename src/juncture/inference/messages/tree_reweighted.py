"""`TreeReweighted`: an upper bound of log Z, and approximate marginals, for pairwise models.

Choose it where a model has many cycles, factors of two variables, and couplings that make plain loopy propagation
overconfident or let it diverge; or for an upper bound on a large grid. Messages are those of loopy propagation, but
each edge counts only as often as it lies in one of some spanning trees. Cost: the edges, times the squared number of
states, times the steps. The bound is evaluated as a convex combination of exact sums over spanning trees, whose
potentials add up to those of the model, so it holds for the messages of any step (Wainwright, Jaakkola and Willsky
2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from juncture.checks import check_count, check_number
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.bounded.reduced_factors import ReducedFactors
from juncture.inference.bounded.rows import RowAnswer, StepLimit, answer_rows, free_scopes
from juncture.inference.engines.contract import BELIEFS, Cost, Question
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.factor_answers import FactorAnswers
from juncture.inference.factor_arrays import node_scope
from juncture.inference.messages.pairwise_graph import PairwiseGraph
from juncture.inference.messages.reweighted_messages import ReweightedMessages
from juncture.memory import check_memory

BYTES_PER_CELL, OPERATIONS_PER_CELL = 120, 40
STEPS_PER_BOUND = 10  # a bound takes as long as some steps
FIXED = 1e-14  # a change of messages that rounding makes


@dataclass(frozen=True)
class TreeReweighted:
    """Tree-reweighted belief propagation: an upper bound of log Z for models of pairs.

    `beliefs.diagnostics.upper` is the bound, the lowest of those found on the way, and `log_evidence` is the same
    number. Factors of more than two variables are refused, unless the evidence leaves two of them.

    Parameters
    ----------
    damping
        The part of the old message that stays in each step.
    tolerance, max_steps
        The steps end when no message changes by more than the tolerance, on the scale of logarithms, or after so many.
    memory_limit
        In bytes; by default a share of the free memory. Messages that need more raise `TooLarge`.

    Examples
    --------
    >>> from juncture.factors.factor import Factor
    >>> from juncture.networks.factor_product import MarkovNetwork
    >>> from juncture.variables import Variable
    >>> from juncture.verbs import infer
    >>> a, b, c = (Variable(name, 2) for name in "abc")
    >>> model = MarkovNetwork([Factor(pair, [[2, 1], [1, 2]]) for pair in [(a, b), (b, c), (a, c)]])
    >>> beliefs = infer(model, method=TreeReweighted())
    >>> beliefs.converged, bool(np.log(28) <= beliefs.diagnostics.upper < np.log(29.5)), beliefs["b"].values.tolist()
    (True, True, [0.5, 0.5])
    """

    damping: float = 0.5
    tolerance: float = 1e-6
    max_steps: int = 500
    memory_limit: int | None = None
    name: ClassVar[str] = "tree-reweighted"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.EXPECTED}

    def __post_init__(self) -> None:
        check_number(self.damping, "damping", least=0, below=1)
        check_number(self.tolerance, "tolerance", least=0)
        check_count(self.max_steps, "max_steps")

    def with_memory_limit(self, memory_limit: int) -> TreeReweighted:
        """The same engine; messages that need more bytes raise `TooLarge`."""
        return replace(self, memory_limit=memory_limit)

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> TreeReweightedPlan:
        """A plan for the part of the model that the targets and the observed variables need."""
        return TreeReweightedPlan(self, relevant_part(model, {*observed, *targets}), tuple(observed))


@dataclass(frozen=True, eq=False, repr=False)
class TreeReweightedPlan:
    """The part of a model that a question needs; spanning trees are made by a run, for the free nodes of a row."""

    engine: TreeReweighted
    part: Any
    observed: tuple[str, ...]

    @cached_property
    def cost(self) -> Cost:
        """Of a step."""
        scopes, num_states = free_scopes(self.part, self.observed)
        num_pairs = sum(len(scope) > 1 for scope in scopes)
        cells = 2.0 * num_pairs * int(num_states.max(initial=1)) ** 2
        return Cost(1, float(num_states.max(initial=1)) ** 2, BYTES_PER_CELL * cells, OPERATIONS_PER_CELL * cells)

    def prepare(self) -> None:
        """Nothing is shared between runs."""

    def run(
        self,
        model: Any,
        findings: Findings,
        *,
        questions: frozenset[Question] = BELIEFS,
        rng: np.random.Generator | None = None,
        budget: float | None = None,
    ) -> FactorAnswers:
        check_memory(self.cost.bytes, "tree-reweighted messages", "raise memory_limit", self.engine.memory_limit)
        part = relevant_part(model, self.part.variables.names)
        answer = partial(self.answer_row, node_scope(part).names)
        return answer_rows(part, findings, self.engine, answer, StepLimit.of(self.engine.max_steps, budget))

    def answer_row(self, names: Sequence[str], reduced: ReducedFactors, limit: StepLimit) -> RowAnswer:
        check_pairs(reduced, names)
        graph = PairwiseGraph.of(reduced.factors, reduced.num_states)
        is_forest = bool((graph.shares == 1.0).all())
        messages, steps = ReweightedMessages.start(graph), 0
        bounds = [messages.bound()]
        tolerance = 0.0 if is_forest else self.engine.tolerance
        while messages.change > max(tolerance, FIXED) and limit.allows(steps):
            messages, steps = messages.step(0.0 if is_forest else self.engine.damping), steps + 1
            if steps % STEPS_PER_BOUND == 0 or messages.change <= max(tolerance, FIXED):
                bounds.append(messages.bound())
        is_exact = is_forest and messages.change <= FIXED
        upper = reduced.log_scale + (bounds[-1] if is_exact else min(bounds))
        return RowAnswer(
            upper,
            [np.exp(row[:count]) for row, count in zip(messages.node_beliefs[0], reduced.num_states, strict=True)],
            partial(joint_belief, messages, reduced),
            lower=upper if is_exact else None,
            upper=upper,
            exact=is_exact,
            converged=messages.change <= max(tolerance, FIXED),
            steps=steps,
            residual=messages.change,
        )

    def __repr__(self) -> str:
        return f"TreeReweightedPlan({self.cost})"


def check_pairs(reduced: ReducedFactors, names: Sequence[str]) -> None:
    """Raise `Unsupported` for a factor of more than two free nodes, with their names."""
    large = next((factor.nodes for factor in reduced.factors if len(factor.nodes) > 2), None)
    if large is not None:
        shown = ", ".join(repr(names[reduced.free[node]]) for node in large)
        raise Unsupported(
            f"the engine 'tree-reweighted' takes factors of two variables; one has {shown}: method='mini-bucket' bounds"
            " log Z for factors of any size"
        )


def joint_belief(messages: ReweightedMessages, reduced: ReducedFactors, nodes: Sequence[int]) -> np.ndarray:
    """The belief of one node, or of two that an edge joins, in their order."""
    graph, counts = messages.graph, reduced.num_states[list(nodes)]
    if len(nodes) == 1:
        return np.exp(messages.node_beliefs[0][nodes[0], : counts[0]])
    directed = int(np.flatnonzero((graph.sources == nodes[0]) & (graph.targets == nodes[1]))[0])
    table = messages.edge_beliefs[0][directed % graph.num_edges]
    return np.exp(table if directed < graph.num_edges else table.T)[: counts[0], : counts[1]]
