"""`page_rank`: the importance of pages by the links between them.

A surfer follows a link of the current page with probability `damping`, in proportion to the weights of the links, and
otherwise goes to a random page. The rank of a page is the share of time that the surfer spends there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sized
from dataclasses import dataclass
from functools import singledispatch
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np

from juncture.base.checks import check_choice, check_flag, check_kind, check_number
from juncture.base.options import resolve
from juncture.base.values import Value, read_only
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidData, NotConvergedWarning, TooLarge, UnknownVariable, Unsupported, hint, warn_user
from juncture.graphs.directed import DirectedGraph
from juncture.numerics.iteration import Trace, check_stopping_rule, iterate

MANY_PAGES = 2_000  # from here on "auto" iterates
SHOWN = 10


class PageRank(Value):
    """The PageRank of each page, from `page_rank`; `ranks[page]` is one rank.

    Attributes
    ----------
    pages
        The pages.
    values
        The ranks, in the order of the pages; they sum to 1.
    trace
        The course of the computation: at each step minus a bound on the error.

    Examples
    --------
    >>> ranks = page_rank([(1, 2), (1, 3), (2, 3), (3, 1)])
    >>> ranks
    PageRank(3 pages: 3 0.3974, 1 0.3878, 2 0.2148)
    >>> round(ranks[2], 6)
    0.214811
    """

    pages: tuple[Hashable, ...]
    values: np.ndarray  # (page,)
    trace: Trace
    __iter__ = None  # or Python would try ranks[0], ranks[1], … as pages

    def __init__(self, pages: tuple[Hashable, ...], values: Any, trace: Trace) -> None:
        self._set(pages=pages, values=read_only(values, np.float64), trace=trace)

    def __getitem__(self, page: Hashable) -> float:
        if not isinstance(page, Hashable) or page not in self.pages:
            raise UnknownVariable(f"there is no page {page!r}; {hint(page, self.pages)}")
        return float(self.values[self.pages.index(page)])

    def ranking(self) -> list[Hashable]:
        """The pages, the highest rank first; ties keep the order of the pages."""
        return [self.pages[position] for position in np.argsort(-self.values, kind="stable")]

    def to_dict(self) -> dict[Hashable, float]:
        return dict(zip(self.pages, self.values.tolist(), strict=True))

    def __repr__(self) -> str:
        best = ", ".join(f"{page!r} {self[page]:.4g}" for page in self.ranking()[:3])
        return f"PageRank({len(self.pages):,} pages: {best}{', …' if len(self.pages) > 3 else ''})"

    def _repr_html_(self) -> str:
        rows = [(page, f"{self[page]:.4g}") for page in self.ranking()[:SHOWN]]
        note = f"… of {len(self.pages):,} pages" if len(self.pages) > SHOWN else ""
        return html_table(["page", "rank"], rows, note, num_labels=1)


def page_rank(
    links: Any,
    damping: float = 0.85,
    *,
    normalized: bool = True,
    method: Literal["auto", "exact", "power"] = "auto",
    dangling: Literal["random", "none"] = "random",
    tolerance: float = 1e-12,
    max_steps: int = 10_000,
) -> PageRank:
    """The ranks p_i = (1 - d)/N + d Σ_j w_ji/C_j p_j, where page j has links of the weights w_ji, together C_j.

    Parameters
    ----------
    links
        A list of pairs (from, to), a mapping from each page to the pages it links to, a `DirectedGraph`, or a square
        NumPy or sparse array whose entry [i, j] is the weight of the link from i to j. Links of a page to itself are
        ignored.
    damping
        The probability d of following a link.
    normalized
        Whether ranks sum to 1; else they sum to the number of pages, as in p_i = (1 - d) + d Σ ….
    method
        "exact" solves the equations; "power" iterates until the total error of the ranks is at most `tolerance`;
        "auto" solves the equations up to 2,000 pages.
    dangling
        A page without links leads to a "random" page, or with "none" passes nothing on, as the equation says.
    tolerance, max_steps
        When the power method stops.

    Returns
    -------
    PageRank

    Examples
    --------
    >>> import juncture as jt
    >>> jt.page_rank({"home": ["news"], "news": ["home"], "blog": ["home"]})
    PageRank(3 pages: 'home' 0.4865, 'news' 0.4635, 'blog' 0.05)
    """
    check_number(damping, "the damping of page_rank", least=0, below=1)
    check_choice(dangling, ("random", "none"), "dangling")
    check_flag(normalized, "normalized")
    check_stopping_rule(tolerance, max_steps)
    pages, weights = as_links(links)
    surfer = Surfer.of(weights, float(damping))
    ways = {"exact": lambda: surfer.solve, "power": lambda: surfer.iterate_ranks}
    ways["auto"] = ways["exact" if len(pages) <= MANY_PAGES else "power"]
    check_kind(method, str, "the method of page_rank", error=Unsupported)
    values, trace = resolve(method, ways, what="method")(tolerance, max_steps)
    if not trace.converged:
        warn_user(f"page_rank {trace.reason}; raise max_steps or tolerance", NotConvergedWarning)
    if not normalized:
        values = values * (len(pages) * (surfer.kept(values) if dangling == "none" else 1.0))
    return PageRank(pages, values, trace)


MOST_PAGES_EXACTLY = 10_000


class Shares(NamedTuple):
    """The reader's shares of time, and a bound on Σ |shares - those in the long run|."""

    values: np.ndarray
    bound: float


