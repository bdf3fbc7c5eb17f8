"""`BayesianNetwork`: one conditional per variable, along a directed acyclic graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.values import Value, content_key, number_of
from juncture.errors import InvalidModel, UnknownVariable, Unsupported
from juncture.factors.conditional import AnyConditional, Columns, Conditional, HasTable, parameters_key, signature
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.graph import as_nodes
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork, check_complete_row, num_rows
from juncture.networks.marginalization import (
    check_elimination_order,
    find_removable_leaves,
    sum_out_variables,
    warn_undirected,
)
from juncture.networks.plates import Plates, check_groups, check_plates, flatten
from juncture.variables import Scope, State, Variable, distinct_variables

if TYPE_CHECKING:
    from juncture.drawing.diagram import Diagram


class BayesianNetwork(Value):
    """p(x) = Π p(child | parents), with one conditional per variable.

    Parameters
    ----------
    conditionals
        Conditionals and plates of them.
    tied
        Groups of variables whose conditionals share their parameters.
    plates
        Pairs of a label and the names inside, for drawing.

    Examples
    --------
    >>> rain, wet = Variable("rain", ["no", "yes"]), Variable("wet", ["no", "yes"])
    >>> from juncture.factors.conditional import Conditional
    >>> model = BayesianNetwork([Conditional(rain, [], [0.8, 0.2]),
    ...                          Conditional(wet, [rain], [[0.9, 0.1], [0.2, 0.8]])])
    >>> round(float(np.exp(model.log_joint({"rain": "yes", "wet": "yes"}))), 12)
    0.16
    """

    kind: ClassVar[str] = "Bayesian network"
    conditionals: tuple[AnyConditional, ...]
    tied: tuple[tuple[str, ...], ...]
    plates: tuple[tuple[str, tuple[str, ...]], ...]
    elimination_order: tuple[str, ...]  # that exact inference takes; empty if it is to search one; not compared
    __iter__ = None  # or Python would try model[0], model[1], … as names

    def __init__(
        self,
        conditionals: Iterable[Any],
        *,
        tied: Iterable[Sequence[str]] = (),
        plates: Iterable[tuple[str, Sequence[str]]] = (),
    ) -> None:
        parts, indices = flatten([conditionals])
        for part in {type(part): part for part in parts}.values():  # one of each kind: the check is slow
            if not isinstance(part, AnyConditional):
                raise InvalidModel(f"a Bayesian network is made of conditionals; got {part!r}")
            if not isinstance(part.parents, Scope):
                raise InvalidModel(
                    f"the parents of {part.child.name!r} must be a jt.results.Scope; write jt.results.Scope([…])"
                )
        built = [(label, [parts[index].child.name for index in members]) for label, members in indices]
        boxes = tuple((label, tuple(members)) for label, members in [*check_plates(plates), *built])
        self._set(conditionals=tuple(parts), tied=check_groups(tied), plates=boxes, elimination_order=())
        check_families(self.conditionals)
        self.graph.topological_order()
        self._check_tied()

    @classmethod
    def trusted(cls, like: BayesianNetwork, conditionals: Iterable[AnyConditional]) -> BayesianNetwork:
        """The structure of another network with other parameters, which is not checked again.

        The conditionals are over the same variables, in the same order; tied ones have the same parameters.
        """
        network = cls.__new__(cls)
        network._set(conditionals=tuple(conditionals), tied=like.tied, plates=like.plates)
        network._set(elimination_order=like.elimination_order)
        network._set(variables=like.variables, graph=like.graph, _indices=like._indices)
        return network

    @classmethod
    def from_joint(cls, joint: Factor, along: DirectedGraph | Iterable[str]) -> BayesianNetwork:
        """The conditionals of a joint table along a graph; along an order, each variable has all before it as parents.

        Along any order the network has the joint of the table. Along a graph it has it if the table factorises over
        the graph; else it is the network of this graph that is nearest to the table.
        """
        check_kind(joint, Factor, "the joint", error=InvalidModel)
        graph = along if isinstance(along, DirectedGraph) else complete_graph(along)
        if set(graph.nodes) != set(joint.scope.names):
            raise InvalidModel(
                f"the table is over {', '.join(joint.scope.names)}, but the graph or order is over "
                f"{', '.join(graph.nodes)}; both must name the same variables"
            )
        table = joint.normalize()
        return cls(Conditional.from_joint(table, name, graph.parents(name)) for name in graph.nodes)

    @classmethod
    def parse(
        cls, graph: DirectedGraph | str, tables: Mapping[str, Any], *, variables: Iterable[Variable] = ()
    ) -> BayesianNetwork:
        """A network of a graph that is written as text, with tables by the labels of states.

        Parameters
        ----------
        graph
            A text such as "smoke -> lung -> xray; age -> lung", as `DirectedGraph.parse` reads it, or a graph.
        tables
            Variable → its table as `Conditional` takes it, given its parents in the order in which the graph names
            them; or a conditional of any kind. A variable has the states by which its own table is written, in this
            order, else those by which it is a parent; a table of numbers alone has the states 0, 1, ….
        variables
            Variables whose states the tables do not say, or in another order.

        Returns
        -------
        BayesianNetwork

        Examples
        --------
        >>> rain, wet = {"yes": 0.2, "no": 0.8}, {"yes": {"yes": 0.9, "no": 0.1}, "no": {"yes": 0.2, "no": 0.8}}
        >>> BayesianNetwork.parse("rain -> wet", {"rain": rain, "wet": wet})["wet"]["yes", "no"]
        0.1
        """
        from juncture.networks.written_networks import read_graph, written_conditionals

        return cls(written_conditionals(read_graph(graph), tables, variables))

    @classmethod
    def random(
        cls, graph: DirectedGraph | str, *, states: Any = 2, concentration: float = 1.0, rng: Any = None
    ) -> BayesianNetwork:
        """A network of a graph with random tables, for exercises and trials.

        Parameters
        ----------
        graph
            A graph, or the text of one, such as "a -> b <- c".
        states
            The number of states of each variable, or their labels; or a mapping from some names to these.
        concentration
            Each row of a table is drawn from the Dirichlet with this concentration for each state: 1 is uniform over
            all distributions, less gives rows near certainty, more gives rows near equal probabilities.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        BayesianNetwork

        Examples
        --------
        >>> model = BayesianNetwork.random("a -> b <- c", states={"b": ["low", "middle", "high"]}, rng=0)
        >>> model, model == BayesianNetwork.random("a -> b <- c", states={"b": ["low", "middle", "high"]}, rng=0)
        (BayesianNetwork(3 variables, 2 edges, 10 parameters), True)
        """
        from juncture.networks.written_networks import random_conditionals, read_graph

        return cls(random_conditionals(read_graph(graph), states, concentration, rng))

    # --- structure -------------------------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> Scope:
        return Scope(conditional.child for conditional in self.conditionals)

    @cached_property
    def graph(self) -> DirectedGraph:
        """An edge from each parent to its child."""
        edges = [(parent, part.child.name) for part in self.conditionals for parent in part.parents.names]
        return DirectedGraph(edges, nodes=self._indices)

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {part.child.name: index for index, part in enumerate(self.conditionals)}

    def variable(self, name: str) -> Variable:
        return self[name].child

    def __getitem__(self, name: str) -> AnyConditional:
        """The conditional of this child."""
        if not isinstance(name, str) or name not in self._indices:
            raise UnknownVariable.among(name, self._indices)
        return self.conditionals[self._indices[name]]

    @property
    def num_parameters(self) -> int:
        """The number of free parameters; tied conditionals count once."""
        copies = {name for group in self.tied for name in group[1:]}
        return sum(part.num_parameters for part in self.conditionals if part.child.name not in copies)

    # --- numbers ---------------------------------------------------------------------------------------------------

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """Every conditional as a table."""
        return tuple(to_factor(part) for part in self.conditionals)

    def log_joint(self, assignment: Mapping[str, State]) -> float:
        """Log of the product of all conditionals at an assignment of every variable."""
        row = check_complete_row(assignment, self.variables)
        return float(sum(part.log_prob(row)[0] for part in self.conditionals))

    def log_joint_of(self, columns: Columns) -> np.ndarray:
        """`log_joint` of each row of complete, coded columns."""
        return sum((part.log_prob(columns) for part in self.conditionals), np.zeros(num_rows(columns)))

    # --- other models ----------------------------------------------------------------------------------------------

    def with_conditional(self, *conditionals: AnyConditional) -> BayesianNetwork:
        """The network with the conditionals of these children replaced, or added."""
        for part in conditionals:
            check_kind(part, AnyConditional, "what replaces a conditional", error=InvalidModel)
        merged = {part.child.name: part for part in (*self.conditionals, *conditionals)}
        network = BayesianNetwork(merged.values(), tied=self.tied, plates=self.plates)
        return network.with_elimination_order(self.elimination_order if len(merged) == len(self.conditionals) else ())

    def with_elimination_order(self, order: Iterable[str]) -> BayesianNetwork:
        """The same network with an order for exact inference, which JSON files keep; () forgets the order.

        `JunctionTree().find_order(model)` finds one.

        >>> from juncture.formats.bundled import example
        >>> order = ["Pollution", "Smoker", "Xray", "Cancer", "Dyspnoea"]
        >>> example("cancer").with_elimination_order(order).elimination_order[0]
        'Pollution'
        """
        network = BayesianNetwork.trusted(self, self.conditionals)
        network._set(elimination_order=check_elimination_order(order, self.variables))
        return network

    def reverse_edge(self, tail: str, head: str) -> BayesianNetwork:
        """The same joint with a covered edge reversed by Bayes' rule: p(head | parents), p(tail | head, parents)."""
        if not self.graph.is_covered(tail, head):
            raise InvalidModel(
                f"the edge {tail} -> {head} is not covered: turning it would state other independencies; "
                f"{head!r} must have the parents of {tail!r}, and {tail!r}, and no others"
            )
        parents = self.graph.parents(tail)
        both = self.factors[self._indices[tail]] * self.factors[self._indices[head]]
        turned = Conditional.from_joint(both, head, parents), Conditional.from_joint(both, tail, [*parents, head])
        untied = [[name for name in group if name not in {tail, head}] for group in self.tied]
        merged = {part.child.name: part for part in (*self.conditionals, *turned)}
        return BayesianNetwork(merged.values(), tied=[group for group in untied if len(group) > 1], plates=self.plates)

    def marginalize(self, *names: str) -> BayesianNetwork | MarkovNetwork:
        """The distribution of the other variables: a Bayesian network again if only leaves go, one after another.

        Summing out a variable whose child stays leaves a factor over all its neighbours. Directed graphs are not closed
        under this: the result is then a Markov network with Z = 1, and a warning says why.
        """
        removed = {self.variable(name).name for name in names}
        leaves = find_removable_leaves(self.graph, removed)
        left = [part for part in self.conditionals if part.child.name not in leaves]
        if leaves == removed:
            tied = [[name for name in group if name not in removed] for group in self.tied]
            plates = [(label, [name for name in members if name not in removed]) for label, members in self.plates]
            return BayesianNetwork(left, tied=[group for group in tied if len(group) > 1], plates=plates)
        warn_undirected(self.graph, removed - leaves, removed)
        factors = sum_out_variables(
            [to_factor(part) for part in left], [v for v in self.variables if v.name in removed - leaves]
        )
        return MarkovNetwork(factors, self.variables.without(removed))

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution as an undirected model: its Z is 1."""
        return MarkovNetwork(self.factors, self.variables, plates=self._factor_plates)

    def to_factor_graph(self) -> FactorGraph:
        """The same distribution with one factor per conditional."""
        return FactorGraph(self.factors, self.variables, plates=self._factor_plates)

    @property
    def _factor_plates(self) -> Plates:
        """The plates as indices of the factors, which come in the order of the conditionals."""
        return tuple((label, tuple(self._indices[name] for name in members)) for label, members in self.plates)

    def to_diagram(self) -> Diagram:
        """Return a diagram of the graph, with plates as groups, and a dot for each parameter that is shared."""
        from juncture.drawing.diagram import Diagram, Edge, Group, Node

        nodes = [Node(name) for name in self.variables.names]
        edges = [Edge(*edge) for edge in self.graph.edges]
        for group in self.tied:
            shared = f"θ({', '.join(group)})"
            nodes.append(Node(shared, label="θ", kind="parameter"))
            edges.extend(Edge(shared, name) for name in group)
        return Diagram(
            tuple(nodes), tuple(edges), tuple(Group(label, members) for label, members in self.plates if members)
        )

    # --- being a value ---------------------------------------------------------------------------------------------

    def _check_tied(self) -> None:
        for group in (*self.tied, *(members for _, members in self.plates)):
            for name in group:
                self[name]  # raises for an unknown name
        for group in self.tied:
            keys = {parameters_key(self[name]) for name in group}
            if len(keys) > 1:
                raise InvalidModel(
                    f"tied conditionals must have the same parameters; those of {', '.join(group)} differ"
                )
        names = [name for group in self.tied for name in group]
        if len(set(names)) < len(names):
            raise InvalidModel("a variable can be tied in one group only")

    def _key(self) -> Hashable:
        plates = frozenset((label, frozenset(members)) for label, members in self.plates)
        tied = frozenset(frozenset(group) for group in self.tied)
        return (frozenset(content_key(part) for part in self.conditionals), tied, plates)

    def __repr__(self) -> str:
        sizes = f"{number_of(len(self.conditionals), 'variable')}, {number_of(len(self.graph.edges), 'edge')}"
        return f"BayesianNetwork({sizes}, {number_of(self.num_parameters, 'parameter')})"

    def _repr_html_(self) -> str:
        from juncture.networks.picture import model_html

        return model_html(self)


Network: TypeAlias = BayesianNetwork | FactorProduct  # what engines answer questions about


def complete_graph(order: Iterable[str]) -> DirectedGraph:
    """An edge between every two nodes, along the order."""
    names = as_nodes(order)
    return DirectedGraph(combinations(names, 2), names)


def check_families(conditionals: Sequence[AnyConditional]) -> None:
    """One conditional per variable; every parent has one too, and names mean one variable each."""
    children: set[str] = set()
    for part in conditionals:
        if part.child.name in children:
            raise InvalidModel(f"the variable {part.child.name!r} has two conditionals; give it one")
        children.add(part.child.name)
    for part in conditionals:
        for parent in part.parents.names:
            if parent not in children:
                raise InvalidModel(
                    f"{parent!r}, a parent of {part.child.name!r}, has no conditional of its own; add one"
                )
    distinct_variables((*part.parents, part.child) for part in conditionals)


def to_factor(conditional: AnyConditional) -> Factor:
    """A conditional as a table; one that has none is named."""
    if not isinstance(conditional, HasTable):
        takers = "infer with method='auto'" if isinstance(conditional, LinearGaussian) else "log_prob of full rows"
        part = signature(conditional)
        raise Unsupported(f"{part} has no table, as engines for tables need; sample and {takers} take it")
    table: Conditional = conditional.to_table()
    return Factor.trusted(table.scope, table.values)
