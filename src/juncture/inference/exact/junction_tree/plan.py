"""`CliquePlan`: a junction tree laid out in flat arrays.

The plan knows scopes and numbers of states, no values: one plan serves every setting of the parameters and every
row of evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.checks import check_number
from juncture.errors import TooLarge
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.lowering import HIDDEN, Lowered, lower
from juncture.inference.exact.clique_search import CliqueTree, best_tree
from juncture.kernels.elimination_orders.cliques import lower_parents
from juncture.kernels.factored_tree.layout import measure_cliques
from juncture.kernels.junction_tree.layout import build_clique_table, build_node_table, fill_indices, lay_out
from juncture.kernels.junction_tree.packing import assign_factors
from juncture.networks.bayesian_network import Network
from juncture.runtime.memory import NUMBER, default_memory_limit, format_bytes

KEPT_ENTRIES = 2**23  # of messages: so many are kept from a run without evidence, for later ones to start from
MOST_OPERATIONS = 2.5e11  # some two minutes: what takes longer is refused, however little memory it needs
ROOM = 2**16  # numbers to work with: chunks and small tables
SURELY_FREE = 2**24  # bytes that need no look at how much memory is left


@dataclass(frozen=True, eq=False, repr=False)
class CliquePlan:
    """The arrays that the kernels read; `kernels.junction_tree.layout` names the columns of the two tables."""

    num_states: np.ndarray  # (node,)
    scope_starts: np.ndarray  # (factor + 1,)
    scope_nodes: np.ndarray
    factor_cliques: np.ndarray  # (factor,): the clique that each factor goes into
    starts: np.ndarray  # (clique + 1,): nodes[starts[c]:starts[c + 1]] are the axes of clique c, parents first
    nodes: np.ndarray
    shared: np.ndarray  # (clique,): how many of these axes are shared with the parent
    table: np.ndarray  # (clique, column)
    indices: np.ndarray  # how parents read messages
    node_table: np.ndarray  # (node, column)
    num_cells: int
    num_entries: int  # of all messages
    num_marginals: int
    cost: Cost

    @property
    def num_cliques(self) -> int:
        return len(self.table)

    @cached_property
    def buffer_size(self) -> int:
        """The entries of a run's buffer: the cells, the messages twice, and a bound for each clique."""
        return self.num_cells + 2 * self.num_entries + self.num_cliques

    def __repr__(self) -> str:
        return f"CliquePlan({self.num_cliques} cliques, {self.cost})"


@dataclass(frozen=True, eq=False)
class Structure:
    """Scopes and numbers of states as arrays, and the best clique tree found for them."""

    num_states: np.ndarray
    scope_starts: np.ndarray
    scope_nodes: np.ndarray
    tree: CliqueTree

    @cached_property
    def factored_cost(self) -> Cost:
        """What a run takes if cliques are not stored, but factors, messages, and those of one clique again."""
        tree, states = self.tree, self.num_states
        _, _, separators = measure_cliques(tree.starts, tree.nodes, tree.parents, states)
        has_parent = tree.parents >= 0
        largest = np.bincount(tree.parents[has_parent], separators[has_parent]).max(initial=0.0)
        factors = np.exp(np.add.reduceat(np.append(np.log(states[self.scope_nodes]), 0.0), self.scope_starts[:-1]))
        messages = separators.sum() * (2 if separators.sum() <= KEPT_ENTRIES else 1)
        return replace(tree.cost, bytes=NUMBER * float(messages + largest + factors.sum() + 3 * states.sum() + ROOM))


def find_structure(
    scopes: Sequence[Sequence[int]],
    num_states: Sequence[int],
    *,
    known: np.ndarray | None = None,
    effort: float = 1.0,
    deadline: float | None = None,
) -> Structure:
    """The best clique tree found for these scopes, with a `known` elimination order among those tried."""
    states = np.array(num_states, dtype=np.int64)
    scope_starts = np.cumsum([0, *(len(scope) for scope in scopes)], dtype=np.int64)
    scope_nodes = np.array([node for scope in scopes for node in scope], dtype=np.int64)
    tree = best_tree(states, scope_starts, scope_nodes, known=known, effort=effort, deadline=deadline)
    return Structure(states, scope_starts, scope_nodes, tree)


def lay_out_plan(structure: Structure, memory_limit: int | None = None) -> CliquePlan:
    """The structure's tables and messages in flat arrays; TooLarge when they would need more bytes than the limit."""
    states, scope_starts, scope_nodes = structure.num_states, structure.scope_starts, structure.scope_nodes
    tree = structure.tree
    check_cost(tree.cost, memory_limit)
    parents = lower_parents(tree.starts, tree.nodes, tree.parents, states)
    nodes, shared = lay_out(tree.starts, tree.nodes, parents, len(states))
    table, num_cells, num_entries, num_indices = build_clique_table(parents, tree.starts, nodes, shared, states, states)
    indices = np.empty(num_indices, dtype=np.int32 if num_entries < 2**31 else np.int64)
    fill_indices(table, tree.starts, nodes, shared, states, indices)
    node_table = build_node_table(table, tree.starts, nodes, states)
    factor_cliques = assign_factors(tree.order, tree.node_cliques, scope_starts, scope_nodes)
    return CliquePlan(
        num_states=states,
        scope_starts=scope_starts,
        scope_nodes=scope_nodes,
        factor_cliques=factor_cliques,
        starts=tree.starts,
        nodes=nodes,
        shared=shared,
        table=table,
        indices=indices,
        node_table=node_table,
        num_cells=int(num_cells),
        num_entries=int(num_entries),
        num_marginals=int(states.sum()),
        cost=tree.cost,
    )


