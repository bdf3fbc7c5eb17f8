"""Layer numbers with the least total edge length: network simplex.

Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs", IEEE Transactions on Software
Engineering 19(3), 1993. A spanning tree of tight edges fixes all layers; a tree edge with a negative cut
value is exchanged for the nearest edge that crosses the cut the other way, until there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from juncture.drawing.layout.orientation import Arc, components

PIVOT_BUDGET = 600_000  # vertices times exchanges: keeps a thousand nodes under a second


def rank(num_vertices: int, arcs: Sequence[Arc]) -> list[int]:
    """The layer of each vertex, 0 on top: every arc points down, and all together are short."""
    ranks = longest_path(num_vertices, arcs)
    for part in components(num_vertices, [(upper, lower, True) for upper, lower in arcs]):
        inside = set(part)
        own = [arc for arc in arcs if arc[0] in inside]
        if own:
            shorten(part, own, ranks)
        top = min(ranks[vertex] for vertex in part)
        for vertex in part:
            ranks[vertex] -= top
    return ranks


def longest_path(num_vertices: int, arcs: Sequence[Arc]) -> list[int]:
    """The number of arcs on the longest way from above to each vertex."""
    children: list[list[int]] = [[] for _ in range(num_vertices)]
    waiting = [0] * num_vertices
    for upper, lower in arcs:
        children[upper].append(lower)
        waiting[lower] += 1
    ranks = [0] * num_vertices
    ready = [vertex for vertex in range(num_vertices) if not waiting[vertex]]
    while ready:
        vertex = ready.pop()
        for child in children[vertex]:
            ranks[child] = max(ranks[child], ranks[vertex] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return ranks


def shorten(part: Sequence[int], arcs: Sequence[Arc], ranks: list[int]) -> None:
    """Move the vertices of one component until their arcs are as short as can be (within the budget)."""
    balance = dict.fromkeys(part, 0)
    for upper, lower in arcs:
        balance[upper] += 1
        balance[lower] -= 1
    tree = tight_tree(part, arcs, ranks)
    for _ in range(max(PIVOT_BUDGET // len(part), 10)):
        walk = depth_first(part[0], tree)
        leaving = worst_cut(walk, balance)
        if leaving is None:
            break
        exchange(leaving, walk, tree, arcs, ranks)
    balance_ranks(part, arcs, ranks)


def slack(arc: Arc, ranks: Sequence[int]) -> int:
    return ranks[arc[1]] - ranks[arc[0]] - 1


Tree = dict[int, list[Arc]]


def tight_tree(part: Sequence[int], arcs: Sequence[Arc], ranks: list[int]) -> Tree:
    """A spanning tree of arcs without slack; ranks shift until there is one."""
    around: Tree = {vertex: [] for vertex in part}
    for arc in arcs:
        around[arc[0]].append(arc)
        around[arc[1]].append(arc)
    tree: Tree = {part[0]: []}
    frontier = [part[0]]
    while len(tree) < len(part):
        while frontier:
            vertex = frontier.pop()
            for arc in around[vertex]:
                other = arc[0] if arc[1] == vertex else arc[1]
                if other not in tree and slack(arc, ranks) == 0:
                    tree[vertex].append(arc)
                    tree[other] = [arc]
                    frontier.append(other)
        leaving = [arc for arc in arcs if (arc[0] in tree) != (arc[1] in tree)]
        if leaving:
            nearest = min(leaving, key=lambda arc: slack(arc, ranks))
            shift = slack(nearest, ranks) * (1 if nearest[0] in tree else -1)
            for vertex in tree:
                ranks[vertex] += shift
            frontier = list(tree)
    return tree


class TreeTraversal(NamedTuple):
    """The tree in depth-first order, with the arc to each vertex's parent and the size of its subtree."""

    order: list[int]
    parent_arc: dict[int, Arc]
    size: dict[int, int]


def depth_first(root: int, tree: Tree) -> TreeTraversal:
    order: list[int] = []
    parent_arc: dict[int, Arc] = {}
    stack = [root]
    while stack:
        vertex = stack.pop()
        order.append(vertex)
        own = parent_arc.get(vertex)
        for arc in tree[vertex]:
            if arc != own:
                child = arc[0] if arc[1] == vertex else arc[1]
                parent_arc[child] = arc
                stack.append(child)
    size = dict.fromkeys(order, 1)
    for vertex in reversed(order[1:]):
        upper, lower = parent_arc[vertex]
        size[lower if upper == vertex else upper] += size[vertex]
    return TreeTraversal(order, parent_arc, size)


def worst_cut(walk: TreeTraversal, balance: dict[int, int]) -> int | None:
    """The vertex whose arc to its parent has the most negative cut value.

    The cut value counts arcs from the part with the tail to the part with the head, less those back. Arcs
    within a subtree cancel in the sum of its balances (arcs out less arcs in), so that sum is the cut.
    """
    total = dict(balance)
    worst, worst_value = None, 0
    for vertex in reversed(walk.order[1:]):
        upper, lower = walk.parent_arc[vertex]
        total[lower if upper == vertex else upper] += total[vertex]
        value = total[vertex] if upper == vertex else -total[vertex]
        if value < worst_value:
            worst, worst_value = vertex, value
    return worst


def exchange(vertex: int, walk: TreeTraversal, tree: Tree, arcs: Sequence[Arc], ranks: list[int]) -> None:
    """Swap the arc above `vertex` in the tree for the nearest one across the cut the other way."""
    start = walk.order.index(vertex)
    subtree = set(walk.order[start : start + walk.size[vertex]])
    leaving = walk.parent_arc[vertex]
    rises = leaving[0] == vertex
    inner, outer = (1, 0) if rises else (0, 1)
    crossing = [arc for arc in arcs if arc[inner] in subtree and arc[outer] not in subtree]
    entering = min(crossing, key=lambda arc: slack(arc, ranks))
    shift = slack(entering, ranks) * (-1 if rises else 1)
    for member in subtree:
        ranks[member] += shift
    for end in leaving:
        tree[end].remove(leaving)
    for end in entering:
        tree[end].append(entering)


def balance_ranks(part: Sequence[int], arcs: Sequence[Arc], ranks: list[int]) -> None:
    """Where a vertex may lie in several layers at equal length, take the emptiest."""
    uppers: dict[int, list[int]] = {vertex: [] for vertex in part}
    lowers: dict[int, list[int]] = {vertex: [] for vertex in part}
    for upper, lower in arcs:
        uppers[lower].append(upper)
        lowers[upper].append(lower)
    population: dict[int, int] = {}
    for vertex in part:
        population[ranks[vertex]] = population.get(ranks[vertex], 0) + 1
    for vertex in part:
        if len(uppers[vertex]) == len(lowers[vertex]):
            first = max(ranks[upper] for upper in uppers[vertex]) + 1
            last = min(ranks[lower] for lower in lowers[vertex]) - 1
            best = min(range(first, last + 1), key=lambda layer: (population[layer], abs(layer - ranks[vertex])))
            if population[best] + 1 < population[ranks[vertex]]:
                population[ranks[vertex]] -= 1
                population[best] += 1
                ranks[vertex] = best
