"""Links between pages, from a mapping, edges, a graph or a matrix, as weights (from, to) in a sparse array."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import singledispatch
from itertools import chain
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.graphs.directed import DirectedGraph

Pages = tuple[Hashable, ...]


def as_links(given: Any) -> tuple[Pages, Any]:
    """The pages, and the weights of the links from each to each, without those of a page to itself."""
    from scipy.sparse import issparse

    pages, weights = from_matrix(given) if issparse(given) else read_links(given)
    if not pages:
        raise InvalidData("there are no pages to rank: give links such as [(1, 2), (2, 1)]")
    weights = weights.tocoo()
    other = (weights.row != weights.col) & (weights.data != 0)
    return pages, sparse(weights.data[other], weights.row[other], weights.col[other], len(pages))


@singledispatch
def read_links(given: Any) -> tuple[Pages, Any]:
    """Pairs (from, to) of pages, in the order in which pages come up; a pair that comes twice counts once."""
    if hasattr(given, "edges"):
        raise InvalidData(f"the links of a {type(given).__name__} are given as list(graph.edges)")
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidData(
            "links are a list of pairs (from, to), a mapping from a page to those it links to, a DirectedGraph or a"
            f" square array; got {given!r}"
        )
    pairs = list(given)
    check_pairs(pairs)
    return from_pairs(pairs)


@read_links.register
def _(given: Mapping) -> tuple[Pages, Any]:  # type: ignore[type-arg]
    """From each page to the pages that it links to."""
    for page, others in given.items():
        if isinstance(others, str | Mapping) or not isinstance(others, Iterable):
            raise InvalidData(f"page {page!r} is to have a list of the pages that it links to; got {others!r}")
    return from_pairs([(page, other) for page, others in given.items() for other in others], given)


@read_links.register
def _(given: DirectedGraph) -> tuple[Pages, Any]:
    return from_pairs(given.edges, given.nodes)


@read_links.register(np.ndarray)
def from_matrix(given: Any) -> tuple[Pages, Any]:
    """A square array of weights, of which entry [i, j] is that of the link from page i to page j."""
    from scipy.sparse import coo_array

    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InvalidData(
            f"an array of links is square, with a row and a column for each page; it has the shape {given.shape}:"
            " pairs are given as a list"
        )
    if given.dtype.kind not in "biuf":
        raise InvalidData(f"the weights of links are numbers; got values of type {given.dtype}")
    weights = coo_array(given)
    if not (np.isfinite(weights.data) & (weights.data >= 0)).all():
        raise InvalidData("the weights of links are finite and at least 0")
    return tuple(range(given.shape[0])), weights.astype(np.float64)


def check_pairs(pairs: list[Any]) -> None:
    """Raise where a link is no pair, or where two pairs could as well be an array of two pages."""
    for pair in pairs:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            is_row = isinstance(pair, list) and len(pair) == len(pairs)
            remedy = ": for a square array write np.array(…)" if is_row else ""
            raise InvalidData(f"a link is a pair (from, to) of pages; got {pair!r}{remedy}")
    if len(pairs) == 2 and all(isinstance(pair, list) and all(map(is_number, pair)) for pair in pairs):
        raise InvalidData(
            f"{pairs} may be two links or a square array: for links write {list(map(tuple, pairs))}, for an array"
            f" np.array({pairs})"
        )


def is_number(page: Any) -> bool:
    return isinstance(page, int | float | np.number)


def from_pairs(pairs: Iterable[Any], first: Iterable[Hashable] = ()) -> tuple[Pages, Any]:
    """The pages, those of `first` before all others, and their links."""
    try:
        positions = {
            page: position for position, page in enumerate(dict.fromkeys(chain(first, chain.from_iterable(pairs))))
        }
    except TypeError as error:
        raise InvalidData(f"a page is named by text, a number or another hashable value: {error}") from error
    ends = np.array([(positions[tail], positions[head]) for tail, head in pairs], dtype=np.int64).reshape(-1, 2)
    links = np.unique(ends[:, 0] * len(positions) + ends[:, 1])
    return tuple(positions), sparse(np.ones(len(links)), *divmod(links, max(len(positions), 1)), len(positions))


def sparse(weights: np.ndarray, tails: np.ndarray, heads: np.ndarray, size: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((weights, (tails, heads)), shape=(size, size))
