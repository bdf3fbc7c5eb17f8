"""`page_rank`: the importance of pages by the links between them.

A surfer follows a link of the current page with probability `damping`, in proportion to the weights of the links, and
otherwise goes to a random page. The rank of a page is the share of time that the surfer spends there.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from juncture.checks import check_choice, check_flag, check_kind, check_number
from juncture.drawing.html import html_table
from juncture.errors import NotConvergedWarning, UnknownVariable, Unsupported, hint, warn_user
from juncture.iteration import Trace, check_stopping_rule
from juncture.options import resolve
from juncture.sequences.markov_chains.links import as_links
from juncture.sequences.markov_chains.surfer import Surfer
from juncture.values import Value, read_only

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

    _fields = ("pages", "values", "trace")
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
