"""A joint table compared with a graph: the independencies that fail, factorisation, and faithfulness."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any, Literal

import numpy as np

from juncture.base.checks import check_number, shown
from juncture.errors import InvalidModel, TooLarge, Unsupported
from juncture.factors.factor import TOLERANCE, Factor, product_of
from juncture.factors.scope_tables import MAX_TABLE_CELLS
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.independence import Independence, pair_statements
from juncture.graphs.undirected import UndirectedGraph
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.variables import Model, Scope


def markov_violations(
    joint: Factor,
    graph: DirectedGraph | UndirectedGraph,
    property: Literal["local", "pairwise", "global"] = "global",  # noqa: A002  the word of the textbooks
    *,
    tolerance: float = TOLERANCE,
) -> tuple[Independence, ...]:
    """The independencies of the graph that fail in the table; none if the table has the Markov property.

    Parameters
    ----------
    joint
        A joint table, as a `Factor`.
    graph
        A directed or undirected graph over the variables of the table.
    property
        "local", "pairwise" or "global".
    tolerance
        A statement holds if p(a, b | given) and p(a | given) p(b | given) differ nowhere by more.

    Returns
    -------
    tuple of Independence

    Examples
    --------
    >>> import juncture as jt
    >>> x, y = jt.Variable("x", 2), jt.Variable("y", 2)
    >>> joint = jt.Factor([x, y], [[0.4, 0.1], [0.1, 0.4]])
    >>> jt.graphs.markov_violations(joint, jt.DirectedGraph([], nodes=["x", "y"]))
    (Independence('x ⫫ y'),)
    """
    check_table_and_graph(joint, graph, tolerance)
    kinds: dict[str, Callable[[], tuple[Independence, ...]]] = {
        "local": graph.local_independencies,
        "pairwise": graph.pairwise_independencies,
        "global": graph.independencies,
    }
    if not isinstance(property, str) or property not in kinds:
        raise InvalidModel(f"a Markov property is local, pairwise or global; got {shown(property)}")
    return tuple(item for item in kinds[property]() if not joint.is_independent(*item, tolerance=tolerance))


def factorizes(joint: Factor, graph: DirectedGraph | UndirectedGraph, *, tolerance: float = TOLERANCE) -> bool:
    """Whether the table factorises over the graph: into conditionals, or into factors over cliques.

    Parameters
    ----------
    joint
        A joint table, as a `Factor`.
    graph
        A directed or undirected graph over the same variables.
    tolerance
        The largest difference of an entry, as a probability, from the product.

    Returns
    -------
    bool

    Examples
    --------
    >>> import juncture as jt
    >>> x, y = jt.Variable("x", 2), jt.Variable("y", 2)
    >>> joint = jt.Factor([x, y], [[0.4, 0.1], [0.1, 0.4]])
    >>> jt.graphs.factorizes(joint, jt.DirectedGraph([], nodes=["x", "y"]))
    False
    >>> jt.graphs.factorizes(joint, jt.DirectedGraph([("x", "y")]))
    True
    """
    check_table_and_graph(joint, graph, tolerance)
    if set(graph.nodes) != set(joint.scope.names):
        raise InvalidModel(
            f"the table is over {', '.join(joint.scope.names)}, but the graph is over {', '.join(graph.nodes)}"
        )
    return product_exists(graph, joint.normalize(), tolerance)


def check_table_and_graph(joint: Any, graph: Any, tolerance: float) -> None:
    """Raise `Unsupported` unless these are a joint table and a directed or undirected graph."""
    check_number(tolerance, "tolerance", least=0)
    if not isinstance(joint, Factor):
        raise Unsupported(
            f"a joint table, a Factor, is compared with the graph; got {type(joint).__name__}: for a model take"
            " jt.infer(model).joint('a', 'b', …), with the names of its variables"
        )
    if not isinstance(graph, DirectedGraph | UndirectedGraph):
        raise Unsupported(
            f"a table is compared with a directed or undirected graph; got {type(graph).__name__}"
            f"{': for a model take .graph' if isinstance(graph, Model) else ''}"
        )


@singledispatch
def product_exists(graph: Any, joint: Factor, tolerance: float) -> bool:
    """Whether the product of the conditionals, one for each node of a directed graph, is the table."""
    product = product_of(BayesianNetwork.from_joint(joint, graph).factors)
    return bool(np.abs(product.reorder(*joint.scope.names).values - joint.values).max() <= tolerance)


@product_exists.register
def _(graph: UndirectedGraph, joint: Factor, tolerance: float) -> bool:
    """Factors are zero where their clique's margin is, and elsewhere their logarithms sum to log p.

    So a product allows every combination of states whose cliques can all occur: the table must too.
    """
    cliques = [[joint.scope.axis(name) for name in clique] for clique in graph.maximal_cliques()]
    is_positive = joint.log_values > -np.inf
    possible = np.ones(joint.scope.shape, dtype=bool)
    for axes in cliques:
        others = tuple(axis for axis in range(possible.ndim) if axis not in axes)
        possible &= is_positive.any(axis=others, keepdims=True)
    if not cliques or not is_positive[possible].all():
        return not cliques
    design = np.stack([column for axes in cliques for column in indicators(joint.scope, axes, possible)], axis=1)
    parameters = np.linalg.lstsq(design, joint.log_values[possible], rcond=None)[0]
    return bool(np.abs(np.exp(design @ parameters) - joint.values[possible]).max() <= tolerance)


def indicators(scope: Scope, axes: list[int], possible: np.ndarray) -> list[np.ndarray]:
    """For each combination of states of a clique a column that is 1 where it holds."""
    shape = [scope.shape[axis] for axis in axes]
    number = int(np.prod(shape))
    if number * possible.sum() > MAX_TABLE_CELLS:
        raise TooLarge(
            f"deciding whether a table of {possible.size:,} entries factorises over the graph would take more than "
            f"{MAX_TABLE_CELLS:,} numbers"
        )
    indices = np.ravel_multi_index(tuple(np.nonzero(possible)[axis] for axis in axes), shape)
    return [(indices == index).astype(float) for index in range(number)]


def faithfulness_violations(
    model: BayesianNetwork | MarkovNetwork, max_given: int | None = None, *, tolerance: float = TOLERANCE
) -> tuple[Independence, ...]:
    """The independencies of two variables that hold in the distribution of a model, but not in its graph.

    Parameters
    ----------
    model
        A Bayesian or a Markov network.
    max_given
        The largest number of given variables; by default any.
    tolerance
        As in `markov_violations`.

    Returns
    -------
    tuple of Independence

    Examples
    --------
    >>> import juncture as jt
    >>> x, y = jt.Variable("x", 2), jt.Variable("y", 2)
    >>> rows = [[0.5, 0.5], [0.5, 0.5]]  # y does not depend on x
    >>> model = jt.BayesianNetwork([jt.Conditional(x, [], [0.3, 0.7]), jt.Conditional(y, [x], rows)])
    >>> jt.graphs.faithfulness_violations(model)
    (Independence('x ⫫ y'),)
    """
    if not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise Unsupported(f"faithfulness is that of a model, whose graph it has; got {type(model).__name__}")
    joint = product_of(model.factors)
    statements = (
        item for item in pair_statements(model.variables.names, max_given) if not model.graph.is_separated(*item)
    )
    return tuple(item for item in statements if joint.is_independent(*item, tolerance=tolerance))
