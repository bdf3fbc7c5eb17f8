"""`BoundedCliqueTree`: clique trees of bounded size in place of one that is too large.

Choose it where exact inference is too large but not hopeless, and marginals are wanted: it runs once, without
iterations to converge, and is exact as far as tables of the given size allow. The model is cut into a sequence of
clique trees that overlap; where a tree would grow beyond the size, it is replaced by the nearest distribution with
smaller cliques. Cost: the tables of all trees, each of at most `size` entries, and a few times as many on the way back.
The design follows Bathla and Vasudevan (2022, 2023: build, infer, approximate), with dependences removed as by
Kjærulff (1994).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.inference.bounded.clique_tree import CliqueTree, Nodes, plan_cliques
from juncture.inference.bounded.linked_trees import BYTES_PER_CELL, TreeLimits, build_trees, pass_back
from juncture.inference.bounded.reduced_factors import ReducedFactors
from juncture.inference.bounded.rows import RowAnswer, StepLimit, answer_rows, free_scopes
from juncture.inference.engines.contract import BELIEFS, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import FactorAnswers, sum_to
from juncture.inference.engines.relevance import relevant_part

OPERATIONS_PER_CELL = 40  # of a calibration, the way back, and the search for weak dependences


@dataclass(frozen=True)
class BoundedCliqueTree(Engine):
    """Clique trees whose tables have at most `size` entries, linked; marginals, and an estimate of log p(evidence).

    The answer is exact, and says so, where no dependence had to be removed. Otherwise nothing bounds its error; it
    shrinks, as a rule, as the size grows.

    Parameters
    ----------
    size
        The largest number of entries of a table, unless a factor of the model has more. On the way back, tables may
        have a few times as many.
    memory_limit
        In bytes; by default a share of the free memory. Trees that need more raise `TooLarge`.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> from juncture.verbs import infer
    >>> asia, evidence = example("asia"), {"xray": "yes", "dysp": "yes"}
    >>> beliefs = infer(asia, evidence, method=BoundedCliqueTree(size=4))
    >>> beliefs.exact, abs(beliefs["lung"]["yes"] - infer(asia, evidence)["lung"]["yes"]) < 0.05
    (False, True)
    >>> infer(asia, evidence, method=BoundedCliqueTree(size=8)).exact
    True
    """

    size: int = 2**16
    memory_limit: int | None = None
    name: ClassVar[str] = "bounded-clique-tree"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.EXPECTED}

    def __post_init__(self) -> None:
        check_count(self.size, "size", least=2)

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> BoundedCliqueTreePlan:
        """A plan for the part of the model that the targets and the observed variables need."""
        return BoundedCliqueTreePlan(self, relevant_part(model, {*observed, *targets}), tuple(observed))


@dataclass(frozen=True, eq=False, repr=False)
class BoundedCliqueTreePlan(EnginePlan):
    """The part of a model that a question needs; the trees depend on its numbers too and are made by a run."""

    engine: BoundedCliqueTree
    part: Any
    observed: tuple[str, ...]

    @cached_property
    def cost(self) -> Cost:
        """At most: a table of the largest size for each free node, or what exact inference takes."""
        scopes, num_states = free_scopes(self.part, self.observed)
        if not scopes:
            return Cost(0, 1.0, BYTES_PER_CELL, OPERATIONS_PER_CELL)
        exact = plan_cliques(scopes, num_states)[1].cost
        largest = min(exact.largest_table, float(self.engine.size))
        cells = min(exact.bytes / BYTES_PER_CELL, largest * len(num_states))
        return Cost(exact.width, largest, BYTES_PER_CELL * cells, OPERATIONS_PER_CELL * cells)

    def run(self, model: Any, query: Query) -> FactorAnswers:
        part = relevant_part(model, self.part.variables.names)
        limit = StepLimit.of(0, query.budget)
        return answer_rows(part, query.findings, self.engine, self.answer_row, limit)

    def answer_row(self, reduced: ReducedFactors, limit: StepLimit) -> RowAnswer:
        alone = sorted(set(range(len(reduced.free))) - {node for scope in reduced.scopes for node in scope})
        limits = TreeLimits(self.engine.size, self.engine.memory_limit, limit.deadline)
        linked = build_trees(reduced.factors, reduced.num_states, limits)
        log_evidence = reduced.log_scale + linked.log_total + float(np.log(reduced.num_states[alone]).sum())
        if log_evidence == -np.inf:
            return RowAnswer(-np.inf, lower=-np.inf, upper=-np.inf, exact=True)
        trees = pass_back(linked)
        is_exact = linked.loss is None
        return RowAnswer(
            log_evidence,
            node_beliefs(trees, reduced.num_states),
            partial(joint_belief, trees),
            lower=log_evidence if is_exact else None,
            upper=log_evidence if is_exact else None,
            exact=is_exact,
        )

    def __repr__(self) -> str:
        return f"BoundedCliqueTreePlan(size {self.engine.size:,}; {self.cost})"


def node_beliefs(trees: Sequence[CliqueTree], num_states: np.ndarray) -> list[np.ndarray]:
    """The marginal of each node from the last tree that has it; uniform where no factor has it."""
    found = [np.full(count, 1.0 / count) for count in num_states]
    for tree in trees:
        for clique in sorted(tree.nodes, key=lambda clique: (-tree.cells(clique), clique)):
            for node in tree.nodes[clique]:
                found[node] = normalized(tree.marginal(clique, (node,)))
    return found


def joint_belief(trees: Sequence[CliqueTree], nodes: Sequence[int]) -> np.ndarray:
    """The belief over nodes that share a factor, in their order, from the last tree that has them together."""
    ordered: Nodes = tuple(sorted(nodes))
    tree = next(tree for tree in reversed(trees) if tree.find(ordered) is not None)
    return sum_to(normalized(tree.marginal_of(ordered))[np.newaxis], ordered, nodes)[0]


def normalized(logs: np.ndarray) -> np.ndarray:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
