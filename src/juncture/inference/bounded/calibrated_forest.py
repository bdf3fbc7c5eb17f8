"""`CalibratedForest`: cliques with their beliefs, as a forest; built from factors, calibrated, and thinned.

Tables hold logarithms, and their axes are the nodes of a clique in increasing order. Beliefs are normalised; the log of
what they summed to is kept apart.

`thin` makes the cliques of a calibrated tree smaller. Nodes that nothing later needs are summed out where the clique
that this makes is not much too large: exact. Then, in every clique that is too large, one of two removals is made until
all fit, the one that loses the least information:

- two nodes that share no other clique become independent given the rest of the clique, which splits it in two;
  the loss is their conditional mutual information (Kjærulff 1994),
- a node that the clique shares with a neighbour is left to that side of the tree; the loss is its mutual information
  with the nodes that only the clique has, given what else it shares, and the same of other cliques on its side.

Both leave the marginals of all cliques that remain as they are: the result is the nearest distribution, by
Kullback–Leibler divergence, that has the new cliques.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import numpy as np

from juncture.inference.engines.factor_arrays import offsets
from juncture.inference.exact.clique_messages import CliqueEdge, collect, distribute, shared_nodes
from juncture.inference.exact.clique_search import CliqueTree, best_tree
from juncture.inference.exact.log_tables import LogFactor, align, divide, reduce_axes, reduce_to, sum_by_axes

Nodes = tuple[int, ...]
GROWTH = 4.0  # how much larger than the size a clique may be before it is thinned
TINY = np.finfo(float).tiny  # in place of zeros, whose part in an entropy is 0


@dataclass(eq=False)
class CalibratedForest:
    """Cliques by number, each with its nodes, its neighbours and its belief."""

    num_states: np.ndarray  # of all nodes of the model
    nodes: dict[int, Nodes] = field(default_factory=dict)
    neighbours: dict[int, set[int]] = field(default_factory=dict)
    beliefs: dict[int, np.ndarray] = field(default_factory=dict)
    log_total: float = 0.0
    last_number: int = -1

    def separator(self, one: int, other: int) -> Nodes:
        return shared_nodes(self.nodes[one], self.nodes[other])

    def marginal(self, clique: int, kept: Nodes) -> np.ndarray:
        return reduce_to(self.beliefs[clique], self.nodes[clique], kept, sum_by_axes)

    def conditional(self, clique: int, given: Nodes) -> np.ndarray:
        """The log of the belief of a clique, divided by its marginal over some of its nodes."""
        marginal, nodes = self.marginal(clique, given), self.nodes[clique]
        return divide(self.beliefs[clique], align(marginal, given, nodes))

    def cells(self, clique: int) -> int:
        return int(self.beliefs[clique].size)

    def copy(self) -> CalibratedForest:
        around = {clique: set(others) for clique, others in self.neighbours.items()}
        return CalibratedForest(
            self.num_states, dict(self.nodes), around, dict(self.beliefs), self.log_total, self.last_number
        )

    def next_number(self) -> int:
        self.last_number += 1
        return self.last_number

    def find(self, nodes: Iterable[int]) -> int | None:
        """The smallest clique that has all these nodes; None where none has."""
        wanted = set(nodes)
        inside = (clique for clique, scope in self.nodes.items() if wanted.issubset(scope))
        return min(inside, key=lambda clique: (self.cells(clique), clique), default=None)

    def marginal_of(self, nodes: Nodes) -> np.ndarray:
        """The log of the marginal of nodes that share a clique, in increasing order."""
        clique = self.find(nodes)
        if clique is None:
            raise ValueError(f"no clique has the nodes {nodes}")
        return self.marginal(clique, nodes)

    def edges(self) -> list[CliqueEdge]:
        """The edges of each tree of the forest, parents first."""
        seen: set[int] = set()
        found: list[CliqueEdge] = []
        for root in sorted(self.nodes):
            waiting = [] if root in seen else [CliqueEdge(root, None, ())]
            while waiting:
                edge = waiting.pop()
                clique = edge.clique
                seen.add(clique)
                found.append(edge)
                others = sorted(self.neighbours[clique] - {edge.parent})
                waiting += [CliqueEdge(other, clique, self.separator(other, clique)) for other in others]
        return found

    def to_factors(self) -> list[LogFactor]:
        """The distribution as a product: each clique's belief, divided by that of the separator to its parent."""
        return [
            LogFactor(self.nodes[clique], self.beliefs[clique] if parent is None else self.conditional(clique, shared))
            for clique, parent, shared in self.edges()
        ]


