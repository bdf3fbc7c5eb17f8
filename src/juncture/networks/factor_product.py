"""`MarkovNetwork` and `FactorGraph`: a distribution proportional to a product of factors.

Both hold a list of factors; they differ in the graph they show. A Markov network joins all variables
that share a factor; a factor graph keeps one node per factor, so that two factors on one scope stay two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_kind, check_mapping, check_number, check_tuples
from juncture.base.values import Value, number_of
from juncture.data.dataset import Dataset
from juncture.data.findings import is_hole
from juncture.errors import InvalidData, InvalidModel, TooLarge
from juncture.factors.conditional import Columns
from juncture.factors.factor import TOLERANCE, Factor, product_of
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.factors.scope_tables import check_table_size
from juncture.graphs.undirected import UndirectedGraph
from juncture.networks.marginalization import check_elimination_order, sum_out_variables
from juncture.networks.plates import Plates, check_plates, flatten
from juncture.variables import Scope, State, Variable, distinct_variables

if TYPE_CHECKING:
    from juncture.drawing.diagram import Diagram
    from juncture.networks.potentials import MinimalPotentials

MOST_IN_A_FACTOR = 24  # variables whose sets are counted one by one


class FactorProduct(Value):
    """p(x) = Π factors / Z.

    Parameters
    ----------
    factors
        Factors and plates of them: all tables, or all `GaussianFactor`.
    variables
        Fixes the order of the variables, and may name variables that are in no factor.
    plates
        Pairs of a label and the positions of the factors inside, for drawing.
    """

    kind: ClassVar[str] = "product of factors"
    factors: tuple[Any, ...]  # of `Factor`, or all of `GaussianFactor`
    variables: Scope
    plates: Plates
    elimination_order: tuple[str, ...]  # that exact inference takes; empty if it is to search one; not compared

    def __init__(self, factors: Iterable[Any], variables: Iterable[Variable] = (), *, plates: Plates = ()) -> None:
        parts, built = flatten([factors])
        for part in parts:
            if not isinstance(part, Factor | GaussianFactor):
                raise InvalidModel(f"a {type(self).__name__} is made of factors; got {part!r}")
        scope = Scope(distinct_variables([Scope(variables), *(part.scope for part in parts)]))
        check_one_kind(parts, scope)
        self._set(factors=tuple(parts), variables=scope, plates=(*check_plates(plates), *built), elimination_order=())

    @classmethod
    def trusted(cls, like: FactorProduct, factors: Iterable[Factor]) -> Self:
        """The structure of another model with other tables, over the same scopes, which is not checked again."""
        model = cls.__new__(cls)
        model._set(factors=tuple(factors), variables=like.variables, plates=like.plates)
        model._set(elimination_order=like.elimination_order)
        return model

    def with_elimination_order(self, order: Iterable[str]) -> Self:
        """The same model with an order for exact inference, which JSON files keep; () forgets the order."""
        model = type(self).trusted(self, self.factors)
        model._set(elimination_order=check_elimination_order(order, self.variables))
        return model

    def variable(self, name: str) -> Variable:
        return self.variables.variable(name)

    @cached_property
    def num_parameters(self) -> int:
        """The number of free parameters: those of all positive tables over the scopes of the factors.

        Of Gaussian factors: a mean and a precision for each variable, and an entry for each pair that shares a factor.
        """
        scopes = [part.scope for part in self.factors]
        if any(isinstance(part, GaussianFactor) for part in self.factors):
            pairs = {frozenset(pair) for scope in scopes for pair in combinations(scope.names, 2)}
            return 2 * len(self.variables) + len(pairs)
        sizes = {variable.name: variable.num_states - 1 for variable in self.variables}
        return sum(prod(sizes[name] for name in names) for names in interacting_sets(scopes))

    def log_joint(self, assignment: Mapping[str, State]) -> float:
        """Log of the product of all factors at an assignment of every variable; log Z is not subtracted."""
        parts = self._log_values_at(check_complete_row(assignment, self.variables))
        return float(sum(np.sum(part) for part in parts))

    def log_joint_of(self, columns: Columns) -> np.ndarray:
        """`log_joint` of each row of complete, coded columns."""
        return sum(self._log_values_at(columns), np.zeros(num_rows(columns)))

    def _log_values_at(self, columns: Columns) -> list[np.ndarray]:
        """For each factor its logarithm in each row; for one without variables a single number."""
        return [log_values_at(part, columns) for part in self.factors]

    def merge(self, *indices: int) -> Self:
        """The model with the factors at these indices multiplied into one; without indices, all that share a scope.

        The joint is unchanged; a cycle among the merged factors disappears from the factor graph.
        """
        for index in indices:
            if not isinstance(index, int) or index not in range(len(self.factors)):
                raise InvalidModel(
                    f"there is no factor at index {index!r}; indices run from 0 to {len(self.factors) - 1}"
                )
        groups: dict[Hashable, list[int]] = {}
        for index, part in enumerate(self.factors):
            key = frozenset(part.scope.names) if not indices else ("merged" if index in indices else index)
            groups.setdefault(key, []).append(index)
        merged = [product_of(self.factors[index] for index in group) for group in groups.values()]
        return type(self)(merged, self.variables)

    def minimal_form(self) -> MinimalPotentials:
        """The parameters of the distribution without redundancy; tables have more entries than it needs.

        >>> a, b = Variable("a", 2), Variable("b", 2)
        >>> MarkovNetwork([Factor([a], [1, 2]), Factor([a, b], [[3, 1], [1, 2]])]).minimal_form().num_parameters
        3
        """
        from juncture.networks.potentials import minimal_potentials

        return minimal_potentials(self.factors, self.variables)

    def to_diagram(self) -> Diagram:
        """What to draw."""
        raise NotImplementedError

    def _key(self) -> Hashable:
        plates = frozenset((label, frozenset(self.factors[p] for p in indices)) for label, indices in self.plates)
        return (frozenset(Counter(self.factors).items()), frozenset(self.variables), plates)

    def __repr__(self) -> str:
        sizes = f"{number_of(len(self.variables), 'variable')}, {number_of(len(self.factors), 'factor')}"
        return f"{type(self).__name__}({sizes})"

    def _repr_html_(self) -> str:
        from juncture.networks.picture import model_html

        return model_html(self)


class MarkovNetwork(FactorProduct):
    """p(x) ∝ Π factors, an undirected model: variables that share a factor are neighbours.

    Parameters
    ----------
    factors
        Factors and plates of factors.
    variables
        Further variables, which no factor has.
    plates
        Pairs of a label and the positions of the factors inside, for drawing.

    Examples
    --------
    >>> a, b = Variable("a", 2), Variable("b", 2)
    >>> MarkovNetwork([Factor([a, b], [[30, 5], [1, 10]])]).graph.edges
    (('a', 'b'),)
    """

    kind: ClassVar[str] = "Markov network"

    @cached_property
    def graph(self) -> UndirectedGraph:
        pairs = (pair for part in self.factors for pair in combinations(part.scope.names, 2))
        edges = {frozenset(pair): pair for pair in pairs}
        return UndirectedGraph(edges.values(), nodes=self.variables.names)

    def to_diagram(self) -> Diagram:
        from juncture.drawing.diagram import Diagram, Edge, Group, Node

        nodes = tuple(Node(name) for name in self.variables.names)
        edges = tuple(Edge(*edge, directed=False) for edge in self.graph.edges)
        groups = (
            (label, [name for p in indices for name in self.factors[p].scope.names]) for label, indices in self.plates
        )
        return Diagram(nodes, edges, tuple(Group(label, tuple(members)) for label, members in groups if members))

    @classmethod
    def from_energies(cls, energies: Iterable[tuple[Sequence[Variable], Any]]) -> MarkovNetwork:
        """ψ = exp(-E) for each (scope, energy table); an infinite energy forbids a combination."""
        from juncture.networks.potentials import boltzmann

        return cls(
            [
                boltzmann(Scope(scope), energy)
                for scope, energy in check_tuples(energies, 2, "energies", error=InvalidModel)
            ]
        )

    @classmethod
    def from_features(
        cls, features: Iterable[tuple[Sequence[Variable], Callable[..., float] | Any, float]]
    ) -> MarkovNetwork:
        """The log-linear model exp Σ parameter · feature, from (scope, feature, parameter) triples.

        A feature is a function of the scope's states, or a table of its values.
        """
        from juncture.networks.potentials import log_linear_factor

        triples = check_tuples(features, 3, "features", error=InvalidModel)
        return cls([log_linear_factor(Scope(scope), feature, weight) for scope, feature, weight in triples])

    @classmethod
    def from_joint(
        cls, joint: Factor, graph: UndirectedGraph | None = None, *, tolerance: float = TOLERANCE
    ) -> MarkovNetwork:
        """The canonical potentials of a positive joint table, by Möbius inversion of its logarithm; Z = 1.

        Each potential is 1 where one of its variables is in its first state; those that are 1 everywhere, within the
        tolerance in their logarithm, are left out. Over a graph all others must be over cliques: that is so exactly if
        the table keeps the graph's independencies (Hammersley and Clifford 1971).
        """
        from juncture.networks.potentials import canonical_potentials

        check_kind(joint, Factor, "the joint", error=InvalidModel)
        check_kind(graph, (UndirectedGraph, type(None)), "the graph", error=InvalidModel)
        check_number(tolerance, "tolerance", least=0)
        return cls(canonical_potentials(joint.normalize(), graph, tolerance), joint.scope)

    def marginalize(self, *names: str) -> MarkovNetwork:
        """The distribution of the other variables: summing out a variable leaves one factor over its neighbours."""
        removed = Scope(self.variable(name) for name in names)
        return MarkovNetwork(sum_out_variables(self.factors, removed), self.variables.without(removed.names))

    def absorb(self) -> MarkovNetwork:
        """One factor per maximal clique, each old factor multiplied into exactly one of them; p and Z unchanged."""
        cliques = [set(clique) for clique in self.graph.maximal_cliques()] or [set()]
        groups: list[list[Factor]] = [[] for _ in cliques]
        for part in self.factors:
            names = set(part.scope.names)
            groups[next((i for i, clique in enumerate(cliques) if names <= clique))].append(part)
        scopes = [[v for v in self.variables if v.name in clique] for clique in cliques]
        merged = [product_of([constant_factor(scope), *group]) for scope, group in zip(scopes, groups, strict=True)]
        return MarkovNetwork(merged, self.variables)

    def to_factor_graph(self) -> FactorGraph:
        return FactorGraph(self.factors, self.variables, plates=self.plates)


class FactorGraph(FactorProduct):
    """p(x) ∝ Π factors, as a bipartite graph of variables and factors; factors are named f0, f1 and so on.

    Parameters
    ----------
    factors, variables, plates
        As in `MarkovNetwork`.

    Examples
    --------
    >>> a, b = Variable("a", 2), Variable("b", 2)
    >>> FactorGraph([Factor([a], [1, 2]), Factor([a, b], [[1, 0], [0, 1]])]).graph.edges
    (('f0', 'a'), ('f1', 'a'), ('f1', 'b'))
    """

    kind: ClassVar[str] = "factor graph"

    @cached_property
    def factor_names(self) -> tuple[str, ...]:
        taken = set(self.variables.names)
        names: tuple[str, ...] = tuple(f"f{index}" for index in range(len(self.factors)))
        while taken.intersection(names):
            names = tuple(f"f{name}" for name in names)
        return names

    @cached_property
    def graph(self) -> UndirectedGraph:
        pairs = zip(self.factor_names, self.factors, strict=True)
        edges = [(node, name) for node, part in pairs for name in part.scope.names]
        return UndirectedGraph(edges, nodes=(*self.variables.names, *self.factor_names))

    def to_diagram(self) -> Diagram:
        from juncture.drawing.diagram import Diagram, Edge, Group, Node

        nodes = [Node(name) for name in self.variables.names] + [
            Node(name, kind="factor") for name in self.factor_names
        ]
        edges = tuple(Edge(*edge, directed=False) for edge in self.graph.edges)
        groups = ((label, [self.factor_names[index] for index in indices]) for label, indices in self.plates)
        return Diagram(tuple(nodes), edges, tuple(Group(label, tuple(members)) for label, members in groups if members))

    def to_markov_network(self) -> MarkovNetwork:
        return MarkovNetwork(self.factors, self.variables, plates=self.plates)


def log_values_at(part: Factor | GaussianFactor, columns: Columns) -> np.ndarray:
    if isinstance(part, GaussianFactor):
        return part.log_values_at(columns)
    return np.asarray(part.log_values[tuple(columns[name] for name in part.scope.names)])


def interacting_sets(scopes: Iterable[Scope]) -> set[frozenset[str]]:
    """The sets of variables that are together in some scope, each once, without the empty one."""
    found: set[frozenset[str]] = set()
    for scope in scopes:
        if len(scope) > MOST_IN_A_FACTOR:
            raise TooLarge(
                f"a factor over {number_of(len(scope), 'variable')} has too many sets of them to count parameters:"
                f" at most {MOST_IN_A_FACTOR} are counted"
            )
        found.update(frozenset(names) for size in range(1, len(scope) + 1) for names in combinations(scope.names, size))
    return found


def check_one_kind(parts: Sequence[Factor | GaussianFactor], scope: Scope) -> None:
    """All factors are tables over variables with states, or all are Gaussian over real variables."""
    if not any(isinstance(part, GaussianFactor) for part in parts):
        for variable in scope:
            variable.num_states  # noqa: B018  raises for a real-valued variable
        return
    strange = next((part for part in parts if not isinstance(part, GaussianFactor)), None)
    if strange is not None:
        raise InvalidModel(f"a model has tables or Gaussian factors, not both; {strange!r} is a table")
    with_states = next((variable for variable in scope if not variable.is_real), None)
    if with_states is not None:
        raise InvalidModel(f"the variables of Gaussian factors are real; {with_states!r} has states")


def constant_factor(variables: Sequence[Variable]) -> Factor:
    scope = check_table_size(Scope(variables), f"the clique of {len(variables)} variables")
    return Factor(scope, np.ones(scope.shape))


def num_rows(columns: Columns) -> int:
    """The number of rows of some columns; no columns are one row, the empty assignment."""
    return len(next(iter(columns.values()), ("",)))


def check_complete_row(assignment: Mapping[str, Any], variables: Scope) -> Columns:
    """Coded columns of one row that gives every variable a state."""
    columns = Dataset([dict(check_mapping(assignment, "an assignment"))], variables=variables).columns
    for name in variables.names:
        if name not in columns or is_hole(columns[name]).any():
            raise InvalidData(f"a full assignment gives every variable a state; {name!r} has none")
    return columns
