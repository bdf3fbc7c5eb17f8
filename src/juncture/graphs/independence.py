"""Conditional independence: the statement a ⫫ b | given, and the graphs whose missing edges state it.

`Independence` is one statement. `IndependenceGraph` is what directed and undirected graphs share: separation, trails,
separators, all statements, and I-maps. An oracle answers whether a ⫫ b | given. It may be a function of three sets of
names, a graph, or a joint table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from math import comb
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from juncture.base.checks import check_count
from juncture.base.values import Value
from juncture.errors import InvalidModel, TooLarge
from juncture.graphs.graph import Graph, as_nodes
from juncture.graphs.separation import Moves, minimal_separator, minimum_separator, path_to, search
from juncture.graphs.text import quote_name
from juncture.graphs.traversal import Steps

if TYPE_CHECKING:
    from juncture.graphs.trails import Passage, Trail

Names = str | Iterable[str]
Oracle = Callable[..., bool]
MAX_STATEMENTS = 2**20


class Independence(Value):
    """The statement a ⫫ b | given: `a` and `b` are independent given `given`; equal to b ⫫ a | given.

    Parameters
    ----------
    a, b
        The name of a variable, or several names.
    given
        The names of the variables to condition on.

    Examples
    --------
    >>> a, b, given = Independence("rain", ["bus", "train"], ["season"])
    >>> print(Independence(a, b, given))
    rain ⫫ bus, train | season
    """

    a: tuple[str, ...]
    b: tuple[str, ...]
    given: tuple[str, ...]

    def __init__(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> None:
        self._set(a=as_distinct_names(a), b=as_distinct_names(b), given=as_distinct_names(given))
        check_disjoint(set(self.a), set(self.b), set(self.given))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter((self.a, self.b, self.given))

    def _key(self) -> Hashable:
        return frozenset((frozenset(self.a), frozenset(self.b))), frozenset(self.given)

    def __str__(self) -> str:
        a, b, given = (", ".join(map(quote_name, names)) for names in self)
        return f"{a} ⫫ {b}" + (f" | {given}" if given else "")

    def __repr__(self) -> str:
        return f"Independence('{self}')"


def as_distinct_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Distinct names; text is one name, not its letters."""
    return as_nodes([names] if isinstance(names, str) else names)


def check_disjoint(a: set[str], b: set[str], given: set[str]) -> None:
    """No name is in two of the three sets."""
    for one, other, where in ((a, b, "on both sides"), (a | b, given, "on a side and among what is given")):
        if one & other:
            raise InvalidModel(f"{min(one & other)!r} is {where}; the sets of an independence must be disjoint")


class IndependenceGraph(Graph):
    """A graph whose missing edges state conditional independencies."""

    def is_separated(self, a: Names, b: Names, given: Names = ()) -> bool:
        """Whether no active trail leads from a to b: then the graph implies a ⫫ b | given.

        In a directed graph this is d-separation; in an undirected graph every path contains a given node. It takes
        time linear in nodes and edges.
        """
        starts, targets, observed = self._sides(a, b, given)
        return search(starts, self._moves(observed), targets)[1] is None

    def active_trail(self, a: Names, b: Names, given: Names = ()) -> Trail | None:
        """A shortest open trail from a to b, which explains why they are not separated; None if they are."""
        starts, targets, observed = self._sides(a, b, given)
        origins, end = search(starts, self._moves(observed), targets)
        # a shortest path of the ball visits no node twice: it could have gone on at the first visit
        return None if end is None else self._trail([node for node, _ in path_to(end, origins)], observed)

    def trails(self, a: str, b: str, given: Names = ()) -> Iterator[Trail]:
        """Every trail between two nodes, open or blocked, one by one; a large graph has very many."""
        from juncture.graphs.trails import simple_paths

        (start,), (target,), observed = self._sides([a], [b], given)
        return (self._trail(path, observed) for path in simple_paths(start, target, self._adjacent))

    def separated_from(self, names: Names, given: Names = ()) -> set[str]:
        """All nodes that are separated from these ones; neither these nor what is given are among them."""
        starts, _, observed = self._sides(names, (), given)
        reached, _ = search(starts, self._moves(observed))
        return set(self.nodes).difference((node for node, _ in reached), observed)

    def minimal_separator(self, a: Names, b: Names, *, within: Names | None = None) -> set[str] | None:
        """A minimal set of nodes that separates a from b; None where no set does.

        `within` limits the choice to some nodes. There may be smaller sets of others: see `minimum_separator`.
        """
        starts, targets, _ = self._sides(a, b, ())
        neighbors = self._moral_neighbors(starts | targets)
        return minimal_separator(neighbors, starts, targets, self._allowed(neighbors, starts | targets, within))

    def minimum_separator(self, a: Names, b: Names, *, within: Names | None = None) -> set[str] | None:
        """As few nodes as can separate a from b; None where none do. `within` limits the choice."""
        starts, targets, _ = self._sides(a, b, ())
        neighbors = self._moral_neighbors(starts | targets)
        return minimum_separator(neighbors, starts, targets, self._allowed(neighbors, starts | targets, within))

    def local_independencies(self) -> tuple[Independence, ...]:
        """The local Markov property: an independence for each node."""
        raise NotImplementedError

    def pairwise_independencies(self) -> tuple[Independence, ...]:
        """The pairwise Markov property: an independence for every two nodes that are not adjacent."""
        raise NotImplementedError

    def independencies(self, max_given: int | None = None) -> tuple[Independence, ...]:
        """Every a ⫫ b | given that the graph states about two single nodes, few given nodes first.

        Sets are separated exactly when all pairs between them are, so that these are all independencies. Their
        number doubles with each node; `max_given` limits how many nodes are given.
        """
        return tuple(self._pair_independencies(max_given))

    def _pair_independencies(self, max_given: int | None) -> Iterator[Independence]:
        for size in given_sizes(len(self.nodes), max_given):
            for given in combinations(self.nodes, size):
                others = [node for node in self.nodes if node not in given]
                separated = {node: self.separated_from(node, given) for node in others}
                yield from (Independence(a, b, given) for a, b in combinations(others, 2) if b in separated[a])

    # --- beside an oracle: a graph, a joint table, or a function of a, b and given -----------------------------------

    def is_map(self, oracle: Any) -> bool:
        """Whether every independency of the graph holds: the graph is an I-map."""
        return all_hold(self._basis(), as_oracle(oracle))

    def is_minimal_map(self, oracle: Any) -> bool:
        """Whether the graph is an I-map, and is none without one of its edges."""
        fewer = (type(self)((e for e in self.edges if e != edge), self.nodes) for edge in self.edges)
        return self.is_map(oracle) and not any(graph.is_map(oracle) for graph in fewer)

    def is_perfect_map(self, oracle: Any) -> bool:
        """Whether exactly the independencies of the graph hold."""
        return self.is_map(oracle) and pairs_match(self, as_oracle(oracle))

    # --- what a kind of graph implements -----------------------------------------------------------------------------

    def _moves(self, given: set[str]) -> Moves:
        """The moves of a Bayes ball."""
        raise NotImplementedError

    def _adjacent(self, node: str) -> tuple[str, ...]:
        """All nodes that an edge joins to this one."""
        raise NotImplementedError

    def _arrow_between(self, one: str, other: str) -> str:
        raise NotImplementedError

    def _judge_passage(self, before: str, node: str, after: str, given: set[str]) -> Passage:
        """Whether and why a node on a trail is open."""
        raise NotImplementedError

    def _moral_neighbors(self, names: set[str]) -> Steps:
        """The undirected graph in which separators of these nodes are sought."""
        raise NotImplementedError

    def _basis(self) -> tuple[Independence, ...]:
        """Statements from which all others follow, in any distribution."""
        raise NotImplementedError

    def _trail(self, nodes: list[str], given: set[str]) -> Trail:
        from juncture.graphs.trails import Trail, passages

        arrows = [self._arrow_between(one, other) for one, other in pairwise(nodes)]
        return Trail(
            nodes, arrows, passages(nodes, lambda before, node, after: self._judge_passage(before, node, after, given))
        )

    def _sides(self, a: Names, b: Names, given: Names) -> tuple[set[str], set[str], set[str]]:
        """Three sets of nodes that share none."""
        sides = self._check_names(a), self._check_names(b), self._check_names(given)
        check_disjoint(*sides)
        return sides

    def _allowed(self, neighbors: Steps, ends: set[str], within: Names | None) -> set[str]:
        return (set(neighbors) if within is None else self._check_names(within) & set(neighbors)) - ends


