"""`MarkovNetwork` and `FactorGraph`: a distribution proportional to a product of factors.

Both hold a list of factors; they differ in the graph they show. A Markov network joins all variables
that share a factor; a factor graph keeps one node per factor, so that two factors on one scope stay two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any, Self

import numpy as np

from juncture.drawing.diagram import Diagram, Edge, Group, Node
from juncture.errors import InvalidModel
from juncture.factors.conditional import Columns
from juncture.factors.factor import Factor, product_of
from juncture.graphs.undirected import UndirectedGraph
from juncture.models.picture import model_html
from juncture.models.plates import Plates, flatten
from juncture.models.rows import complete_row
from juncture.values import Value
from juncture.variables import Scope, State, Variable, distinct_variables


class FactorProduct(Value):
    """p(x) = Π factors / Z. `variables` may name some that no factor touches, and fixes the order."""

    _fields = ("factors", "variables", "plates")
    factors: tuple[Factor, ...]
    variables: Scope
    plates: Plates

    def __init__(self, factors: Iterable[Any], variables: Iterable[Variable] = (), *, plates: Plates = ()) -> None:
        parts, built = flatten([factors])
        for part in parts:
            if not isinstance(part, Factor):
                raise InvalidModel(f"a {type(self).__name__} is made of factors; got {part!r}")
        scope = Scope(distinct_variables([variables, *(part.scope for part in parts)]))
        for variable in scope:
            variable.num_states  # noqa: B018  a real-valued variable is refused here, by name
        self._set(factors=tuple(parts), variables=scope, plates=(*plates, *built))

    def variable(self, name: str) -> Variable:
        return self.variables.variable(name)

    def log_joint(self, assignment: Mapping[str, State]) -> float:
        """Log of the product of all factors at an assignment of every variable; log Z is not subtracted."""
        return float(self.log_joint_of(complete_row(assignment, self.variables))[0])

    def log_joint_of(self, columns: Columns) -> np.ndarray:
        """`log_joint` of each row of complete, coded columns."""
        parts = [part.log_values[tuple(columns[name] for name in part.scope.names)] for part in self.factors]
        return np.asarray(sum(parts, np.zeros(num_rows(columns))))

    def merge(self, *places: int) -> Self:
        """The model with the factors at these places multiplied into one; without places, all that share a scope.

        The joint is unchanged; a cycle among the merged factors disappears from the factor graph.
        """
        groups: dict[Hashable, list[int]] = {}
        for place, part in enumerate(self.factors):
            key = frozenset(part.scope.names) if not places else ("merged" if place in places else place)
            groups.setdefault(key, []).append(place)
        merged = [product_of(self.factors[place] for place in group) for group in groups.values()]
        return type(self)(merged, self.variables)

    def to_diagram(self) -> Diagram:
        """What to draw."""
        raise NotImplementedError

    def _key(self) -> Hashable:
        plates = frozenset((label, frozenset(self.factors[p] for p in places)) for label, places in self.plates)
        return (frozenset(Counter(self.factors).items()), frozenset(self.variables), plates)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.variables)} variables, {len(self.factors)} factors)"

    def _repr_html_(self) -> str:
        return model_html(self)


class MarkovNetwork(FactorProduct):
    """An undirected model: variables that share a factor are neighbours.

    >>> a, b = Variable("a", 2), Variable("b", 2)
    >>> MarkovNetwork([Factor([a, b], [[30, 5], [1, 10]])]).graph.edges
    (('a', 'b'),)
    """

    @cached_property
    def graph(self) -> UndirectedGraph:
        pairs = (pair for part in self.factors for pair in combinations(part.scope.names, 2))
        edges = {frozenset(pair): pair for pair in pairs}
        return UndirectedGraph(edges.values(), nodes=self.variables.names)

    def to_diagram(self) -> Diagram:
        nodes = tuple(Node(name) for name in self.variables.names)
        edges = tuple(Edge(*edge, directed=False) for edge in self.graph.edges)
        groups = (
            (label, [name for p in places for name in self.factors[p].scope.names]) for label, places in self.plates
        )
        return Diagram(nodes, edges, tuple(Group(label, tuple(members)) for label, members in groups if members))

    @classmethod
    def from_energies(cls, energies: Iterable[tuple[Sequence[Variable], Any]]) -> MarkovNetwork:
        """ψ = exp(-E) for each (scope, energy table); an infinite energy forbids a combination."""
        return cls([Factor(scope, boltzmann(energy)) for scope, energy in energies])

    @classmethod
    def from_features(
        cls, features: Iterable[tuple[Sequence[Variable], Callable[..., float] | Any, float]]
    ) -> MarkovNetwork:
        """The log-linear model exp Σ parameter · feature, from (scope, feature, parameter) triples.

        A feature is a function of the scope's states, or a table of its values.
        """
        return cls([log_linear_factor(Scope(scope), feature, weight) for scope, feature, weight in features])

    def absorb(self) -> MarkovNetwork:
        """One factor per maximal clique, each old factor multiplied into exactly one of them; p and Z unchanged."""
        cliques = [set(clique) for clique in self.graph.maximal_cliques()]
        groups: list[list[Factor]] = [[] for _ in cliques]
        for part in self.factors:
            names = set(part.scope.names)
            groups[next((i for i, clique in enumerate(cliques) if names <= clique), 0)].append(part)
        scopes = [[v for v in self.variables if v.name in clique] for clique in cliques]
        merged = [product_of([ones(scope), *group]) for scope, group in zip(scopes, groups, strict=True)]
        return MarkovNetwork(merged, self.variables)

    def to_factor_graph(self) -> FactorGraph:
        return FactorGraph(self.factors, self.variables, plates=self.plates)


class FactorGraph(FactorProduct):
    """A bipartite graph of variables and factors; factor nodes are named f0, f1 and so on.

    >>> a, b = Variable("a", 2), Variable("b", 2)
    >>> FactorGraph([Factor([a], [1, 2]), Factor([a, b], [[1, 0], [0, 1]])]).graph.edges
    (('f0', 'a'), ('f1', 'a'), ('f1', 'b'))
    """

    @cached_property
    def factor_names(self) -> tuple[str, ...]:
        taken = set(self.variables.names)
        prefix = next(
            mark for n in range(len(taken) + 1) if not any(x.startswith(mark := "f" * (n + 1)) for x in taken)
        )
        return tuple(f"{prefix}{place}" for place in range(len(self.factors)))

    @cached_property
    def graph(self) -> UndirectedGraph:
        pairs = zip(self.factor_names, self.factors, strict=True)
        edges = [(node, name) for node, part in pairs for name in part.scope.names]
        return UndirectedGraph(edges, nodes=(*self.variables.names, *self.factor_names))

    def to_diagram(self) -> Diagram:
        nodes = [Node(name) for name in self.variables.names] + [
            Node(name, kind="factor") for name in self.factor_names
        ]
        edges = tuple(Edge(*edge, directed=False) for edge in self.graph.edges)
        groups = ((label, [self.factor_names[place] for place in places]) for label, places in self.plates)
        return Diagram(tuple(nodes), edges, tuple(Group(label, tuple(members)) for label, members in groups if members))

    def to_markov_network(self) -> MarkovNetwork:
        return MarkovNetwork(self.factors, self.variables, plates=self.plates)


def num_rows(columns: Columns) -> int:
    return len(next(iter(columns.values()), ()))


def boltzmann(energy: Any) -> np.ndarray:
    """exp(-E), where E = +inf gives exactly 0."""
    table = np.asarray(energy, dtype=float)
    if np.isnan(table).any():
        raise InvalidModel("an energy is not a number; use an infinite energy to forbid a combination")
    with np.errstate(over="ignore"):
        values = np.exp(-table)
    if np.isinf(values).any():
        raise InvalidModel(f"the energy {table.min():g} is too low: exp(-E) overflows; add a constant to the table")
    return np.asarray(values)


def log_linear_factor(scope: Scope, feature: Callable[..., float] | Any, weight: float) -> Factor:
    if callable(feature):
        states = product(*(variable.labels for variable in scope))
        feature = np.array([feature(*labels) for labels in states], dtype=float).reshape(scope.shape)
    return Factor(scope, boltzmann(-float(weight) * np.asarray(feature, dtype=float)))


def ones(scope: Sequence[Variable]) -> Factor:
    return Factor(scope, np.ones(Scope(scope).shape))
