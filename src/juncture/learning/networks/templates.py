"""The structure to learn, as a network whose conditionals have their kind, and the rows coded by its variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.base.options import as_names, check_names
from juncture.data.dataset import Dataset, as_table
from juncture.data.sources.contract import RowSource
from juncture.data.sources.entries import as_lazy_source, with_kinds
from juncture.data.tables.coding import mark_missing, split_weights
from juncture.data.tables.columns import no_cells
from juncture.errors import InvalidData, UnknownVariable, Unsupported, hint
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.gaussian import LinearGaussian
from juncture.factors.logistic import Logistic
from juncture.factors.scope_tables import check_table_size
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.learning.options import DeclaredColumns
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Scope, Variable


@singledispatch
def prepare(
    structure: Any,
    data: Any,
    variables: Iterable[Variable] | None = None,
    latent: Iterable[str] = (),
    weights: Any = None,
) -> tuple[Any, Dataset]:
    """The network whose parameters are learned, and the data coded by its variables, without latent ones."""
    raise Unsupported(
        f"parameters are learned for a BayesianNetwork or a DirectedGraph; got {type(structure).__name__}"
        f"{': take a graph of it, consistent_extension()' if isinstance(structure, PartiallyDirectedGraph) else ''}"
    )


@prepare.register(BayesianNetwork)
def prepare_model(
    structure: Any,
    data: Any,
    variables: Iterable[Variable] | None = None,
    latent: Iterable[str] = (),
    weights: Any = None,
) -> tuple[Any, Dataset]:
    """A model as it is, and the data coded by its variables, without latent ones."""
    declared = Scope(() if variables is None else variables)
    hidden = {structure.variable(name).name for name in as_names(latent, "latent")}
    for variable in declared:
        if structure.variable(variable.name) != variable:
            raise InvalidData(f"the variable {variable.name!r} is declared with other states than the model has")
    dataset = code_data(data, structure.variables.without(hidden), weights)
    check_columns(structure.variables.names, dataset, {*declared.names, *hidden}, data)
    return structure, dataset


@prepare.register
def _(
    structure: DirectedGraph,
    data: Any,
    variables: Iterable[Variable] | None = None,
    latent: Iterable[str] = (),
    weights: Any = None,
) -> tuple[BayesianNetwork, Dataset]:
    declared, hidden = Scope(() if variables is None else variables), set(check_names(latent, "latent"))
    for name in (*declared.names, *hidden):
        if not isinstance(name, str) or name not in structure.nodes:
            raise UnknownVariable(f"the graph has no node {name!r}; {hint(name, structure.nodes)}")
    if missing := sorted(hidden - set(declared.names)):
        raise InvalidData(f"the states of the latent {missing[0]!r} are not known: declare it in variables=[…]")
    dataset = code_columns(data, set(structure.nodes) - hidden, declared, weights)
    check_columns(tuple(structure.nodes), dataset, {*declared.names, *hidden}, data)
    known = {variable.name: variable for variable in (*dataset.variables, *declared)}
    return build_template(structure, known), dataset


def say_kinds(structure: Any, data: Any, options: DeclaredColumns) -> Any:
    """The data with the kinds of the columns that options name, which the variables of a model have already."""
    if all(isinstance(names, list | tuple) and not names for names in (options.real, options.states)):
        return data
    if not isinstance(structure, DirectedGraph):
        raise InvalidData("real=[…] and states=[…] are for a graph: the variables of a model have their kinds")
    return with_kinds(data, options.real, options.states, () if options.declared is None else options.declared.names)


def prepare_rows(
    structure: Any,
    data: Any,
    variables: Iterable[Variable] | None = None,
    latent: Iterable[str] = (),
    weights: Any = None,
    missing: Any = None,
) -> tuple[Any, Any]:
    """What `prepare` gives; the rows of a source stay where they are. The cells that `missing` marks are holes."""
    declared = None if variables is None else Scope(variables)
    prepare_any = prepare_model if isinstance(structure, FactorProduct) else prepare
    source = as_lazy_source(data, columns_of(structure, declared, data), missing, weights)
    if source is None:
        rows = data if missing is None else mark_rows(data, declared, missing)
        return prepare_any(structure, rows, declared, latent, weights)
    template, used = prepare_any(structure, empty_rows(structure, source, declared, weights), declared, latent)
    return template, source.coded(used.variables, weights)


def columns_of(structure: Any, declared: Scope | None, data: Any) -> Scope | None:
    """The variables that code a source before any row is read; None where the rows must say their states first.

    They are known where all are declared, and must be for an iterator, which can be read once. Never only some of them:
    a source that is coded by some of the variables has no other columns.
    """
    is_model = isinstance(structure, BayesianNetwork | FactorProduct)
    if isinstance(data, Iterator):
        return structure.variables if is_model else declared
    names = structure.variables.names if is_model else getattr(structure, "nodes", ())
    return declared if declared is not None and set(names) <= set(declared.names) else None


def mark_rows(data: Any, declared: Scope | None, missing: Any) -> Any:
    if isinstance(data, Dataset):  # which keeps its weights
        return Dataset(data, missing=missing)
    return mark_missing(as_table(data, None if declared is None else declared.names), missing)


def empty_rows(structure: Any, source: RowSource, declared: Scope | None, weights: str | None) -> Dataset:
    """No rows of the columns of a source; only where a graph declares no states does a pass over the rows find them."""
    names = [name for name in source.names if name != weights]
    known = {variable.name: variable for variable in (*getattr(structure, "variables", ()), *(declared or ()))}
    nodes = set(getattr(structure, "nodes", ()))
    found = source.only(name for name in names if name in nodes and name not in known).variables
    known |= {variable.name: variable for variable in found}
    columns = [known.get(name, Variable(name)) for name in names]  # others serve only as hints for misspelt names
    return Dataset.from_codes(columns, {column.name: no_cells(column) for column in columns})


def code_data(data: Any, variables: Scope, weights: Any = None) -> Dataset:
    """The data coded by these variables; columns that are coded so already are shared, not copied."""
    if isinstance(data, Dataset) and weights is None:
        mine = {variable.name: variable for variable in data.variables}
        if all(mine.get(variable.name, variable) == variable for variable in variables):
            return data.only(name for name in variables.names if name in mine)
    return Dataset(data, variables=variables, weights=weights, extra="ignore")


def code_columns(data: Any, names: set[str], declared: Scope, weights: Any = None) -> Dataset:
    """The columns of these names: with declared states where there are, with their own otherwise."""
    if weights is None and isinstance(data, Dataset):
        weights = data.weights
    table, weights = split_weights(as_table(data, declared.names or None), weights)
    kept = [name for name in table.cells if name in names]
    own = Dataset(table.only(name for name in kept if name not in declared.names))
    known = {variable.name: variable for variable in (*own.variables, *declared)}
    cells: Any = own if len(own.columns) == len(kept) else table.only(kept)  # columns that are coded already are shared
    return Dataset(cells, variables=[known[name] for name in kept], weights=weights)


def check_fixed(structure: Any, fixed: Iterable[str]) -> None:
    """Check that a graph, which has no conditionals, comes without `fixed`."""
    if isinstance(structure, DirectedGraph) and (names := as_names(fixed, "fixed")):
        raise InvalidData(
            f"fixed={names} keeps conditionals as they are, but a graph has none: give a BayesianNetwork that has them"
        )


def check_columns(names: tuple[str, ...], used: Dataset, latent: set[str], data: Any) -> None:
    for name in names:
        if name not in used.columns and name not in latent:
            given = as_table(
                data, list(used.columns) or None
            ).cells  # also the columns that were ignored, perhaps misspelt
            raise UnknownVariable(
                f"the data have no column {name!r}; {hint(name, given)}"
                f" (a variable that is never observed goes into latent=[{name!r}], for a graph into variables=[…])"
            )


def build_template(graph: DirectedGraph, variables: dict[str, Variable]) -> BayesianNetwork:
    """A network on the graph: tables between states, linear Gaussians for real children, logistic for real parents."""
    return BayesianNetwork(
        blank_conditional(variables[name], Scope(variables[parent] for parent in graph.parents(name)))
        for name in graph.nodes
    )


def blank_conditional(child: Variable, parents: Scope) -> AnyConditional:
    """A conditional of the kind that fits the variables, with uniform or zero parameters."""
    if child.is_real:
        shape = Scope(parent for parent in parents if not parent.is_real).shape
        num_real = sum(parent.is_real for parent in parents)
        return LinearGaussian(child, parents, np.zeros((*shape, num_real)), np.zeros(shape), np.ones(shape))
    if any(parent.is_real for parent in parents):
        states = () if child.num_states == 2 else (child.num_states,)
        return Logistic(child, parents, np.zeros((*states, len(parents))), np.zeros(states))
    shape = check_table_size(Scope((*parents, child)), f"the table of {child.name!r}").shape
    return Conditional(child, parents, np.full(shape, 1.0 / child.num_states))


def with_conditionals(template: BayesianNetwork, parts: Iterable[AnyConditional]) -> BayesianNetwork:
    """The template with other conditionals; tied tables and lines get the numbers of the first of their group."""
    made = {part.child.name: part for part in parts}
    for group in template.tied:
        first = made[group[0]]
        if isinstance(first, Conditional):
            made.update({n: Conditional(made[n].child, made[n].parents, first.values) for n in group})
        elif isinstance(first, LinearGaussian):
            numbers = first.coefficients, first.intercept, first.variance
            made.update({n: LinearGaussian(made[n].child, made[n].parents, *numbers) for n in group})
    return BayesianNetwork.trusted(template, made.values())