def calibrate(factors: Sequence[LogFactor], num_states: np.ndarray) -> CalibratedForest:
    """The clique tree of a product of factors, with the exact marginal of every clique."""
    inside, cliques = plan_cliques([factor.nodes for factor in factors], num_states)
    tree = CalibratedForest(num_states)
    parents = cliques.parents.tolist()
    for clique, parent in enumerate(parents):
        nodes = inside[cliques.nodes[cliques.starts[clique] : cliques.starts[clique + 1]]]
        tree.nodes[clique] = tuple(sorted(nodes.tolist()))
        tree.neighbours[clique] = set()
        tree.beliefs[clique] = np.zeros(num_states[list(tree.nodes[clique])])
        if parent >= 0 and set(tree.nodes[clique]) & set(tree.nodes[parent]):
            tree.neighbours[clique].add(parent)
            tree.neighbours[parent].add(clique)
    steps = {int(node): step for step, node in enumerate(inside[cliques.order])}
    position = dict(zip(inside.tolist(), cliques.node_cliques.tolist(), strict=True))
    for factor in factors:
        clique = position[min(factor.nodes, key=steps.__getitem__)]
        tree.beliefs[clique] += align(factor.logs, factor.nodes, tree.nodes[clique])
    tree.last_number = len(parents) - 1
    pass_messages(tree)
    return tree


def plan_cliques(scopes: Sequence[Nodes], num_states: np.ndarray) -> tuple[np.ndarray, CliqueTree]:
    """The nodes of some scopes, and cliques over their positions, that hold every scope."""
    nodes = np.unique(np.concatenate([np.array(scope, dtype=np.int64) for scope in scopes]))
    inside = np.searchsorted(nodes, np.concatenate([np.array(scope, dtype=np.int64) for scope in scopes]))
    return nodes, best_tree(num_states[nodes], offsets([len(scope) for scope in scopes]), inside, effort=0.0)


def pass_messages(forest: CalibratedForest) -> None:
    """Messages to the roots and back: beliefs become marginals, `log_total` the log of the sum of all."""
    edges = forest.edges()
    sent = collect(edges, forest.nodes, forest.beliefs, sum_by_axes)
    for clique, parent, _ in reversed(edges):
        if parent is None:
            total = float(sent[clique])
            forest.log_total += total
            forest.beliefs[clique] = forest.beliefs[clique] - (total if total > -np.inf else 0.0)
    distribute(edges, forest.nodes, forest.beliefs, sent, sum_by_axes)


def thin(tree: CalibratedForest, needed: Iterable[int], size: float) -> list[float]:
    """Reduce the tree, in place, to cliques of at most `size` cells; the nodes that are `needed` stay.

    Returns the loss of each removal. Their sum bounds the Kullback–Leibler divergence between the distributions before
    and after; without a removal the reduction is exact.
    """
    kept, losses = set(needed), []
    sum_out_all(tree, kept, GROWTH * size)
    while large := [clique for clique, nodes in tree.nodes.items() if tree.cells(clique) > size and len(nodes) > 1]:
        losses.append(remove_weakest(tree, max(large, key=lambda clique: (tree.cells(clique), -clique))))
    sum_out_all(tree, kept, size)
    return losses


# --- exact: nodes are summed out -----------------------------------------------------------------------------------


