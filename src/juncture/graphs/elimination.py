"""Node elimination: fill-in edges, widths, and good orders by compiled greedy heuristics. Nodes are positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from math import log

import numpy as np

from juncture.base.checks import check_count, check_mapping, is_count, shown
from juncture.errors import InvalidModel, TooLarge, UnknownVariable, Unsupported, hint
from juncture.graphs.cliques import Neighbors

HEURISTICS = ("min-fill", "weighted-min-fill", "min-weight", "min-neighbours")
DENSE_NODES = 2_000  # beyond, the trees that hang on the graph go first, so that less is left to search
MAX_CORE = 40_000


def eliminate(neighbors: Neighbors, order: Sequence[int]) -> tuple[list[set[int]], list[tuple[int, int]]]:
    """For each node of the order its neighbours when it is eliminated; and the fill-in edges, in order."""
    graph = [set(others) for others in neighbors]
    separators: list[set[int]] = []
    added: list[tuple[int, int]] = []
    for node in order:
        around = graph[node]
        for other in sorted(around):
            missing = around - graph[other]
            added += [(other, new) for new in sorted(missing) if other < new]
            graph[other] |= missing
            graph[other] -= {node, other}
        separators.append(around)
    return separators, added


def induced_width(neighbors: Neighbors, order: Sequence[int]) -> int:
    """The largest number of neighbours that a node has when it is eliminated; -1 for no nodes."""
    separators, _ = eliminate(neighbors, order)
    return max(map(len, separators), default=-1)


def log_total_size(neighbors: Neighbors, order: Sequence[int], log_sizes: np.ndarray) -> float:
    """The logarithm of the number of entries of all tables that elimination makes."""
    separators, _ = eliminate(neighbors, order)
    logs = [log_sizes[[node, *around]].sum() for node, around in zip(order, separators, strict=True)]
    return float(np.logaddexp.reduce(logs))


def best_order(
    neighbors: Neighbors, log_sizes: np.ndarray, heuristic: str, rng: np.random.Generator | None, tries: int
) -> list[int]:
    """Of several heuristic orders, which differ in how ties are broken, that with the smallest tables in total."""
    noises = islice(tie_breakers(len(neighbors), rng), tries)
    orders = [heuristic_order(neighbors, log_sizes, heuristic, noise) for noise in noises]
    return min(orders, key=lambda order: log_total_size(neighbors, order, log_sizes))


def tie_breakers(num_nodes: int, rng: np.random.Generator | None) -> Iterator[np.ndarray]:
    """Numbers for the nodes, of which the smaller one wins a tie: random, but without an `rng` first the positions."""
    if rng is None:
        yield np.arange(num_nodes, dtype=np.float64)
    stream = rng or np.random.default_rng(0)
    yield from (stream.random(num_nodes) for _ in count())


def heuristic_order(neighbors: Neighbors, log_sizes: np.ndarray, heuristic: str, noise: np.ndarray) -> list[int]:
    """Each time the node that the heuristic likes best; simplicial nodes (which add no edge) come first."""
    from juncture.kernels.elimination_orders import greedy_orders

    codes = (
        greedy_orders.MIN_FILL,
        greedy_orders.WEIGHTED_FILL,
        greedy_orders.MIN_WEIGHT,
        greedy_orders.MIN_NEIGHBOURS,
    )
    leaves = peel_leaves(neighbors) if len(neighbors) > DENSE_NODES else []
    core = np.setdiff1d(np.arange(len(neighbors)), leaves)
    if len(core) > MAX_CORE:
        raise TooLarge(
            f"the graph without the trees that hang on it has {len(core):,} nodes; "
            f"heuristics find orders for up to {MAX_CORE:,}"
        )
    code = codes[HEURISTICS.index(heuristic)]
    never_late = np.zeros(len(core), dtype=np.bool_)
    graph = to_bitsets(neighbors, core)
    order, _, _ = greedy_orders.eliminate(graph, log_sizes[core], code, noise[core], 0.0, never_late, np.inf, np.inf)
    return [*leaves, *core[order].tolist()]


def peel_leaves(neighbors: Neighbors) -> list[int]:
    """The nodes of at most one neighbour, and those that become so once these have gone, in that order."""
    from juncture.kernels.elimination_orders.greedy_orders import peel

    starts = np.cumsum([0, *map(len, neighbors)], dtype=np.int64)
    order, _ = peel(starts, np.array([other for others in neighbors for other in sorted(others)], dtype=np.int64))
    leaves: list[int] = order.tolist()
    return leaves


def to_bitsets(neighbors: Neighbors, core: np.ndarray) -> np.ndarray:
    """The graph among these nodes as the compiled code takes it."""
    from juncture.kernels.elimination_orders.greedy_orders import moral_graph

    number = {node: index for index, node in enumerate(core.tolist())}
    pairs = [(index, number[other]) for node, index in number.items() for other in neighbors[node] if other in number]
    starts = np.arange(0, 2 * len(pairs) + 1, 2, dtype=np.int64)
    graph: np.ndarray = moral_graph(len(core), starts, np.array(pairs, dtype=np.int64).reshape(-1))
    return graph


# --- checks of arguments --------------------------------------------------------------------------------------------


def check_search(heuristic: str, tries: int) -> None:
    if not isinstance(heuristic, str) or heuristic not in HEURISTICS:
        raise Unsupported(f"there is no elimination heuristic {heuristic!r}; {hint(heuristic, HEURISTICS)}")
    check_count(tries, "tries", least=1, error=InvalidModel)


def log_weights(nodes: Sequence[str], weights: Mapping[str, int]) -> np.ndarray:
    """For each node the logarithm of its number of states, 2 where none is given."""
    known = set(nodes)
    for name, weight in check_mapping(weights, "weights").items():
        if name not in known:
            raise UnknownVariable.among(name, nodes, where="the graph")
        if not is_count(weight, 1):
            raise InvalidModel(f"a weight is a whole number of states, at least 1; node {name!r} has {shown(weight)}")
    return np.array([log(weights.get(node, 2)) for node in nodes], dtype=np.float64)