def pair_statements(names: Sequence[str], max_given: int | None = None) -> Iterator[Independence]:
    """Every a ⫫ b | given for two single names, with few given names first; refused where there are too many."""
    for size in given_sizes(len(names), max_given):
        for given in combinations(names, size):
            others = [name for name in names if name not in given]
            yield from (Independence(a, b, given) for a, b in combinations(others, 2))


def given_sizes(num_names: int, max_given: int | None) -> range:
    """How many names may be given, if there are not too many ways to choose them."""
    last = max(num_names - 2, 0)
    if max_given is not None:
        last = min(check_count(max_given, "max_given"), last)
    number = sum(comb(num_names, size) * comb(num_names - size, 2) for size in range(last + 1))
    if number > MAX_STATEMENTS:
        raise TooLarge(
            f"there are {number:,} statements about two of {num_names} names given others; "
            f"the limit is {MAX_STATEMENTS:,}: set max_given, the number of names that may be given"
        )
    return range(last + 1)


@runtime_checkable
class HasSeparation(Protocol):
    def is_separated(self, a: Any, b: Any, given: Any = (), /) -> bool: ...


@runtime_checkable
class HasIndependence(Protocol):
    def is_independent(self, a: Any, b: Any, given: Any = (), /) -> bool: ...


def as_oracle(source: Any) -> Oracle:
    """The function that answers: the source itself, its `is_separated` or its `is_independent`."""
    if isinstance(source, HasSeparation):
        return source.is_separated
    if isinstance(source, HasIndependence):
        return source.is_independent
    if callable(source) and not isinstance(source, type):
        oracle: Oracle = source
        return oracle
    raise InvalidModel(
        f"independencies are asked of a graph, of a joint table or of a function of a, b and given; got {source!r}"
    )


def all_hold(statements: Iterable[Independence], oracle: Oracle) -> bool:
    return all(oracle(set(a), set(b), set(given)) for a, b, given in statements)


def pairs_match(graph: Any, oracle: Oracle) -> bool:
    """Whether graph and oracle agree on every pair of names, given any others."""
    return all(
        graph.is_separated(a, b, given) == oracle(set(a), set(b), set(given))
        for a, b, given in pair_statements(graph.nodes)
    )


def minimal_parents(node: str, before: Sequence[str], oracle: Oracle) -> tuple[str, ...]:
    """As few of the names before a node as make it independent of the rest of them.

    A set that does so still does with more names in it, so that names can be spared one by one, the earliest first.
    """
    kept = dict.fromkeys(before)
    for name in before:
        fewer = set(kept) - {name}
        if oracle({node}, set(before) - fewer, fewer):
            del kept[name]
    return tuple(kept)
