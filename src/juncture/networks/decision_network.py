"""`DecisionNetwork`: a Bayesian network with decisions and utilities, also called an influence diagram.

Chance variables have conditionals, a `Decision` has the variables that are known when it is taken, and a `Utility` has
a number for each joint state of its parents; utilities are added (Howard and Matheson 1984; Koller and Friedman 2009,
chapter 23).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from juncture.base.checks import check_iterable, check_kind, check_mapping, shown
from juncture.base.values import Value, content_key, number_of
from juncture.drawing.diagram import Diagram, Edge, Kind, Node
from juncture.errors import InvalidModel, UnknownVariable
from juncture.factors.conditional import AnyConditional, Conditional, HasTable, as_parents, signature
from juncture.factors.printed_tables import table_text
from juncture.factors.scope_tables import check_table_size, state_codes, table_keys, to_series
from juncture.graphs.directed import DirectedGraph
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.policy import Policy
from juncture.numerics import stable
from juncture.variables import Scope, Variable, distinct_variables

if TYPE_CHECKING:
    import pandas as pd


class Decision(Value):
    """A variable that somebody sets, knowing the states of its parents.

    Parameters
    ----------
    variable
        A variable whose states are the actions.
    parents
        What is known when the decision is taken: variables with states.

    Examples
    --------
    >>> Decision(Variable("treat", ["no", "yes"]), [Variable("test", ["negative", "positive"])])
    Decision(treat | test)
    """

    variable: Variable
    parents: Scope

    def __init__(self, variable: Variable, parents: Iterable[Variable] = ()) -> None:
        check_kind(variable, Variable, "what is decided", error=InvalidModel)
        scope = as_parents(variable, parents)
        for each in (variable, *scope):
            if each.is_real:
                raise InvalidModel(
                    f"the decision {variable.name!r} is about variables with states; {each.name!r} is real-valued"
                )
        self._set(variable=variable, parents=scope)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents.names)}" if self.parents else ""
        return f"Decision({self.variable.name}{given})"


class Utility(Value):
    """A number for each joint state of some variables; the utilities of a network are added.

    Parameters
    ----------
    parents
        The variables that the utility depends on, chance variables and decisions.
    values
        The table: one axis per parent, of finite numbers of any sign.
    name
        The name of the node in pictures and files. A network names its utilities itself where there is none.

    Examples
    --------
    >>> treat, ill = Variable("treat", ["no", "yes"]), Variable("ill", ["no", "yes"])
    >>> Utility([treat, ill], [[0, -100], [-10, -20]])["yes", "no"]
    -10.0
    """

    parents: Scope
    values: np.ndarray
    name: str | None
    __iter__ = None  # or Python would try utility[0], utility[1], … as labels

    def __init__(self, parents: Iterable[Variable], values: Any, *, name: str | None = None) -> None:
        scope = check_table_size(Scope(parents), "the utility")
        if name is not None and (not isinstance(name, str) or not name):
            raise InvalidModel(f"the name of a utility must be a non-empty string; got {name!r}")
        title = f"the utility of ({', '.join(scope.names)})"
        table = stable.as_numbers(values, scope.shape, name=title, axes="one axis per parent")
        self._set(parents=scope, values=table, name=name)

    def with_name(self, name: str) -> Utility:
        """The same numbers under this name."""
        return Utility(self.parents, self.values, name=name)

    def __getitem__(self, states: object) -> float:
        """The utility of these states, one label per parent in order."""
        return float(self.values[state_codes(self.parents, states)])

    def to_dict(self) -> dict[Any, float]:
        """State → utility; of several parents, the tuple of their states → utility."""
        return dict(zip(table_keys(self.parents), self.values.ravel().tolist(), strict=True))

    def to_pandas(self) -> pd.Series:
        """A series indexed by states: one level per parent."""
        return to_series(self.parents, self.values)

    def __repr__(self) -> str:
        name = "" if self.name is None else f"; {self.name}"
        return f"Utility({', '.join(self.parents.names)}{name})"

    def __str__(self) -> str:
        if not self.parents:
            return f"{self!r}: {float(self.values):g}"
        rows = self.values.reshape(-1, self.parents[-1].num_states)
        return table_text(repr(self), self.parents, lambda positions: rows[positions])

    def _repr_html_(self) -> str:
        from juncture.factors.printed_tables import table_html

        return table_html(self.parents, self.values)


Part: TypeAlias = AnyConditional | Decision | Utility


class DecisionNetwork(Value):
    """Chance variables with conditionals, decisions, and utilities, which are added.

    Parameters
    ----------
    parts
        Conditionals of variables with states, `Decision` and `Utility` nodes. Decisions that no directed path orders
        are taken in the order in which they are listed.

    Examples
    --------
    >>> ill, treat = Variable("ill", ["no", "yes"]), Variable("treat", ["no", "yes"])
    >>> test = Variable("test", ["negative", "positive"])
    >>> network = DecisionNetwork([
    ...     Conditional(ill, [], [0.9, 0.1]),
    ...     Conditional(test, [ill], [[0.8, 0.2], [0.1, 0.9]]),
    ...     Decision(treat, [test]),
    ...     Utility([treat, ill], [[0, -100], [-10, -20]]),
    ... ])
    >>> network
    DecisionNetwork(2 chance variables, 1 decision, 1 utility)
    """

    kind: ClassVar[str] = "decision network"
    parts: tuple[Part, ...]
    __iter__ = None  # or Python would try network[0], network[1], … as names

    def __init__(self, parts: Iterable[Any]) -> None:
        listed = check_iterable(parts, "the parts of a decision network", error=InvalidModel)
        for part in listed:
            check_part(part)
        variables = Scope(node_variable(part) for part in listed if not isinstance(part, Utility))
        self._set(parts=tuple(name_utilities(listed, set(variables.names))), variables=variables)
        self._check_parents()
        self.graph.topological_order()

    def _check_parents(self) -> None:
        known = set(self.variables.names)
        for part in self.parts:
            for parent in part.parents.names:
                if parent not in known:
                    raise InvalidModel(
                        f"{parent!r}, a parent of {node_name(part)!r}, has no conditional and is no decision; add one"
                    )
        if not self.utilities:
            raise InvalidModel("a decision network needs at least one jt.Utility, which says what is wanted")
        distinct_variables((self.variables, *(part.parents for part in self.parts)))

    # --- structure -------------------------------------------------------------------------------------------------

    @cached_property
    def variables(self) -> Scope:
        """The chance variables and the decisions, in the order of the parts."""
        return Scope(node_variable(part) for part in self.parts if not isinstance(part, Utility))

    @cached_property
    def conditionals(self) -> tuple[AnyConditional, ...]:
        return tuple(part for part in self.parts if not isinstance(part, Decision | Utility))

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions in the order in which they are taken."""
        found = {part.variable.name: part for part in self.parts if isinstance(part, Decision)}
        return tuple(found[name] for name in self.graph.topological_order() if name in found)

    @cached_property
    def utilities(self) -> tuple[Utility, ...]:
        return tuple(part for part in self.parts if isinstance(part, Utility))

    @cached_property
    def graph(self) -> DirectedGraph:
        """An edge from each parent to its child, its decision or its utility."""
        nodes = {node_name(part): part for part in self.parts}
        ordered = sorted(nodes, key=lambda name: isinstance(nodes[name], Utility))
        edges = [(parent, name) for name in ordered for parent in nodes[name].parents.names]
        return DirectedGraph(edges, nodes=ordered)

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return {node_name(part): part for part in self.parts}

    @property
    def num_parameters(self) -> int:
        """The number of free parameters of the conditionals."""
        return sum(part.num_parameters for part in self.conditionals)

    def variable(self, name: str) -> Variable:
        return self.variables.variable(name)

    def __getitem__(self, name: str) -> Part:
        """The conditional, the decision or the utility of this name."""
        if not isinstance(name, str) or name not in self._parts:
            raise UnknownVariable.among(name, self._parts)
        return self._parts[name]

    # --- other models ----------------------------------------------------------------------------------------------

    def with_part(self, *parts: Part) -> DecisionNetwork:
        """The network with the nodes of these names replaced, or added; a conditional may replace a decision."""
        for part in parts:
            check_part(part)
        given = {part.name for part in parts if isinstance(part, Utility)}
        replaced = {str(part.name) for part in self.utilities if part.name in given}
        named = name_utilities(parts, set(self._parts) - replaced)
        merged = {node_name(part): part for part in (*self.parts, *named)}
        return DecisionNetwork(merged.values())

    def with_policy(self, policy: Policy | Mapping[str, Any]) -> BayesianNetwork:
        """The Bayesian network in which every decision follows a policy; all verbs take it.

        Parameters
        ----------
        policy
            A `Policy`, as of `optimal_policy`; or a mapping from each decision to a conditional of it, given any
            variables before it, or to the action that is always taken.
        """
        given = policy.to_conditionals() if isinstance(policy, Policy) else check_mapping(policy, "the policy")
        rules = {name: self._as_rule(name, rule) for name, rule in given.items()}
        for decision in self.decisions:
            if decision.variable.name not in rules:
                raise InvalidModel(f"the policy has no rule for the decision {decision.variable.name!r}; add one")
        parts = (rules.get(node_name(part), part) for part in self.parts if not isinstance(part, Utility))
        return BayesianNetwork(parts)

    def _as_rule(self, name: str, rule: Any) -> AnyConditional:
        """A rule for a decision: a conditional, or the action that is always taken."""
        names = [decision.variable.name for decision in self.decisions]
        if name not in names:
            raise UnknownVariable.among(name, names, where="the network's decisions")
        variable = self.variable(name)
        if isinstance(rule, AnyConditional):
            if rule.child != variable:
                raise InvalidModel(
                    f"the rule for {name!r} is a conditional of {rule.child!r}; it must be of {variable!r}"
                )
            return rule
        return Conditional(variable, [], np.eye(variable.num_states)[variable.code(rule)])

    def to_diagram(self) -> Diagram:
        """What to draw: chance variables as pills, decisions as squares, utilities as diamonds."""
        kinds: dict[type, Kind] = {Decision: "decision", Utility: "utility"}
        nodes = [Node(name, kind=kinds.get(type(self[name]), "variable")) for name in self.graph.nodes]
        return Diagram(nodes, [Edge(*edge) for edge in self.graph.edges])

    # --- being a value ---------------------------------------------------------------------------------------------

    def _key(self) -> Hashable:
        chance = frozenset(content_key(part) for part in self.conditionals)
        return (chance, content_key(self.decisions), frozenset(content_key(part) for part in self.utilities))

    def __repr__(self) -> str:
        sizes = (
            number_of(len(self.conditionals), "chance variable"),
            number_of(len(self.decisions), "decision"),
            f"{len(self.utilities)} {'utility' if len(self.utilities) == 1 else 'utilities'}",
        )
        return f"DecisionNetwork({', '.join(sizes)})"

    def _repr_html_(self) -> str:
        from juncture.networks.picture import model_html

        return model_html(self)


