"""`FactoredPlan`: a junction tree whose cliques are kept as factors and messages, laid out in flat arrays.

What is kept are messages; a clique's table is never stored (after Shenoy and Shafer 1990). So the memory grows with the
separators, not with the cliques.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juncture.inference.engines.contract import Cost
from juncture.inference.exact.junction_tree.plan import Structure, check_cost
from juncture.kernels.factored_tree.combined_tables import MOST_CELLS
from juncture.kernels.factored_tree.layout import FactoredLayout, order_axes
from juncture.kernels.factored_tree.propagation import DRAWN_CELLS
from juncture.kernels.junction_tree.packing import assign_factors

CHUNK_CELLS = 4096  # 32 KiB: a few chunks stay in a core's cache


@dataclass(frozen=True, eq=False, repr=False)
class FactoredPlan:
    """Scopes and sizes, and the layout that the kernels read (`kernels.factored_tree.layout`).

    The store holds the factors, a likelihood and a marginal for each node, the messages, room to work in, and where
    sums for the factors are asked these.
    """

    num_states: np.ndarray  # (node,)
    scope_starts: np.ndarray  # (factor + 1,)
    scope_nodes: np.ndarray
    factor_cliques: np.ndarray  # (factor,): the clique that each factor belongs to
    factor_axes: tuple[tuple[int, ...], ...]  # (factor,): its axes in the order of its clique
    layout: FactoredLayout
    structure: Structure
    first_likelihood: int  # the number of the table of node 0's likelihood
    first_marginal: int  # ... and of its marginal
    first_sums: int  # the number of the table of factor 0's sums
    factor_sizes: np.ndarray  # (factor,): entries of each
    factors_size: int  # entries of all factors, with which the store begins
    messages: slice  # where the messages lie in the store
    store_size: int  # without sums
    sums_size: int
    chunk_cells: int
    num_cells: int
    num_marginals: int
    cost: Cost

    @property
    def num_cliques(self) -> int:
        return len(self.layout.parents)

    def __repr__(self) -> str:
        return f"FactoredPlan({self.num_cliques} cliques, {self.cost})"


def lay_out_factored(structure: Structure, memory_limit: int | None = None) -> FactoredPlan:
    """The structure's tables in one store; TooLarge when they would need more bytes than the limit."""
    check_cost(structure.cost, memory_limit)
    states, tree = structure.num_states, structure.tree
    axes, message_starts, message_nodes = order_axes(tree.starts, tree.nodes, tree.parents, states)
    factor_cliques = assign_factors(tree.order, tree.node_cliques, structure.scope_starts, structure.scope_nodes)
    clique_axes, scopes = split_list(axes, tree.starts), split_list(structure.scope_nodes, structure.scope_starts)
    pairs = zip(scopes, factor_cliques, strict=True)
    factor_axes = tuple(order_scope(scope, clique_axes[clique] if clique >= 0 else scope) for scope, clique in pairs)
    factors = [scope[list(order)] for scope, order in zip(scopes, factor_axes, strict=True)]
    messages, nodes = split_list(message_nodes, message_starts), list(np.arange(len(states))[:, np.newaxis])
    tables = [*factors, *messages, *nodes, *nodes, *factors]
    sizes = np.array([int(np.prod(states[table])) for table in tables], np.int64)
    parts = np.split(np.arange(len(tables)), np.cumsum([len(factors), len(messages), len(nodes), len(nodes)]))
    of_factors, of_messages, likelihoods, marginals, sums = parts
    at, ends = place_tables(sizes, [of_factors, likelihoods, marginals, of_messages])
    scratch = ends[-1]
    spare = scratch + scratch_size(tree.parents, sizes[of_messages])
    store_size = spare + MOST_CELLS + max(DRAWN_CELLS, int(states.max(initial=1)))
    at[sums] = store_size + np.cumsum(sizes[sums]) - sizes[sums]
    homes, all_cliques = smallest_cliques(tree.starts, tree.nodes, states), np.arange(len(messages))
    held = (np.concatenate([factor_cliques, tree.parents, homes]), np.concatenate(parts[:3]))
    asked = (np.concatenate([homes, factor_cliques]), np.concatenate(parts[3:]))
    layout = FactoredLayout(
        states, tree.starts, axes, tree.parents,
        at, np.cumsum([0, *map(len, tables)]), np.concatenate([np.empty(0, np.int64), *tables]),
        *list_by_owner(*held, len(messages)), *list_by_owner(*asked, len(messages)),
        *list_by_owner(tree.parents, all_cliques, len(messages)),
        homes, len(factors), scratch, spare,
    )  # fmt: skip
    return FactoredPlan(
        num_states=states,
        scope_starts=structure.scope_starts,
        scope_nodes=structure.scope_nodes,
        factor_cliques=factor_cliques,
        factor_axes=factor_axes,
        layout=layout,
        structure=structure,
        first_likelihood=len(factors) + len(messages),
        first_marginal=len(factors) + len(messages) + len(nodes),
        first_sums=len(tables) - len(factors),
        factor_sizes=sizes[of_factors],
        factors_size=ends[0],
        messages=slice(ends[2], ends[3]),
        store_size=store_size,
        sums_size=int(sizes[sums].sum()),
        chunk_cells=CHUNK_CELLS,
        num_cells=int(sum(np.prod(states[nodes]) for nodes in clique_axes)),
        num_marginals=int(states.sum()),
        cost=structure.cost,
    )


def place_tables(sizes: np.ndarray, parts: list[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """(where each table begins, where each part ends): the tables one after the other, part after part."""
    order = np.concatenate(parts)
    stops = np.cumsum(sizes[order])
    at = np.zeros(len(sizes), np.int64)
    at[order] = stops - sizes[order]
    ends = np.concatenate([[0], stops])
    return at, ends[np.cumsum([len(part) for part in parts])].tolist()


def scratch_size(parents: np.ndarray, message_sizes: np.ndarray) -> int:
    """The entries of the messages to all children of a clique, where these are most."""
    has_parent = parents >= 0
    return int(np.bincount(parents[has_parent], message_sizes[has_parent]).max(initial=0))


def split_list(items: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
    """The parts of a list, from each start to the next."""
    return [items[start:stop] for start, stop in pairwise(starts.tolist())]


def order_scope(scope: np.ndarray, axes: np.ndarray) -> tuple[int, ...]:
    """The axes of a scope in the order of those of its clique."""
    place = {node: position for position, node in enumerate(axes.tolist())}
    return tuple(sorted(range(len(scope)), key=lambda axis: place[int(scope[axis])]))


def smallest_cliques(starts: np.ndarray, members: np.ndarray, num_states: np.ndarray) -> np.ndarray:
    """(node,): the smallest clique that holds each node, of equal ones the first."""
    cliques = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    log_sizes = np.add.reduceat(np.log(num_states[members]), starts[:-1])
    order = np.lexsort((-cliques, -np.round(log_sizes[cliques], 9)))  # the last one stays
    homes = np.empty(len(num_states), np.int64)
    homes[members[order]] = cliques[order]
    return homes


def list_by_owner(owners: np.ndarray, items: np.ndarray, num_owners: int) -> tuple[np.ndarray, np.ndarray]:
    """(starts, items): those of each owner in their order; owner -1 is left out."""
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(num_owners + 1))
    return starts - starts[0], items[order][starts[0] :]