def has_scopes(plan: Any, scopes: Sequence[Sequence[int]], shape: Sequence[int]) -> bool:
    """Whether a plan of any kind was made for factors of these scopes over variables of this shape."""
    flat = [node for scope in scopes for node in scope]
    starts = np.cumsum([0, *(len(scope) for scope in scopes)])
    return (
        np.array_equal(plan.scope_nodes, flat)
        and np.array_equal(plan.scope_starts, starts)
        and np.array_equal(plan.num_states, shape)
    )


def fits(cost: Cost, memory_limit: int | None) -> bool:
    """Whether a run needs no more bytes than the limit, by default half of what is free, and does not take too long."""
    return cost.operations <= MOST_OPERATIONS and has_room(cost, memory_limit)


def has_room(cost: Cost, memory_limit: int | None) -> bool:
    if memory_limit is None and cost.bytes < SURELY_FREE:
        return True
    return cost.bytes <= (default_memory_limit() if memory_limit is None else memory_limit)


def check_width(width: int, num_states: int) -> None:
    """Raise `TooLarge` for a lower bound of the width that is too large already, before anything is planned."""
    log_operations = (width + 1) * math.log(num_states)
    if width > 0 and log_operations > math.log(MOST_OPERATIONS):
        raise TooLarge(
            f"exact inference would take more than {num_states}^{width + 1} operations, as every junction tree of this"
            f" model has a width of at least {width}; the limit is {MOST_OPERATIONS:.2g}: choose method='mean-field',"
            " 'loopy' or another engine for large models"
        )


def check_cost(cost: Cost, memory_limit: int | None) -> None:
    if not has_room(cost, memory_limit):
        memory_limit = default_memory_limit() if memory_limit is None else memory_limit
        raise TooLarge(
            f"exact inference would need {format_bytes(cost.bytes)} ({cost}); the limit is "
            f"{format_bytes(memory_limit)}: observe more, ask for fewer targets, or raise memory_limit"
        )
    if not fits(cost, memory_limit):
        raise TooLarge(
            f"exact inference would take {cost.operations:.2g} operations ({cost}); the limit is {MOST_OPERATIONS:.2g}:"
            " observe more, or ask for fewer targets"
        )


SLICED_EFFORT = 0.125  # of the usual work: the order for the whole model is a good start, and the plan serves few runs
MAX_EFFORT = 1e6


def search_structure(
    model: Network, lowered: Lowered, find_whole: Callable[[], Structure], deadline: float | None = None
) -> Structure:
    """A clique tree for these factors.

    That of the whole model has the model's elimination order, if there is one, unless a heuristic gives smaller
    tables. The search for reduced factors starts from the order for the whole model, which `find_whole` finds; there is
    none where some variables are real.
    """
    if len(lowered.variables) == len(model.variables):
        return search_from(model.elimination_order, lowered, 0.0 if model.elimination_order else 1.0, deadline)
    if any(variable.is_real for variable in model.variables):
        return search_from((), lowered, 1.0, deadline)
    return search_from(names_in_order(lower(model), find_whole()), lowered, SLICED_EFFORT, deadline)


def find_order(model: Network, effort: float) -> tuple[str, ...]:
    """An elimination order of the model's variables, searched from the one that it has."""
    effort = check_number(effort, "the effort", least=0.0, most=MAX_EFFORT)
    lowered = lower(model)
    order = names_in_order(lowered, search_from(model.elimination_order, lowered, effort))
    return tuple(name for name in order if not name.startswith(HIDDEN))


def search_from(names: Sequence[str], lowered: Lowered, effort: float, deadline: float | None = None) -> Structure:
    scopes = lowered.scopes
    known = complete_order(names, lowered.scope.names, scopes) if names else None
    return find_structure(scopes, lowered.scope.shape, known=known, effort=effort, deadline=deadline)


def names_in_order(lowered: Lowered, structure: Structure) -> tuple[str, ...]:
    """The variables in the order of elimination, hidden ones too."""
    names = lowered.scope.names
    return tuple(names[node] for node in structure.tree.order.tolist())


def complete_order(names: Sequence[str], all_names: Sequence[str], scopes: Sequence[Sequence[int]]) -> np.ndarray:
    """All nodes in the order of these names; a node without one goes right after the first of its neighbours."""
    places = {name: float(place) for place, name in enumerate(names)}
    steps = np.array([places.get(name, np.inf) for name in all_names])
    is_named = np.isfinite(steps)
    for scope in scopes:
        first = min((steps[node] for node in scope if is_named[node]), default=np.inf)
        for node in scope:
            if not is_named[node]:
                steps[node] = min(steps[node], first + 0.5)
    return np.argsort(steps, kind="stable")