@dataclass(frozen=True, eq=False)
class Surfer:
    """`follows` is damping × the probability of each link, sparse, as (to, from)."""

    follows: Any
    is_dangling: np.ndarray  # (page,): without links
    damping: float

    @classmethod
    def of(cls, weights: Any, damping: float) -> Surfer:
        from scipy.sparse import diags_array

        totals = np.asarray(weights.sum(axis=1)).ravel()
        shares = np.divide(damping, totals, out=np.zeros_like(totals), where=totals > 0)
        return cls((diags_array(shares) @ weights).T.tocsr(), totals == 0, damping)

    def solve(self, tolerance: float = 0.0, max_steps: int = 1) -> tuple[np.ndarray, Trace]:
        """(I - dSᵀ) p = 1, with the sum 1: what pages without links send anywhere only changes a common factor."""
        size = len(self.is_dangling)
        if size > MOST_PAGES_EXACTLY:
            raise TooLarge(
                f'the exact ranks of {size:,} pages need a matrix of {8 * size**2:,} bytes; method="power" needs none'
            )
        matrix = -self.follows.toarray()
        np.fill_diagonal(matrix, 1.0)  # pages have no links to themselves
        values = np.linalg.solve(matrix, np.ones(size))
        return values / values.sum(), Trace((0.0,), True, "solved")

    def iterate_ranks(self, tolerance: float, max_steps: int) -> tuple[np.ndarray, Trace]:
        """Steps until the bound on the error is below the tolerance.

        A step brings any two distributions nearer by the factor d, so the error is at most d/(1 - d) times the last
        change; and the bound falls by at least 1 - d of itself.
        """
        found, trace = iterate(self, tolerance=tolerance * (1.0 - self.damping), max_steps=max_steps)
        return found.values, trace

    def init(self) -> Shares:
        size = len(self.is_dangling)
        return Shares(np.full(size, 1.0 / size), 2.0 / (1.0 - self.damping))

    def step(self, shares: Shares) -> Shares:
        moved = self.follows @ shares.values
        moved += (1.0 - moved.sum()) / len(moved)  # all who follow no link go anywhere
        change = np.abs(moved - shares.values).sum()
        return Shares(moved, float(change * self.damping / (1.0 - self.damping)))

    def objective(self, shares: Shares) -> float:
        return -shares.bound

    def kept(self, values: np.ndarray) -> float:
        """What is left of the ranks if pages without links pass nothing on."""
        lost = self.damping * float(values[self.is_dangling].sum())
        return (1.0 - self.damping) / (1.0 - self.damping + lost)


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
        if isinstance(pair, str) or not isinstance(pair, Sized) or len(pair) != 2:
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
