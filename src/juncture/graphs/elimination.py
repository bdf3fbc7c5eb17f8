"""Elimination: a node goes, and those it was joined to are joined with each other.

Good orders come from greedy heuristics, which are compiled code. Nodes are positions here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Any

import numpy as np

from juncture.errors import InvalidData, InvalidModel, TooLarge, Unsupported, hint
from juncture.graphs.cliques import Neighbors

HEURISTICS = ("min-fill", "weighted-min-fill", "min-weight", "min-neighbours")
DENSE_NODES = 2_000  # beyond, the trees that hang on the graph go first, so that less is left to search
MAX_CORE = 40_000


def eliminate(neighbors: Neighbors, order: Sequence[int]) -> tuple[list[set[int]], list[tuple[int, int]]]:
    """For each node of the order the neighbours that it has when it goes; and the edges that are added, in order."""
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


def best_order(neighbors: Neighbors, log_sizes: np.ndarray, heuristic: str, *, rng: Any, tries: int) -> list[int]:
    """Of several heuristic orders, which differ in how ties are broken, that with the smallest tables in total."""
    check_choice(heuristic, tries)
    if not neighbors:
        return []
    orders = [
        heuristic_order(neighbors, log_sizes, heuristic, noise)
        for noise in islice(tie_breakers(len(neighbors), rng), tries)
    ]
    return min(orders, key=lambda order: log_total_size(neighbors, order, log_sizes)) if tries > 1 else orders[0]


def check_choice(heuristic: str, tries: int) -> None:
    if heuristic not in HEURISTICS:
        raise Unsupported(f"there is no heuristic {heuristic!r} for elimination orders; {hint(heuristic, HEURISTICS)}")
    if not hasattr(tries, "__index__") or tries < 1:
        raise InvalidModel(f"tries must be a whole number of at least 1; got {tries!r}")


def tie_breakers(num_nodes: int, rng: Any) -> Iterator[np.ndarray]:
    """Numbers for the nodes, of which the smaller one wins a tie: random, or without an `rng` first their positions."""
    try:
        stream = np.random.default_rng(0 if rng is None else rng)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"rng is a seed or a numpy.random.Generator; got {rng!r}") from error
    if rng is None:
        yield np.arange(num_nodes, dtype=np.float64)
    yield from (stream.random(num_nodes) for _ in count())


def log_total_size(neighbors: Neighbors, order: Sequence[int], log_sizes: np.ndarray) -> float:
    """log Σ of the sizes of the tables that elimination makes."""
    separators, _ = eliminate(neighbors, order)
    logs = [log_sizes[[node, *around]].sum() for node, around in zip(order, separators, strict=True)]
    return float(np.logaddexp.reduce(logs))


def heuristic_order(neighbors: Neighbors, log_sizes: np.ndarray, heuristic: str, noise: np.ndarray) -> list[int]:
    """Each time the node that the heuristic likes best; nodes whose neighbours form a clique (simplicial) come first."""
    from juncture.kernels import ordering

    codes = (ordering.MIN_FILL, ordering.WEIGHTED_FILL, ordering.MIN_WEIGHT, ordering.MIN_NEIGHBOURS)
    leaves = peeled(neighbors) if len(neighbors) > DENSE_NODES else []
    core = np.setdiff1d(np.arange(len(neighbors)), leaves)
    if len(core) > MAX_CORE:
        raise TooLarge(
            f"the graph has {len(core):,} nodes that no tree hanging on it takes away; "
            f"heuristics order up to {MAX_CORE:,} of these"
        )
    never_late = np.zeros(len(core), dtype=np.bool_)
    code = codes[HEURISTICS.index(heuristic)]
    order, _ = ordering.eliminate(bitsets(neighbors, core), log_sizes[core], code, noise[core], never_late)
    return [*leaves, *core[order].tolist()]


def peeled(neighbors: Neighbors) -> list[int]:
    """The nodes of at most one neighbour, and those that become so once these have gone, in that order."""
    from juncture.kernels.ordering import peel

    starts = np.cumsum([0, *map(len, neighbors)], dtype=np.int64)
    order, _ = peel(starts, np.array([other for others in neighbors for other in sorted(others)], dtype=np.int64))
    leaves: list[int] = order.tolist()
    return leaves


def bitsets(neighbors: Neighbors, core: np.ndarray) -> np.ndarray:
    """The graph among these nodes as the compiled code takes it."""
    from juncture.kernels.ordering import moral_graph

    number = {node: place for place, node in enumerate(core.tolist())}
    pairs = [
        (place, number[other]) for node, place in number.items() for other in neighbors[node] if other in number
    ]
    starts = np.arange(0, 2 * len(pairs) + 1, 2, dtype=np.int64)
    graph: np.ndarray = moral_graph(len(core), starts, np.array(pairs, dtype=np.int64).reshape(-1))
    return graph