def sum_out_all(tree: CalibratedForest, kept: set[int], size: float) -> None:
    """Sum out the nodes that are not kept, those of the smallest joint table first, while tables fit."""
    holders: dict[int, set[int]] = {}
    for clique, nodes in tree.nodes.items():
        for node in nodes:
            holders.setdefault(node, set()).add(clique)
    for node in sorted(holders.keys() - kept, key=lambda node: (len(holders[node]), node)):
        cliques = sorted(clique for clique, nodes in tree.nodes.items() if node in nodes)
        union = tuple(sorted({other for clique in cliques for other in tree.nodes[clique]}))
        if len(cliques) == 1 or np.prod(tree.num_states[list(union)] + 0.0) <= size * tree.num_states[node]:
            clique = join(tree, cliques, union) if len(cliques) > 1 else cliques[0]
            drop_node(tree, clique, node)
            absorb_into_neighbour(tree, clique)


def join(tree: CalibratedForest, cliques: list[int], union: Nodes) -> int:
    """One clique in place of connected ones: their product, divided by the separators between them."""
    first = cliques[0]
    table = align(tree.beliefs[first], tree.nodes[first], union)
    done, waiting = {first}, [first]
    while waiting:
        clique = waiting.pop()
        for other in sorted(tree.neighbours[clique] & (set(cliques) - done)):
            shared = tree.separator(clique, other)
            table = table + align(tree.conditional(other, shared), tree.nodes[other], union)
            done.add(other)
            waiting.append(other)
    outside = {other for clique in cliques for other in tree.neighbours[clique]} - set(cliques)
    for clique in cliques:
        remove_clique(tree, clique)
    return add_clique(tree, union, table, outside)


def drop_node(tree: CalibratedForest, clique: int, node: int) -> None:
    nodes = tuple(other for other in tree.nodes[clique] if other != node)
    tree.beliefs[clique] = tree.marginal(clique, nodes)
    tree.nodes[clique] = nodes
    for other in sorted(tree.neighbours[clique]):
        if not tree.separator(clique, other):
            tree.neighbours[clique].discard(other)
            tree.neighbours[other].discard(clique)


def absorb_into_neighbour(tree: CalibratedForest, clique: int) -> None:
    """Remove a clique whose nodes all lie in a neighbour, which takes its other neighbours; or that has no node."""
    inside = set(tree.nodes[clique])
    for other in sorted(tree.neighbours[clique]):
        if inside <= set(tree.nodes[other]):
            around = tree.neighbours[clique] - {other}
            remove_clique(tree, clique)
            for third in around:
                tree.neighbours[third].add(other)
                tree.neighbours[other].add(third)
            return
    if not inside:
        remove_clique(tree, clique)


def remove_clique(tree: CalibratedForest, clique: int) -> None:
    for other in tree.neighbours.pop(clique):
        tree.neighbours.get(other, set()).discard(clique)
    del tree.nodes[clique], tree.beliefs[clique]


def add_clique(tree: CalibratedForest, nodes: Nodes, belief: np.ndarray, neighbours: Iterable[int]) -> int:
    clique = tree.next_number()
    tree.nodes[clique], tree.beliefs[clique], tree.neighbours[clique] = nodes, belief, set(neighbours)
    for other in tree.neighbours[clique]:
        tree.neighbours[other].add(clique)
    return clique


# --- approximate: dependences are removed ----------------------------------------------------------------------------


def remove_weakest(tree: CalibratedForest, clique: int) -> float:
    """Make the removal of the least loss in a clique, and return the loss."""
    separators = {other: tree.separator(clique, other) for other in sorted(tree.neighbours[clique])}
    pairs = pair_losses(tree, clique, separators.values())
    pair = min(pairs, key=lambda pair: (pairs[pair], pair), default=None)
    found = weakest_shared(tree, clique, separators, np.inf if pair is None else pairs[pair])
    if found is not None:
        neighbour, node, loss = found
        leave_node(tree, clique, neighbour, node)
        return loss
    if pair is None:
        raise ValueError(f"the clique {clique} has a single node")
    split(tree, clique, pair, separators)
    return pairs[pair]