def check_part(part: Any) -> None:
    """A part is a conditional between variables with states, a decision or a utility."""
    if isinstance(part, Decision | Utility):
        return
    if isinstance(part, type) or not isinstance(part, AnyConditional):
        raise InvalidModel(
            f"a decision network is made of conditionals, jt.Decision and jt.Utility nodes; got {shown(part)}"
        )
    if any(variable.is_real for variable in (part.child, *part.parents)) or not isinstance(part, HasTable):
        raise InvalidModel(
            f"a decision network is over variables with states; {signature(part)} has no table: cut its numbers into"
            " intervals, as jt.Discretizer does"
        )


def node_variable(part: AnyConditional | Decision) -> Variable:
    return part.variable if isinstance(part, Decision) else part.child


def node_name(part: Part) -> str:
    return str(part.name) if isinstance(part, Utility) else node_variable(part).name


def name_utilities(parts: Iterable[Part], taken: set[str]) -> list[Part]:
    """The parts, each utility with a name of its own: "utility", or "utility 1" and so on where there are several."""
    listed = list(parts)
    names = [part.name for part in listed if isinstance(part, Utility) and part.name is not None]
    clash = next((name for name in names if name in taken or names.count(name) > 1), None)
    if clash is not None:
        raise InvalidModel(f"the name {clash!r} of a utility is taken; the names of nodes are unique")
    nameless = sum(isinstance(part, Utility) and part.name is None for part in listed)
    free = free_names({*taken, *names}, nameless)
    return [part.with_name(next(free)) if isinstance(part, Utility) and part.name is None else part for part in listed]


def free_names(taken: set[str], count: int) -> Any:
    """So many names for utilities, none of them taken."""
    candidates = ["utility"] if count == 1 else []
    candidates += [f"utility {number}" for number in range(1, count + len(taken) + 1)]
    return iter([name for name in candidates if name not in taken])
