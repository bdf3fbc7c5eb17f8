"""`MiniBucket`: bounds of log Z from both sides, and approximate marginals, for any product of factors.

Choose it where exact inference is too large and a bracket of log Z is wanted: it is the only engine with an upper and a
lower bound for factors of any size. Variables are eliminated as in variable elimination, but no table has more than
`bound` + 1 variables: larger buckets are split, and Hölder's inequality bounds what that changes. The cost is that of
the tables, times the steps; the bracket closes as the bound grows, and the answer is exact once it reaches the width
(Liu and Ihler 2011, weighted mini-buckets).

A second lower bound fixes some nodes, so that exact elimination of the others needs small tables only. Z is a sum over
the states of the fixed nodes, and no term is negative, so each term is a lower bound (conditioning on a cutset: Pearl
1988, Dechter 1990). The states are the most probable ones by approximate beliefs, one node after the other; states that
zeros rule out are skipped. Unlike a bound by Hölder's inequality it stands zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.inference.bounded.row_answers import (
    ReducedFactors,
    RowAnswer,
    StepLimit,
    answer_rows,
    free_scopes,
    possible_states,
)
from juncture.inference.bounded.weighted_mini_buckets import (
    LOWER,
    UPPER,
    MiniBuckets,
    Tightening,
    WeightedPass,
    split_buckets,
)
from juncture.inference.engines.contract import BELIEFS, Cost, Engine, EnginePlan, Query, Question, recall
from juncture.inference.engines.factor_answers import FactorAnswers
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.exact.elimination import good_order, plan_elimination, plan_steps, reduce_factor
from juncture.inference.exact.log_tables import reduce_to
from juncture.runtime.memory import check_memory

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

EFFORT = 0.1  # of the usual search for an order: split buckets gain little from a better one
STEPS_TO_FIX = (0, 4, 16)  # after which a lower bound is taken by fixed variables: more steps never loosen the best
MAX_ORDERS = 16  # elimination orders that are kept with a model, for other bounds


@dataclass(frozen=True)
class MiniBucket(Engine):
    """Weighted mini-buckets: log Z bounded from above and from below, with one dial between speed and tightness.

    `beliefs.diagnostics` has the bounds, `lower` and `upper`; `log_evidence` is the upper one. The lower bound is the
    better of two: Hölder's inequality reversed, and exact elimination with some variables fixed. It is -inf where zeros
    leave no such states that were found.

    Parameters
    ----------
    bound
        No table has more than `bound` + 1 variables, unless a factor of the model has. The answer is exact if the
        bound is at least the width, which `jt.cost` gives.
    max_steps
        How often weights and shifts of the split buckets are improved. No step loosens a bound.
    tolerance
        The steps end when one tightens each bound by less than this.
    memory_limit
        In bytes; by default a share of the free memory. Tables that need more raise `TooLarge`.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> from juncture.verbs import infer
    >>> beliefs = infer(example("asia"), {"xray": "yes"}, method=MiniBucket(bound=1))
    >>> beliefs.exact, bool(beliefs.diagnostics.lower <= np.log(0.11029004) <= beliefs.diagnostics.upper)
    (False, True)
    >>> infer(example("asia"), {"xray": "yes"}, method=MiniBucket(bound=2)).exact
    True
    """

    bound: int = 10
    max_steps: int = 30
    tolerance: float = 1e-3
    memory_limit: int | None = None
    name: ClassVar[str] = "mini-bucket"
    answers: ClassVar[frozenset[Question]] = BELIEFS | {Question.EXPECTED}

    def __post_init__(self) -> None:
        check_count(self.bound, "bound", least=1)
        check_count(self.max_steps, "max_steps")
        check_number(self.tolerance, "tolerance", least=0)

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> MiniBucketPlan:
        """A plan for the part of the model that the targets and the observed variables need."""
        return MiniBucketPlan(self, relevant_part(model, {*observed, *targets}), tuple(observed))


class Shape(NamedTuple):
    """What an elimination order depends on."""

    scopes: tuple[tuple[int, ...], ...]
    num_states: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class MiniBucketPlan(EnginePlan):
    """The elimination orders and split buckets that were needed so far; rows with the same free nodes share them."""

    engine: MiniBucket
    part: Any
    observed: tuple[str, ...]
    found: dict[Shape, tuple[list[int], MiniBuckets]] = field(default_factory=dict)

    def buckets_of(self, scopes: Sequence[tuple[int, ...]], num_states: np.ndarray) -> tuple[list[int], MiniBuckets]:
        """An elimination order, and the mini-buckets along it."""
        shape = Shape(tuple(scopes), tuple(num_states.tolist()))
        if shape not in self.found:
            order = recall(
                self.part,
                "elimination orders",
                shape,
                lambda: good_order(scopes, num_states, effort=EFFORT),
                MAX_ORDERS,
            )
            self.found[shape] = order, split_buckets(scopes, num_states, order, self.engine.bound)
        return self.found[shape]

    @cached_property
    def cost(self) -> Cost:
        """Of a step, without what the zeros of the tables rule out."""
        return self.buckets_of(*free_scopes(self.part, self.observed))[1].cost

    def prepare(self) -> None:
        """Search the elimination order."""
        _ = self.cost

    def run(self, model: Network, query: Query) -> FactorAnswers:
        part = relevant_part(model, self.part.variables.names)
        limit = StepLimit.of(self.engine.max_steps, query.budget)
        return answer_rows(part, query.findings, self.engine, self.answer_row, limit)

    def answer_row(self, reduced: ReducedFactors, limit: StepLimit) -> RowAnswer:
        order, buckets = self.buckets_of(reduced.scopes, reduced.num_states)
        check_memory(
            buckets.cost.bytes, "mini-buckets", "lower the bound, or raise memory_limit", self.engine.memory_limit
        )
        products = buckets.products(reduced.factors)
        upper, lower = (Tightening.start(buckets, products, reduced.log_scale, side) for side in (UPPER, LOWER))
        steps, fixed = 0, -np.inf
        while True:
            is_converged = has_converged(upper, lower, self.engine.tolerance)
            if buckets.split and (is_converged or steps in STEPS_TO_FIX):
                beliefs = node_beliefs(upper.best, len(order))
                fixed = max(fixed, conditioned_bound(reduced, order, self.engine.bound, beliefs))
            if is_converged or not limit.allows(steps):
                break
            upper, lower, steps = upper.step(), lower.step(), steps + 1
        best = upper.best
        return RowAnswer(
            best.value,
            node_beliefs(best, len(order)),
            partial(joint_belief, best),
            lower=max(lower.best.value, fixed),
            upper=best.value,
            exact=not buckets.split,
            converged=is_converged,
            steps=steps,
        )

    def __repr__(self) -> str:
        return f"MiniBucketPlan(bound {self.engine.bound}; {self.cost})"


def has_converged(upper: Tightening, lower: Tightening, tolerance: float) -> bool:
    return all(side.is_done or side.change <= tolerance for side in (upper, lower))


def node_beliefs(found: WeightedPass, num_nodes: int) -> list[np.ndarray]:
    return [found.node_belief(node) for node in range(num_nodes)]


def joint_belief(found: WeightedPass, nodes: Sequence[int]) -> np.ndarray:
    """The belief over some nodes of one cluster, in their order."""
    index = found.buckets.find(nodes)
    return reduce_to(found.beliefs[index], found.buckets.clusters[index].nodes, tuple(nodes), np.sum)


def conditioned_bound(
    reduced: ReducedFactors, order: Sequence[int], bound: int, beliefs: Sequence[np.ndarray]
) -> float:
    """The log of the sum over all nodes but a cutset, which is fixed; -inf where no possible states were found."""
    cutset = find_cutset(reduced.scopes, reduced.num_states, order, bound)
    codes = fix_states(reduced, cutset, beliefs)
    if codes is None:
        return -np.inf
    factors = [reduce_factor(factor, codes) for factor in reduced.factors]
    free = [node for node in order if node not in codes]
    scopes = [factor.nodes for factor in factors]
    elimination = plan_elimination(scopes, reduced.num_states, keep=frozenset(codes), order=free)
    left, _ = elimination.run(factors)
    return reduced.log_scale + float(left.logs)


def find_cutset(scopes: Sequence[Sequence[int]], num_states: np.ndarray, order: Sequence[int], bound: int) -> list[int]:
    """Nodes without which no step of an elimination has more than bound + 1 nodes, unless a single factor has.

    While a step has more, the nodes of the largest one that occur in most of those too large are taken out.
    """
    cutset: set[int] = set()
    while True:
        inside = [[node for node in scope if node not in cutset] for scope in scopes]
        steps, _ = plan_steps(inside, num_states, [node for node in order if node not in cutset])
        large = [(*step.nodes, step.node) for step in steps if len(step.nodes) > bound]
        if not large:
            return [node for node in order if node in cutset]
        counts = Counter(node for nodes in large for node in nodes)
        largest = max(large, key=len)
        frequent = sorted(largest, key=lambda node: (-counts[node], node))
        cutset.update(frequent[: len(largest) - bound - 1])


def fix_states(reduced: ReducedFactors, cutset: Sequence[int], beliefs: Sequence[np.ndarray]) -> dict[int, int] | None:
    """For each node of the cutset its most probable state that is possible, the most certain nodes first."""
    with_zeros = [factor for factor in reduced.factors if np.isneginf(factor.logs).any()]
    masks = [np.ones(count, dtype=bool) for count in reduced.num_states]
    codes: dict[int, int] = {}
    for node in sorted(cutset, key=lambda node: -float(beliefs[node].max())):
        if not masks[node].any():
            return None
        codes[node] = int(np.where(masks[node], beliefs[node], -1.0).argmax())
        masks[node] = np.arange(len(masks[node])) == codes[node]
        masks = possible_states(with_zeros, masks, [node])
    return codes
