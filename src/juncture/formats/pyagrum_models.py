"""Networks of pyAgrum taken as they are, and networks for it: names, states, parents and numbers stay.

A `RangeVariable` or an `IntegerVariable` has whole numbers as its states, a `NumericalDiscreteVariable` numbers, a
`LabelizedVariable` texts, and a `DiscretizedVariable` the texts of its intervals, with its inner ticks as cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from juncture.data.tables.export import label_texts
from juncture.errors import MissingExtra, Unsupported
from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor, product_of
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork, to_factor
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.variables import Scope, Variable

WHOLE_NUMBERS, NUMBERS, INTERVALS = {"Range", "Integer"}, {"NumericalDiscrete"}, {"Discretized"}  # kinds of variables


def from_pyagrum(model: Any) -> BayesianNetwork | MarkovNetwork:
    """A network of pyAgrum.

    Parameters
    ----------
    model
        A `pyagrum.BayesNet` or a `pyagrum.MarkovRandomField`. Rows of a table that do not sum to 1 within 1e-9, as
        pyAgrum reads them from files of six digits, are divided by their sum, and a warning says so.

    Returns
    -------
    BayesianNetwork or MarkovNetwork

    Examples
    --------
    >>> import juncture as jt
    >>> import pyagrum as gum  # doctest: +SKIP
    >>> bn = gum.fastBN("rain{yes|no}->wet{yes|no}")  # doctest: +SKIP
    >>> jt.from_pyagrum(bn).variable("wet").states  # doctest: +SKIP
    ('yes', 'no')
    """
    kind = type(model).__name__
    if kind not in {"BayesNet", "MarkovRandomField"} or not hasattr(model, "variableFromName"):
        raise Unsupported(f"from_pyagrum takes a pyagrum.BayesNet or a pyagrum.MarkovRandomField; got {kind}")
    known = {model.variable(node).name(): read_variable(model.variable(node)) for node in sorted(model.nodes())}
    if kind == "MarkovRandomField":
        scopes = [sorted(nodes) for nodes in model.factors()]
        return MarkovNetwork([read_factor(model.factor(set(nodes)), known) for nodes in scopes], known.values())
    rows = RowRepair()
    parts = [read_table(model.cpt(name), known, rows) for name in known]
    rows.warn("the network of pyAgrum")
    return BayesianNetwork(parts)


def read_variable(variable: Any) -> Variable:
    """A variable of pyAgrum with its states."""
    name, labels, kind = variable.name(), list(variable.labels()), variable.stype()
    if kind in WHOLE_NUMBERS:
        return Variable(name, [int(label) for label in labels])
    if kind in NUMBERS:
        return Variable(name, [float(variable.numerical(code)) for code in range(len(labels))])
    if kind in INTERVALS and len(labels) > 1:
        return Variable(name, labels, cuts=variable.ticks()[1:-1])
    return Variable(name, labels)


def read_factor(tensor: Any, known: dict[str, Variable]) -> Factor:
    """A tensor, with an axis for each variable in the order of its names.

    It is multiplied by 1: what a noisy OR computes when it is asked is only then in memory.
    """
    gum = import_pyagrum()
    ones = gum.Tensor()
    for variable in tensor.variablesSequence():
        ones.add(variable)
    ones.fillWith(1.0)
    filled = ones * tensor
    names = list(filled.names)
    values = np.array(filled.toarray()).transpose()  # the first variable is its last axis
    return Factor([known[name] for name in names], values).reorder(*tensor.names)


def read_table(tensor: Any, known: dict[str, Variable], rows: RowRepair) -> Conditional:
    """A conditional table, whose first variable is the child."""
    child, *parents = (known[name] for name in tensor.names)
    factor = read_factor(tensor, known).reorder(*(parent.name for parent in parents), child.name)
    return Conditional(child, parents, rows.repair(child, factor.scope.without([child.name]), factor.values))


def to_pyagrum(model: BayesianNetwork | MarkovNetwork | FactorGraph) -> Any:
    """A model as a network of pyAgrum.

    States that are whole numbers in increasing order stay numbers, others become texts; cuts are not kept. Factors of a
    Markov network over the same variables become one.

    Parameters
    ----------
    model
        A Bayesian network of tables, or of conditionals that have one, a Markov network or a factor graph.

    Returns
    -------
    pyagrum.BayesNet or pyagrum.MarkovRandomField

    Examples
    --------
    >>> import juncture as jt
    >>> jt.to_pyagrum(jt.example("asia")).cpt("lung").names  # doctest: +SKIP
    ('lung', 'smoke')
    """
    gum = import_pyagrum()
    if isinstance(model, BayesianNetwork):
        bn, tables = gum.BayesNet(), {part.child.name: to_factor(part) for part in model.conditionals}
        for name in model.variables.names:
            bn.add(write_variable(gum, model.variable(name)))
        for part in model.conditionals:
            for parent in part.parents.names:
                bn.addArc(parent, part.child.name)
        for name, table in tables.items():
            tensor = bn.cpt(name)
            tensor.fillWith(numbers_for(table, tensor.names))
        return bn
    if isinstance(model, MarkovNetwork | FactorGraph):
        return write_field(gum, model)
    raise Unsupported(
        f"to_pyagrum takes a Bayesian network, a Markov network or a factor graph; got {type(model).__name__}"
    )


def write_field(gum: Any, model: MarkovNetwork | FactorGraph) -> Any:
    """A Markov network with one factor for each set of variables; one of no variable is multiplied into the first."""
    groups = dict[frozenset[str], list[Factor]]()
    for part in model.factors:
        if not hasattr(part, "values"):  # a factor of Gaussians
            raise Unsupported(f"{part!r} has no table, and pyAgrum's networks are of tables")
        groups.setdefault(frozenset(part.scope.names), []).append(part)
    numbers = groups.pop(frozenset(), [])
    if numbers and not groups:
        first = model.variables[:1]
        groups[frozenset(variable.name for variable in first)] = [Factor(first, np.ones(Scope(first).shape))]
    if numbers:
        groups[next(iter(groups))] += numbers
    variables = [write_variable(gum, variable) for variable in model.variables]
    field = gum.MarkovRandomField()
    for variable in variables:
        field.add(variable)
    for parts in groups.values():
        tensor = field.addFactor(list(parts[0].scope.names))
        tensor.fillWith(numbers_for(product_of(parts), tensor.names))
    return field


def numbers_for(table: Factor, names: Sequence[str]) -> list[float]:
    """The entries in the order of pyAgrum, where the first name changes fastest."""
    return [float(number) for number in table.reorder(*reversed(names)).values.ravel()]


def write_variable(gum: Any, variable: Variable) -> Any:
    """A variable of pyAgrum whose labels are the states."""
    if variable.is_real:
        raise Unsupported(f"{variable.name!r} is real-valued, and pyAgrum's networks are of variables with states")
    numbers = [label for label in variable.labels if type(label) is int]
    if len(numbers) == variable.num_states and numbers == sorted(numbers):
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            return gum.RangeVariable(variable.name, "", numbers[0], numbers[-1])
        return gum.IntegerVariable(variable.name, "", numbers)
    return gum.LabelizedVariable(variable.name, "", label_texts(variable))


def import_pyagrum() -> Any:
    """Import pyAgrum, or say how to install it."""
    try:
        return import_module("pyagrum")
    except ModuleNotFoundError:
        raise MissingExtra("this needs pyAgrum, which is not installed; run: pip install pyagrum") from None
