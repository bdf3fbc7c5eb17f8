"""`CliqueForest`: the junction tree of an undirected graph, as a value that can be printed and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from html import escape
from itertools import islice
from operator import index

from juncture.base.values import Value
from juncture.drawing.diagram import Diagram, Edge, Node
from juncture.errors import InvalidModel
from juncture.graphs.graph import as_nodes
from juncture.graphs.text import SHOWN, quote_name

MAX_DRAWN_CLIQUES = 150  # in a notebook


class CliqueForest(Value):
    """Cliques connected without cycles; the separator of an edge holds the names that both its cliques have.

    In a junction tree the cliques that hold a name are connected: the running intersection. An unconnected graph has
    a tree for each component. Edges are pairs of positions in `cliques`; `separators` has an entry for each.
    """

    cliques: tuple[tuple[str, ...], ...]
    edges: tuple[tuple[int, int], ...]

    def __init__(self, cliques: Iterable[Iterable[str]], edges: Iterable[Sequence[int]] = ()) -> None:
        names = tuple(as_nodes(clique) for clique in cliques)
        pairs = tuple(as_pair(edge) for edge in edges)
        check_forest(len(names), pairs)
        self._set(cliques=names, edges=pairs)

    @cached_property
    def separators(self) -> tuple[tuple[str, ...], ...]:
        """For each edge the names that both its cliques hold, in the order of the first."""
        members = [frozenset(clique) for clique in self.cliques]
        return tuple(tuple(name for name in self.cliques[one] if name in members[other]) for one, other in self.edges)

    @property
    def width(self) -> int:
        """The number of names in the largest clique, less one."""
        return max(map(len, self.cliques), default=0) - 1

    def has_running_intersection(self) -> bool:
        """Whether the cliques that hold a name are connected, for every name.

        Cliques and edges that hold it make a forest, which has as many trees as it has more cliques than edges.
        """
        cliques = Counter(name for clique in self.cliques for name in clique)
        edges = Counter(name for separator in self.separators for name in separator)
        return all(cliques[name] - edges[name] == 1 for name in cliques)

    def to_diagram(self) -> Diagram:
        """What is drawn: a node for each clique, and on each edge a square for its separator."""
        nodes = [Node(f"clique {number}", ", ".join(clique)) for number, clique in enumerate(self.cliques)]
        links = []
        for number, ((one, other), separator) in enumerate(zip(self.edges, self.separators, strict=True)):
            nodes.append(Node(f"separator {number}", ", ".join(separator), kind="factor"))
            links.append(Edge(f"clique {one}", f"separator {number}", directed=False))
            links.append(Edge(f"separator {number}", f"clique {other}", directed=False))
        return Diagram(nodes, links)

    def __str__(self) -> str:
        """A line for each edge, with the separator in the middle, then one for each clique without edges."""
        return "\n".join(lines(self))

    def __repr__(self) -> str:
        shown = list(islice(lines(self), SHOWN + 1))
        text = "; ".join(shown if len(shown) <= SHOWN else [*shown[:SHOWN], "…"])
        return f"<CliqueForest of {len(self.cliques)} cliques, width {self.width}: {text}>"

    def _repr_html_(self) -> str:
        words = f"<p><code>{escape(repr(self))}</code></p>"
        if len(self.cliques) > MAX_DRAWN_CLIQUES:
            return words
        from juncture.drawing.svg import to_svg

        return words + to_svg(self.to_diagram())


def as_pair(edge: Sequence[int]) -> tuple[int, int]:
    try:
        one, other = map(index, edge)
    except (TypeError, ValueError):
        raise InvalidModel(
            f"an edge between cliques is a pair of their positions such as (0, 1); got {edge!r}"
        ) from None
    return one, other


def check_forest(num_cliques: int, edges: Iterable[tuple[int, int]]) -> None:
    """Edges join cliques that are there, and none closes a cycle."""
    tree_of = list(range(num_cliques))
    for edge in edges:
        if not all(0 <= end < num_cliques for end in edge):
            raise InvalidModel(f"the edge {edge} joins a clique that is not there; there are {num_cliques}, from 0 on")
        one, other = (root(tree_of, end) for end in edge)
        if one == other:
            raise InvalidModel(f"the edge {edge} closes a cycle of cliques; a forest has none")
        tree_of[one] = other


def root(tree_of: list[int], clique: int) -> int:
    while tree_of[clique] != clique:
        tree_of[clique] = tree_of[tree_of[clique]]
        clique = tree_of[clique]
    return clique


def lines(forest: CliqueForest) -> Iterator[str]:
    linked = {end for edge in forest.edges for end in edge}
    for (one, other), separator in zip(forest.edges, forest.separators, strict=True):
        yield " -- ".join(map(set_text, (forest.cliques[one], separator, forest.cliques[other])))
    yield from (set_text(clique) for number, clique in enumerate(forest.cliques) if number not in linked)


def set_text(names: Iterable[str]) -> str:
    return f"{{{', '.join(map(quote_name, names))}}}"
