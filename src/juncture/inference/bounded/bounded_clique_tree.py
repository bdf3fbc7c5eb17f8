"""`BoundedCliqueTree`: clique trees of bounded size in place of one that is too large.

Choose it where exact inference is too large but not hopeless, and marginals are wanted: it runs once, without
iterations to converge, and is exact as far as tables of the given size allow. Cost: the tables of all trees, each of at
most `size` entries, and a few times as many on the way back. The design follows Bathla and Vasudevan (2022, 2023:
build, infer, approximate), with dependences removed as by Kjærulff (1994).

Factors enter in a breadth-first order of the nodes. A tree takes as many of them as its cliques allow; it is
calibrated, which gives its share of log Z, and thinned to the nodes that later factors have: replaced by the nearest
distribution with smaller cliques. The factors of the thinned tree and the next factors of the model make the next tree.
On the way back each tree is multiplied by the ratio between what the next tree believes about the interface and what
was handed to it, so that all trees know of all factors.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.errors import TooLarge
from juncture.inference.bounded.calibrated_forest import (
    GROWTH,
    CalibratedForest,
    Nodes,
    calibrate,
    plan_cliques,
    thin,
)
from juncture.inference.bounded.row_answers import ReducedFactors, RowAnswer, StepLimit, answer_rows, free_scopes
from juncture.inference.engines.contract import BELIEFS, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.log_tables import LogFactor, divide, normalize, reduce_to
from juncture.runtime.memory import check_memory

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

OPERATIONS_PER_CELL = 40  # of a calibration, the way back, and the search for weak dependences
BYTES_PER_CELL = 40  # of beliefs on the way and back, a message, and what a step makes of them
SHARE = 0.5  # of the largest clique of a tree: the largest of it thinned


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

    def compile(
        self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()
    ) -> BoundedCliqueTreePlan:
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

    def run(self, model: Network, query: Query) -> FactorAnswers:
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


def node_beliefs(trees: Sequence[CalibratedForest], num_states: np.ndarray) -> list[np.ndarray]:
    """The marginal of each node from the last tree that has it; uniform where no factor has it."""
    found = [np.full(count, 1.0 / count) for count in num_states]
    for tree in trees:
        for clique in sorted(tree.nodes, key=lambda clique: (-tree.cells(clique), clique)):
            for node in tree.nodes[clique]:
                found[node] = normalize(tree.marginal(clique, (node,)))
    return found


def joint_belief(trees: Sequence[CalibratedForest], nodes: Sequence[int]) -> np.ndarray:
    """The belief over nodes that share a factor, in their order, from the last tree that has them together."""
    ordered: Nodes = tuple(sorted(nodes))
    tree = next(tree for tree in reversed(trees) if tree.find(ordered) is not None)
    return reduce_to(normalize(tree.marginal_of(ordered)), ordered, tuple(nodes), np.sum)


@dataclass(frozen=True, eq=False)
class LinkedTrees:
    """Calibrated trees, the thinned trees between them, and the log of the sum of all."""

    trees: tuple[CalibratedForest, ...]
    thinned: tuple[CalibratedForest, ...]
    log_total: float
    loss: float | None  # of all removals; None where none was made, so that the total is exact


@dataclass(frozen=True)
class TreeLimits:
    """The entries of the largest clique, the bytes of all trees, and the time on the clock when trees have to end."""

    size: float
    memory_limit: float | None = None
    deadline: float | None = None

    def check(self, trees: Sequence[CalibratedForest], num_waiting: int) -> None:
        """Raise `TooLarge` beyond the bytes or the time: half of the trees tell nothing of the rest."""
        cells = sum(tree.cells(clique) for tree in trees for clique in tree.nodes)
        remedy = "lower the size, or raise memory_limit"
        check_memory(BYTES_PER_CELL * cells, "bounded clique trees", remedy, self.memory_limit)
        if self.deadline is not None and num_waiting and time.monotonic() > self.deadline:
            raise TooLarge(
                f"bounded clique trees have {num_waiting:,} factors left at the end of the budget: raise the budget, or"
                " infer by method='loopy'"
            )


def build_trees(factors: Sequence[LogFactor], num_states: np.ndarray, limits: TreeLimits) -> LinkedTrees:
    """The trees of a product of factors; the last one knows of all factors, the others of those before them."""
    waiting = in_breadth_first_order(factors, len(num_states)) if factors else []
    trees: list[CalibratedForest] = []
    thinned: list[CalibratedForest] = []
    losses: list[float] = []
    size = find_size(waiting, num_states, limits.size)
    while waiting:
        carried, count = make_room(thinned[-1] if thinned else None, waiting, num_states, size, losses)
        trees.append(calibrate([*carried, *waiting[:count]], num_states))
        waiting = waiting[count:]
        limits.check(trees, len(waiting))
        if trees[-1].log_total == -np.inf:
            break
        if waiting:
            thinned.append(trees[-1].copy())
            losses += thin(thinned[-1], nodes_of(waiting), SHARE * size)
    total = float(sum(tree.log_total for tree in trees))
    return LinkedTrees(tuple(trees), tuple(thinned), total, sum(losses) if losses else None)


def find_size(factors: Sequence[LogFactor], num_states: np.ndarray, size: float) -> float:
    """The largest clique of a tree: the given size if one tree has room for all, else less, as thinning needs room."""
    is_whole = not factors or fits([factor.nodes for factor in factors], num_states, size)
    return size if is_whole else max(size / GROWTH, 2.0)


def fits(scopes: Sequence[Nodes], num_states: np.ndarray, size: float) -> bool:
    """Whether a clique tree of these scopes was found that has no clique of more than `size` cells."""
    return plan_cliques(scopes, num_states)[1].cost.largest_table <= size


def make_room(
    thinned: CalibratedForest | None,
    waiting: Sequence[LogFactor],
    num_states: np.ndarray,
    size: float,
    losses: list[float],
) -> tuple[list[LogFactor], int]:
    """What the last tree hands on, thinned further until the next tree can take a factor, and how many it can."""
    scopes, needed = [factor.nodes for factor in waiting], nodes_of(waiting)
    while True:
        carried = [] if thinned is None else thinned.to_factors()
        count = longest_prefix([factor.nodes for factor in carried], scopes, num_states, size)
        joints = [] if thinned is None else [thinned.cells(c) for c, nodes in thinned.nodes.items() if len(nodes) > 1]
        if count or thinned is None or not joints:
            return carried, max(count, 1)  # a factor that is larger than the size has a clique of its own
        losses += thin(thinned, needed, max(joints) / 2)


def longest_prefix(carried: Sequence[Nodes], waiting: Sequence[Nodes], num_states: np.ndarray, size: float) -> int:
    """How many of the waiting scopes, in their order, fit into cliques of at most `size` cells with the carried."""
    low, high = 0, 1
    while high < len(waiting) and fits([*carried, *waiting[:high]], num_states, size):
        low, high = high, min(2 * high, len(waiting))
    if high == len(waiting) and fits([*carried, *waiting], num_states, size):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits([*carried, *waiting[:middle]], num_states, size) else (low, middle)
    return low


def pass_back(linked: LinkedTrees) -> list[CalibratedForest]:
    """All trees, each multiplied by what the next believes about the interface, divided by what it was given."""
    found = list(linked.trees[-1:])
    for tree, thinned in zip(reversed(linked.trees[:-1]), reversed(linked.thinned), strict=True):
        later, believed = found[0], thinned.copy()
        for clique, nodes in thinned.nodes.items():
            believed.beliefs[clique] = later.marginal_of(nodes)
        pairs = zip(believed.to_factors(), thinned.to_factors(), strict=True)
        ratios = [LogFactor(new.nodes, divide(new.logs, old.logs, of_zeros=0.0)) for new, old in pairs]
        found.insert(0, calibrate([*tree.to_factors(), *ratios], tree.num_states))
    return found


def in_breadth_first_order(factors: Sequence[LogFactor], num_nodes: int) -> list[LogFactor]:
    """The factors by their first node in a breadth-first order from a node at the rim (Cuthill and McKee 1969)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pairs = np.array([(a, b) for factor in factors for a in factor.nodes for b in factor.nodes]).reshape(-1, 2)
    graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(num_nodes, num_nodes))
    steps = np.empty(num_nodes, dtype=np.int64)
    steps[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(num_nodes)
    return sorted(factors, key=lambda factor: sorted(steps[list(factor.nodes)].tolist()))


def nodes_of(factors: Sequence[LogFactor]) -> set[int]:
    return {node for factor in factors for node in factor.nodes}
