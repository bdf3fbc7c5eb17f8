"""Models of pgmpy taken as they are, and models for it: names, states and numbers stay.

pgmpy's tables have an axis for the child, then one for each parent in the order of `evidence`; here the child's axis is
the last. Each of its tables names the states of its variables in an order of its own: they are matched by their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from juncture.errors import InvalidModel, MissingExtra, Unsupported
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork, to_factor
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.variables import Scope, Variable

FIELDS: dict[str, type[MarkovNetwork | FactorGraph]] = {
    "DiscreteMarkovNetwork": MarkovNetwork,
    "MarkovNetwork": MarkovNetwork,
    "FactorGraph": FactorGraph,
}
TAKES = "a DiscreteBayesianNetwork, a LinearGaussianBayesianNetwork, a DiscreteMarkovNetwork or a FactorGraph"


def from_pgmpy(model: Any) -> BayesianNetwork | MarkovNetwork | FactorGraph:
    """A model of pgmpy.

    Parameters
    ----------
    model
        A `DiscreteBayesianNetwork` (`BayesianNetwork` of earlier versions) or `LinearGaussianBayesianNetwork` with its
        CPDs, a `DiscreteMarkovNetwork` or a `FactorGraph` with its factors. Names of nodes that are no texts become
        texts.

    Returns
    -------
    BayesianNetwork, MarkovNetwork or FactorGraph

    Examples
    --------
    >>> import juncture as jt
    >>> from pgmpy.factors.discrete import TabularCPD  # doctest: +SKIP
    >>> from pgmpy.models import DiscreteBayesianNetwork  # doctest: +SKIP
    >>> model = DiscreteBayesianNetwork()  # doctest: +SKIP
    >>> model.add_node("rain")  # doctest: +SKIP
    >>> rain = TabularCPD("rain", 2, [[0.2], [0.8]], state_names={"rain": ["yes", "no"]})  # doctest: +SKIP
    >>> model.add_cpds(rain)  # doctest: +SKIP
    >>> jt.from_pgmpy(model)["rain"]["yes"]  # doctest: +SKIP
    0.2
    """
    field = next((FIELDS[kind.__name__] for kind in type(model).__mro__ if kind.__name__ in FIELDS), None)
    if field is not None and hasattr(model, "get_factors"):
        parts = list(model.get_factors())
        known = known_variables(parts)
        return field([read_factor(part, known) for part in parts], known.values())
    if not hasattr(model, "get_cpds") or not hasattr(model, "nodes"):
        raise Unsupported(f"from_pgmpy takes {TAKES} of pgmpy; got {type(model).__name__}")
    cpds = {str(cpd.variable): cpd for cpd in model.get_cpds()}
    nodes = [str(node) for node in model.nodes()]
    missing = [name for name in nodes if name not in cpds]
    if missing:
        raise InvalidModel(f"the model of pgmpy has no CPD of {missing[0]!r}; give it one by add_cpds")
    if all(hasattr(cpd, "beta") for cpd in cpds.values()):
        return BayesianNetwork(read_line(cpds[name]) for name in nodes)
    strange = next((cpd for cpd in cpds.values() if not hasattr(cpd, "state_names")), None)
    if strange is not None:
        raise Unsupported(
            f"from_pgmpy takes {TAKES} of pgmpy; the CPD of {strange.variable!r} is a {type(strange).__name__}"
        )
    known, rows = known_variables(cpds[name] for name in nodes), RowRepair()
    parts = [read_table(cpds[name], known, rows) for name in nodes]
    rows.warn("the model of pgmpy")
    return BayesianNetwork(parts)


def known_variables(parts: Iterable[Any]) -> dict[str, Variable]:
    """The variables by name, each with the states of the first table that begins with it, or else that has it."""
    listed = list(parts)
    first = {part.variables[0]: part.state_names[part.variables[0]] for part in reversed(listed) if part.variables}
    every = {name: part.state_names[name] for part in reversed(listed) for name in part.variables}
    order = dict.fromkeys(name for part in listed for name in part.variables)
    return {str(name): Variable(str(name), list(first.get(name, every[name]))) for name in order}


def read_factor(part: Any, known: dict[str, Variable]) -> Factor:
    """A table of pgmpy with an axis for each of its variables, in its order, and the states in those of `known`."""
    scope, positions = Scope(known[str(name)] for name in part.variables), []
    for name, variable in zip(part.variables, scope, strict=True):
        own = Variable(variable.name, list(part.state_names[name]))
        found = [own.find(label) for label in variable.labels]
        if own.num_states != variable.num_states or None in found:
            raise InvalidModel(
                f"two tables of the model of pgmpy name the states of {variable.name!r} differently: {list(own.labels)}"
                f" and {list(variable.labels)}; give both the same state_names"
            )
        positions.append(found)
    return Factor(scope, np.asarray(part.values, dtype=float).reshape(scope.shape)[np.ix_(*positions)])


def read_table(cpd: Any, known: dict[str, Variable], rows: RowRepair) -> Conditional:
    """A TabularCPD, whose first variable is the child."""
    table = read_factor(cpd, known)
    child, *parents = table.scope
    values = rows.repair(child, Scope(parents), np.moveaxis(table.values, 0, -1))
    return Conditional(child, parents, values)


def read_line(cpd: Any) -> LinearGaussian:
    """A LinearGaussianCPD, whose `beta` begins with the intercept."""
    intercept, *coefficients = np.asarray(cpd.beta, dtype=float).tolist()
    parents = [Variable(str(name)) for name in cpd.evidence]
    return LinearGaussian(Variable(str(cpd.variable)), parents, coefficients, intercept, float(cpd.std) ** 2)


def to_pgmpy(model: BayesianNetwork | MarkovNetwork | FactorGraph) -> Any:
    """A model as one of pgmpy.

    Parameters
    ----------
    model
        A Bayesian network of tables (or of conditionals that have one) or of linear Gaussians with real parents, a
        Markov network or a factor graph.

    Returns
    -------
    pgmpy.models.DiscreteBayesianNetwork, LinearGaussianBayesianNetwork, DiscreteMarkovNetwork or FactorGraph

    Examples
    --------
    >>> import juncture as jt
    >>> jt.to_pgmpy(jt.example("asia")).get_cpds("smoke").state_names  # doctest: +SKIP
    {'smoke': ['yes', 'no']}
    """
    if isinstance(model, BayesianNetwork):
        lines = [part for part in model.conditionals if isinstance(part, LinearGaussian)]
        if lines and (len(lines) < len(model.conditionals) or any(part.variance.ndim for part in lines)):
            raise Unsupported("pgmpy has networks of tables and of linear Gaussians, none of both; this one has both")
        return write_lines(model, lines) if lines else write_tables(model)
    if isinstance(model, MarkovNetwork | FactorGraph):
        without = next((part for part in model.factors if not hasattr(part, "values")), None)  # of Gaussians
        if without is not None:
            raise Unsupported(f"{without!r} has no table, and pgmpy's factors are tables")
        return write_field(model) if isinstance(model, MarkovNetwork) else write_factor_graph(model)
    raise Unsupported(
        f"to_pgmpy takes a Bayesian network, a Markov network or a factor graph; got {type(model).__name__}"
    )


def write_tables(model: BayesianNetwork) -> Any:
    models, factors = import_pgmpy("models"), import_pgmpy("factors.discrete")
    kind = getattr(models, "DiscreteBayesianNetwork", None) or models.BayesianNetwork
    found = kind(list(model.graph.edges))
    found.add_nodes_from(model.variables.names)
    for part in model.conditionals:
        table, child, parents = to_factor(part), part.child, part.parents
        found.add_cpds(
            factors.TabularCPD(
                child.name,
                child.num_states,
                np.array(table.values).reshape(-1, child.num_states).transpose(),
                evidence=list(parents.names) or None,
                evidence_card=list(parents.shape) or None,
                state_names={variable.name: list(variable.labels) for variable in (child, *parents)},
            )
        )
    return found


def write_lines(model: BayesianNetwork, lines: Iterable[LinearGaussian]) -> Any:
    found = import_pgmpy("models").LinearGaussianBayesianNetwork(list(model.graph.edges))
    found.add_nodes_from(model.variables.names)
    kind = import_pgmpy("factors.continuous").LinearGaussianCPD
    for part in lines:
        beta, spread = [float(part.intercept), *part.coefficients.tolist()], float(np.sqrt(part.variance))
        found.add_cpds(kind(part.child.name, beta, spread, list(part.parents.names)))
    return found


def write_field(model: MarkovNetwork) -> Any:
    models = import_pgmpy("models")
    kind = getattr(models, "DiscreteMarkovNetwork", None) or models.MarkovNetwork
    found = kind(list(model.graph.edges))
    found.add_nodes_from(model.variables.names)
    found.add_factors(*(write_factor(part) for part in model.factors))
    return found


def write_factor_graph(model: FactorGraph) -> Any:
    found = import_pgmpy("models").FactorGraph()
    found.add_nodes_from(model.variables.names)
    for part in model.factors:
        factor = write_factor(part)
        found.add_factors(factor)
        found.add_edges_from([(name, factor) for name in part.scope.names])
    return found


def write_factor(part: Factor) -> Any:
    states = {variable.name: list(variable.labels) for variable in part.scope}
    kind = import_pgmpy("factors.discrete").DiscreteFactor
    return kind(list(part.scope.names), list(part.scope.shape), np.array(part.values).ravel(), state_names=states)


def import_pgmpy(module: str) -> Any:
    """Import a module of pgmpy, or say how to install it."""
    try:
        return import_module(f"pgmpy.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pgmpy":
            raise
        raise MissingExtra("this needs pgmpy, which is not installed; run: pip install pgmpy") from None
