"""`table_sensitivity`: how an answer changes with every entry of every table.

The probability of evidence is linear in each table entry. Its derivative is the sum of the products of all other
factors, which is the product of the messages to the clique that holds the table. Messages towards the root and back
give the derivatives of all tables at once, without division, so zero entries have derivatives too (Darwiche 2003).

`MessageTree` sends all messages of a junction tree in both directions. Its tables are dense, or list only the entries
that are not zero: a message then lists what the factors on its side allow.
"""

from __future__ import annotations

from contextlib import suppress
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.errors import ImpossibleEvidence, InvalidData, TooLarge, Unsupported
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.lowering import Lowered
from juncture.inference.exact.clique_messages import CliqueEdge, CliqueLayout, MessageTree
from juncture.inference.exact.junction_tree.choice import cells_of, has_many_zeros, structure_of
from juncture.inference.exact.junction_tree.plan import Structure, fits
from juncture.inference.exact.log_tables import DenseProducts, ListedProducts, LogFactor, sums_without_each
from juncture.kernels.elimination_orders.cliques import lower_parents
from juncture.kernels.junction_tree.layout import lay_out
from juncture.kernels.junction_tree.packing import assign_factors
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable
from juncture.runtime.memory import format_bytes
from juncture.variables import State

MANY_CELLS = 2**26  # of all cliques: from here on entries that are not zero are listed
LISTED_PART = 2**-6  # of all cells: a listed product has at most so many entries, which take longer than cells
MOST_LISTED = 2**23  # ... and no more than this, some hundred megabytes


def table_sensitivity(model: Network, evidence: Any, target: tuple[str, State] | None) -> dict[Any, np.ndarray]:
    """The derivative of p(target | evidence), or without target of log p(evidence), by each table entry."""
    names = table_names(model)
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("sensitivity takes one row of evidence; call it for each row")
    known = [LogFactor((node,), logs[0]) for node, logs in log_likelihoods(model, findings)]
    log_total, slopes = log_derivatives(model, known)
    if log_total == -np.inf:
        raise ImpossibleEvidence("the evidence has probability zero: there is nothing to differentiate")
    of_evidence = [derivative(slope - log_total, name) for slope, name in zip(slopes, names, strict=True)]
    if target is None:
        return dict(zip(names, of_evidence, strict=True))
    if not isinstance(target, tuple | list) or len(target) != 2:
        raise InvalidData(f"target is a pair of variable and state, like ('lung', 'yes'); got {target!r}")
    name, state = target
    node, variable = model.variables.names.index(model.variable(name).name), model.variable(name)
    chosen = LogFactor((node,), stable.log(np.eye(variable.num_states)[variable.code(state)]))
    log_joint, joint_slopes = log_derivatives(model, [*known, chosen])
    posterior = float(np.exp(log_joint - log_total))
    changes = [
        np.exp(joint_slope - log_total) - posterior * by_evidence
        for joint_slope, by_evidence in zip(joint_slopes, of_evidence, strict=True)
    ]
    return dict(zip(names, changes, strict=True))


def derivative(log_slopes: np.ndarray, name: Any) -> np.ndarray:
    """The derivatives by a table's entries from their logarithms; refused where no double holds one."""
    if log_slopes.max(initial=-np.inf) > stable.LOG_LARGEST:
        raise InvalidData(
            f"the derivative by an entry of table {name!r} is of the size exp({log_slopes.max():.6g}), which no double "
            "holds: that entry is too small for a derivative"
        )
    return np.asarray(np.exp(log_slopes))


@singledispatch
def table_names(model: Network) -> list[Any]:
    raise Unsupported(f"sensitivity takes a model of tables; got {type(model).__name__}")


@table_names.register
def _(model: BayesianNetwork) -> list[Any]:
    return list(model.variables.names)


@table_names.register
def _(model: FactorProduct) -> list[Any]:
    return list(range(len(model.factors)))


def log_likelihoods(model: Network, findings: Any) -> list[tuple[int, np.ndarray]]:
    """(node, log-likelihood of its states as (row, state)) for every variable of which something is known."""
    found = ((node, findings.log_likelihood(name)) for node, name in enumerate(model.variables.names))
    return [(node, logs) for node, logs in found if logs is not None]


def log_derivatives(model: Network, known: list[LogFactor]) -> tuple[float, list[np.ndarray]]:
    """(log of the total, log of its derivative by each entry of each factor).

    Tables are dense, unless cliques are large and factors have zeros: then the entries that are not zero are listed, if
    there are not too many.
    """
    lowered = Lowered(model.variables, (), model.factors)
    structure = structure_of(model, lowered)
    scopes, all_cells = lowered.scopes, cells_of(structure.tree)
    tables = [LogFactor(tuple(scope), part.log_values) for scope, part in zip(scopes, model.factors, strict=True)]
    if all_cells >= MANY_CELLS and has_many_zeros(model.factors):
        products = ListedProducts(structure.num_states.tolist(), min(MOST_LISTED, LISTED_PART * all_cells))
        with suppress(TooLarge):
            return derivatives_from(MessageTree.of(layout_of(structure), tables, known, products))
    check_all_cells(structure.tree.cost)
    dense = DenseProducts(structure.num_states)
    return derivatives_from(MessageTree.of(layout_of(structure), tables, known, dense))


def check_all_cells(cost: Cost) -> None:
    if not fits(cost, None):
        raise TooLarge(
            f"sensitivity would take {format_bytes(cost.bytes)} and {cost.operations:.2g} operations on tables of all"
            f" joint states, the largest of {cost.largest_table:,.3g} entries: change an entry by hand, and compare the"
            " answers of infer"
        )


def derivatives_from(tree: MessageTree) -> tuple[float, list[np.ndarray]]:
    constants = {index: float(table.logs) for index, table in enumerate(tree.factors) if not table.nodes}
    log_constant, beside = float(sum(constants.values())), sums_without_each(np.array([*constants.values()])).tolist()
    slopes = {index: np.asarray(tree.log_total + rest) for index, rest in zip(constants, beside, strict=True)}
    for clique, indices in enumerate(tree.held):
        scale = log_constant + tree.log_beside[clique]
        slopes |= {index: slope + scale for index, slope in zip(indices, tree.derivatives(clique), strict=True)}
    return tree.log_total + log_constant, [slopes[index] for index in range(len(tree.factors))]


def layout_of(structure: Structure) -> CliqueLayout:
    """The junction tree of a structure, each clique below a small one where it can be."""
    tree, states = structure.tree, structure.num_states
    parents = lower_parents(tree.starts, tree.nodes, tree.parents, states)
    nodes, shared = lay_out(tree.starts, tree.nodes, parents, len(states))
    axes = [tuple(nodes[a:b].tolist()) for a, b in zip(tree.starts, tree.starts[1:], strict=False)]
    edges = [
        CliqueEdge(clique, parent if parent >= 0 else None, axes[clique][:count])
        for clique, (parent, count) in enumerate(zip(parents.tolist(), shared.tolist(), strict=True))
    ]
    cliques = assign_factors(tree.order, tree.node_cliques, structure.scope_starts, structure.scope_nodes)
    return CliqueLayout(axes, edges, cliques.tolist(), tree.node_cliques.tolist())