def pair_losses(tree: CalibratedForest, clique: int, separators: Iterable[Nodes]) -> dict[tuple[int, int], float]:
    """For each two nodes that no separator has together, their mutual information given the rest of the clique."""
    nodes, belief = tree.nodes[clique], np.exp(tree.beliefs[clique])
    together = {pair for separator in separators for pair in combinations(separator, 2)}
    free = [pair for pair in combinations(nodes, 2) if pair not in together]
    if not free:
        return {}
    without = {
        node: reduce_axes(np.add, belief, [nodes.index(node)]) for node in {node for pair in free for node in pair}
    }
    entropies = {node: entropy(table) for node, table in without.items()}
    whole, losses = entropy(belief), {}
    for one, other in free:
        rest = reduce_axes(np.add, without[one], [nodes.index(other) - 1])
        losses[one, other] = entropies[one] + entropies[other] - whole - entropy(rest)
    return losses


def weakest_shared(
    tree: CalibratedForest, clique: int, separators: Mapping[int, Nodes], limit: float
) -> tuple[int, int, float] | None:
    """(neighbour, node, loss): the node whose leaving to a neighbour's side loses least; None where all lose more.

    The loss is that of the clique and of all others on its side that have the node. No part of it is negative, so those
    whose part in the clique is too large already are passed over.
    """
    best, best_loss = None, limit
    own = [
        (loss, other, node)
        for other, separator in separators.items()
        for node, loss in node_losses(tree, clique, separator, separator).items()
    ]
    for part, other, node in sorted(own):
        side = iter(side_of(tree, clique, other, node)[1:])
        loss = part
        while loss <= best_loss and (beyond := next(side, None)) is not None:
            loss += node_losses(tree, *beyond, [node])[node]
        if loss <= best_loss:
            best, best_loss = (other, node), loss
    return None if best is None else (*best, best_loss)


def side_of(tree: CalibratedForest, clique: int, barrier: int, node: int) -> list[tuple[int, Nodes]]:
    """The cliques with a node on the side of a clique, without a neighbour's side, each with its separator to there."""
    found, waiting = [], [(clique, barrier)]
    while waiting:
        here, before = waiting.pop()
        found.append((here, tree.separator(here, before)))
        around = sorted(tree.neighbours[here] - {before})
        waiting += [(other, here) for other in around if node in tree.nodes[other]]
    return found


def leave_node(tree: CalibratedForest, clique: int, neighbour: int, node: int) -> None:
    """Sum a node out of all cliques on the side of a clique; the side of the neighbour keeps it."""
    side = [here for here, _ in side_of(tree, clique, neighbour, node)]
    for here in side:
        drop_node(tree, here, node)
    for here in side:
        absorb_into_neighbour(tree, here)


def node_losses(tree: CalibratedForest, clique: int, separator: Nodes, left: Sequence[int]) -> dict[int, float]:
    """The mutual information of nodes of a separator with those that only the clique has, given the other nodes."""
    nodes, belief = tree.nodes[clique], np.exp(tree.beliefs[clique])
    shared = reduce_to(belief, nodes, separator, partial(reduce_axes, np.add))
    gap = entropy(shared) - entropy(belief)
    return {
        node: gap
        + entropy(reduce_axes(np.add, belief, [nodes.index(node)]))
        - entropy(reduce_axes(np.add, shared, [separator.index(node)]))
        for node in left
    }


def entropy(table: np.ndarray) -> float:
    return -float(np.vdot(table, np.log(np.maximum(table, TINY))))


def split(tree: CalibratedForest, clique: int, pair: tuple[int, int], separators: dict[int, Nodes]) -> None:
    """Two cliques in place of one, each without one node of the pair."""
    one, other = pair
    halves = [tuple(node for node in tree.nodes[clique] if node != gone) for gone in (other, one)]
    tables = [tree.marginal(clique, half) for half in halves]
    sides = {neighbour: 1 if other in shared else 0 for neighbour, shared in separators.items()}
    remove_clique(tree, clique)
    first = add_clique(tree, halves[0], tables[0], [n for n, side in sides.items() if side == 0])
    is_joined = len(halves[0]) > 1
    around = [n for n, side in sides.items() if side == 1]
    second = add_clique(tree, halves[1], tables[1], [first, *around] if is_joined else around)
    for half in (first, second):
        absorb_into_neighbour(tree, half)
