"""`SymbolicElimination`: in which order the free variables go, and where the numbers of the model then belong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.engines.contract import Cost
from juncture.kernels.elimination_orders.greedy_orders import MIN_FILL, eliminate, moral_graph
from juncture.kernels.gaussian.minimum_degree import find_places, find_postorder, find_separators, minimum_degree
from juncture.kernels.gaussian.regressions import draw_values, find_covariances, sweep_means, sweep_variances

DENSE_NODES = 1_500  # up to here the order is the one of minimum fill, beyond it is the one of minimum degree
BYTES_PER_NUMBER = 8
OPERATIONS_PER_PAIR = 12  # of neighbours, forward and back
FEW_OPERATIONS, WORTH = 1e6, 2.0  # up to so many, or so many times the cheapest, a preferred order is taken


@dataclass(frozen=True, eq=False)
class SymbolicElimination:
    """The free variables in the order of their elimination, and what each is next to when it goes.

    The separator of a step is the list of the later steps that its variable then depends on, its parent the first of
    them, and `places` say where each is among the parent and the separator of the parent.
    """

    order: np.ndarray  # (step,): the variable that goes
    observed: np.ndarray  # (observed variable,)
    positions: np.ndarray  # (variable,): its step; -1 - k of the k-th observed one
    starts: np.ndarray  # (step + 1,)
    separators: np.ndarray
    parents: np.ndarray  # (step,), -1 for none
    places: np.ndarray

    @cached_property
    def work(self) -> int:
        """How much there is to do, for the choice between interpreted and compiled code."""
        return int(operations_of(self.starts))

    @cached_property
    def cost(self) -> Cost:
        widths = np.diff(self.starts).astype(np.float64)
        largest = float((widths.max(initial=0.0) + 1) ** 2) if len(widths) else 1.0
        numbers = 4 * len(self.separators) + 16 * len(self.order) + 4 * largest
        width = int(widths.max(initial=0.0)) if len(widths) else -1
        return Cost(width, largest, BYTES_PER_NUMBER * numbers, operations_of(self.starts))


def find_plan(
    starts: np.ndarray, nodes: np.ndarray, kept: np.ndarray, observed: np.ndarray, preferred: np.ndarray | None = None
) -> SymbolicElimination:
    """A plan for scopes over these nodes; `kept` nodes that are not `observed` (both as marks) are eliminated.

    A `preferred` order of the nodes is taken unless another one is much cheaper.
    """
    free = np.flatnonzero(kept & ~observed)
    number = np.full(len(kept), -1, np.int64)
    number[free] = np.arange(len(free))
    scopes = restrict_scopes(starts, number[nodes])
    wanted = np.empty(0, np.int64) if preferred is None else number[preferred]
    steps = sort_steps(wanted[wanted >= 0], *scopes) if preferred is not None else None
    if steps is None or operations_of(steps[1]) > FEW_OPERATIONS:
        other = sort_steps(find_order(len(free), *scopes), *scopes)
        if steps is None or operations_of(steps[1]) > WORTH * operations_of(other[1]):
            steps = other
    order, separator_starts, separators, parents = steps
    seen = np.flatnonzero(observed)
    positions = np.full(len(kept), len(kept), np.int64)
    positions[free[order]] = np.arange(len(free))
    positions[seen] = -1 - np.arange(len(seen))
    places = find_places(separator_starts, separators, parents)
    return SymbolicElimination(free[order], seen, positions, separator_starts, separators, parents, places)


def sort_steps(order: np.ndarray, starts: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, ...]:
    """(order, starts, separators, parents) with the steps below each step right before it: the fill is the same."""
    _, _, parents = separate(order, starts, nodes)
    order = order[find_postorder(parents)]
    return order, *separate(order, starts, nodes)


def operations_of(starts: np.ndarray) -> float:
    return float(OPERATIONS_PER_PAIR * ((np.diff(starts) + 1.0) ** 2).sum())


def restrict_scopes(starts: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scopes without the entries that have no number."""
    counts = np.concatenate([[0], np.cumsum(numbers >= 0)])
    return counts[starts], numbers[numbers >= 0]


def separate(order: np.ndarray, starts: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The separators of an elimination in this order, by positions in it."""
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order))
    found: tuple[np.ndarray, np.ndarray, np.ndarray] = find_separators(len(order), starts, positions[nodes])
    return found


def find_order(num_nodes: int, starts: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """A good order for the elimination of all nodes of these scopes."""
    if num_nodes > DENSE_NODES:
        large: np.ndarray = minimum_degree(num_nodes, starts, nodes)
        return large
    noise, late = np.arange(num_nodes, dtype=np.float64), np.zeros(num_nodes, np.bool_)
    graph = moral_graph(num_nodes, starts, nodes)
    order: np.ndarray = eliminate(graph, np.ones(num_nodes), MIN_FILL, noise, 0.0, late, np.inf, np.inf)[0]
    return order


@dataclass(frozen=True, eq=False)
class Solution:
    """Each free variable as a regression on its separator, in the units inside, for some cases of evidence."""

    plan: SymbolicElimination
    gains: np.ndarray  # of the separators
    shifts: np.ndarray  # (step, case)
    deviations: np.ndarray  # (step,): of the noise
    log_values: np.ndarray  # (case,): log-density of the evidence
    clashes: np.ndarray  # (case,): whether the evidence contradicts a deterministic relation
    relations: np.ndarray  # (relation, case): deterministic relations among observed variables, by their constants

    @cached_property
    def means(self) -> np.ndarray:
        """(step, case)."""
        means = np.empty_like(self.shifts)
        sweep_means(self.plan.starts, self.plan.separators, self.gains, self.shifts, means)
        return means

    @property
    def variances(self) -> np.ndarray:
        """(step,)."""
        return self.spread[: len(self.deviations)]

    @cached_property
    def spread(self) -> np.ndarray:
        """The variance of each step, then the covariances of each step with those of its separator, in one array."""
        plan, steps = self.plan, len(self.deviations)
        spread = np.empty(steps + len(plan.separators))
        sweep_variances(
            plan.work, plan.starts, plan.places, plan.parents, self.gains, self.deviations, spread[:steps],
            spread[steps:],
        )  # fmt: skip
        return spread

    def covariances(self, steps: np.ndarray) -> np.ndarray:
        """(step, step) of any steps."""
        plan, covariances = self.plan, np.empty((len(steps), len(steps)))
        find_covariances(steps, plan.starts, plan.separators, plan.parents, self.gains, self.deviations, covariances)
        return covariances

    def draw(self, normals: np.ndarray) -> np.ndarray:
        """Draws (step, draw) of the only case, from standard normal numbers."""
        values, shifts = normals.copy(), np.ascontiguousarray(self.shifts[:, 0])
        draw_values(self.plan.starts, self.plan.separators, self.gains, shifts, self.deviations, values)
        return values
