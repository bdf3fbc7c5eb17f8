"""`ising` and `potts`: models of spins and labels on a grid or a graph, from couplings and fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_kind, check_number, check_tuples, is_iterable, shown
from juncture.base.values import read_only
from juncture.errors import InvalidModel, UnknownVariable, Unsupported
from juncture.graphs.undirected import UndirectedGraph
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.networks.pairwise.nodes import GridNames, check_shape, grid_edges
from juncture.numerics.stable import as_logs

Values = tuple[int, int]


def ising(graph: Any, coupling: Any, field: Any = 0.0, *, values: Values = (-1, 1)) -> PairwiseNetwork:
    """The Ising model p(x) ∝ exp(Σ_ij w_ij x_i x_j + Σ_i h_i x_i), whose nodes are in one of two states.

    The energy is E(x) = -Σ_ij w_ij x_i x_j - Σ_i h_i x_i. With x in {-1, 1}, equal neighbours lower it where w > 0
    (ferromagnetic) and raise it where w < 0 (antiferromagnetic). With x in {0, 1} a coupling counts where both are 1.

    Parameters
    ----------
    graph
        The shape of a grid, such as (height, width), whose nodes "x0_0", "x0_1", … are joined to the nodes next to
        them; or an `UndirectedGraph`.
    coupling
        w: a number; an array with one number for each edge, in the order of `model.edges` (of a grid: all edges along
        the last axis first); or a mapping from pairs of names to numbers, for all edges.
    field
        h: a number, an array of the grid's shape (of a graph: in the order of its nodes), or a mapping from names to
        numbers, 0 for the others.
    values
        (-1, 1) or (0, 1): the two states, and the numbers x in the formula.

    Returns
    -------
    PairwiseNetwork

    Examples
    --------
    >>> import juncture as jt
    >>> pair = jt.ising((1, 2), coupling=1.0)
    >>> beliefs = jt.infer(pair)
    >>> joint = beliefs.joint("x0_0", "x0_1")
    >>> round(joint[1, 1] + joint[-1, -1], 4), round(float(np.exp(beliefs.log_evidence)), 4)
    (0.8808, 6.1723)
    >>> jt.ising((1000, 1000), coupling=0.4, values=(0, 1))
    PairwiseNetwork(1000 × 1000 nodes, 2 states, 1,998,000 edges)
    """
    numbers = np.array(check_values(values), dtype=float)
    frame = as_frame(graph)
    weights = as_couplings(coupling, frame)
    fields = as_fields(field, frame)
    return frame.network(
        fields[:, np.newaxis] * numbers,
        weights[:, np.newaxis, np.newaxis] * np.outer(numbers, numbers),
        tuple(int(number) for number in numbers),
    )


def potts(graph: Any, num_states: int, coupling: Any, field: Any = None) -> PairwiseNetwork:
    """The Potts model p(x) ∝ exp(Σ_ij w_ij [x_i = x_j] + Σ_i h_i(x_i)), whose nodes are in one of `num_states` states.

    The energy is E(x) = -Σ_ij w_ij [x_i = x_j] - Σ_i h_i(x_i): equal neighbours lower it where w > 0.

    Parameters
    ----------
    graph, coupling
        As in `ising`.
    num_states
        The number of states, which are 0, 1, ….
    field
        h: (state,), the same for all nodes; or (*shape, state), of a graph (node, state); None for 0.

    Returns
    -------
    PairwiseNetwork

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.potts((1, 2), num_states=3, coupling=1.0)
    >>> round(float(np.exp(jt.infer(model).log_evidence)), 4)  # 3 e + 6
    14.1548
    """
    size = check_count(num_states, "num_states", least=1, error=InvalidModel)
    frame = as_frame(graph)
    weights = as_couplings(coupling, frame)
    unary = np.zeros((frame.num_nodes, size))
    if field is not None:
        given = check_array(field, "field", error=InvalidModel)
        if given.shape not in {(size,), (*frame.shape, size), (frame.num_nodes, size)}:
            raise InvalidModel(
                f"field must have the shape {(size,)}, or {(*frame.shape, size)} for each node; got {given.shape}"
            )
        unary = unary + given.reshape(-1, size)
    return frame.network(unary, weights[:, np.newaxis, np.newaxis] * np.eye(size), tuple(range(size)))


class Frame(NamedTuple):
    """The nodes and edges of a model."""

    shape: tuple[int, ...]
    names: tuple[str, ...]
    edges: np.ndarray

    @property
    def num_nodes(self) -> int:
        return len(self.names)

    def network(self, unary: np.ndarray, pairwise: np.ndarray, states: tuple[int, ...]) -> PairwiseNetwork:
        return PairwiseNetwork.of_arrays(
            log_unary=as_logs(unary, unary.shape, name="field"),
            edges=self.edges,
            log_pairwise=as_logs(pairwise, pairwise.shape, name="coupling"),
            states=states,
            names=self.names,
            shape=self.shape,
        )


def as_frame(graph: Any) -> Frame:
    """The nodes and edges of a grid, given by its shape, or of a graph."""
    if isinstance(graph, tuple | list):
        shape = check_shape(graph)
        return Frame(shape, GridNames(shape), read_only(grid_edges(shape)))
    check_kind(graph, UndirectedGraph, "the graph (or the shape of a grid)", error=InvalidModel)
    nodes = {name: node for node, name in enumerate(graph.nodes)}
    pairs = [(nodes[one], nodes[other]) for one, other in graph.edges]
    return Frame((len(nodes),), graph.nodes, read_only(np.array(pairs, dtype=np.int64).reshape(-1, 2)))


def as_couplings(coupling: Any, frame: Frame) -> np.ndarray:
    """(1,) for all edges, or (edge,)."""
    if isinstance(coupling, Mapping):
        return couplings_by_name(coupling, frame)
    given = check_array(coupling, "coupling", error=InvalidModel)
    if given.ndim == 0:
        return np.array([check_number(coupling, "coupling", finite=True, error=InvalidModel)])
    if given.ndim != 1 or len(given) != len(frame.edges):
        raise InvalidModel(f"there are {len(frame.edges)} edges and {len(given)} couplings; give each edge its own")
    return given


def couplings_by_name(coupling: Mapping[Any, Any], frame: Frame) -> np.ndarray:
    """(edge,): a mapping from pairs of names, in either order, must have all edges and no others."""
    pairs = check_tuples(coupling, 2, "the keys of coupling, pairs of names,", error=InvalidModel)
    given = zip(pairs, coupling.values(), strict=True)
    numbers = {frozenset(pair): check_number(number, f"the coupling of {pair!r}") for pair, number in given}
    names = [(frame.names[one], frame.names[other]) for one, other in frame.edges.tolist()]
    missing = next((pair for pair in names if frozenset(pair) not in numbers), None)
    if missing is not None:
        raise InvalidModel(f"coupling has no number for the edge {missing!r}; give every edge one")
    strange = next(iter(numbers.keys() - set(map(frozenset, names))), None)
    if strange is not None:
        raise InvalidModel(f"coupling names {tuple(sorted(map(str, strange)))}, which is no edge of the graph")
    return np.array([numbers[frozenset(pair)] for pair in names], dtype=float)


def as_fields(field: Any, frame: Frame) -> np.ndarray:
    """The field of each node, (node,)."""
    if isinstance(field, Mapping):
        fields = np.zeros(frame.num_nodes)
        for name, number in field.items():
            if name not in frame.names:
                raise UnknownVariable.among(name, frame.names[:6])
            fields[frame.names.index(name)] = check_number(number, f"the field of {name!r}")
        return fields
    given = check_array(field, "field", error=InvalidModel)
    if given.ndim == 0:
        return np.full(frame.num_nodes, check_number(field, "field", finite=True, error=InvalidModel))
    if given.shape not in {frame.shape, (frame.num_nodes,)}:
        raise InvalidModel(f"field must be a number, or an array of the shape {frame.shape}; got {given.shape}")
    return given.ravel()


def check_values(values: Any) -> Values:
    listed = list(values) if is_iterable(values) else []
    for known in ((-1, 1), (0, 1)):
        if len(listed) == 2 and all(np.ndim(one) == 0 and one == two for one, two in zip(listed, known, strict=True)):
            return known
    raise InvalidModel(f"values must be (-1, 1) or (0, 1); got {shown(values)}")


class IsingParameters(NamedTuple):
    """log_joint(x) = constant + Σ_ij w_ij x_i x_j + Σ_i h_i x_i, with x in `values`."""

    coupling: np.ndarray  # (edge,)
    field: np.ndarray  # (node,)
    constant: float
    values: Values

    @property
    def kind(self) -> str:
        """How neighbours prefer to be, for x in (-1, 1) or (0, 1)."""
        signs = set(np.sign(self.coupling).tolist())
        names = {1.0: "ferromagnetic", -1.0: "antiferromagnetic", 0.0: "non-interacting"}
        return names[signs.pop()] if len(signs) == 1 else "mixed" if signs else "non-interacting"


def ising_parameters(model: PairwiseNetwork, values: Values = (-1, 1)) -> IsingParameters:
    """The couplings and the field of any model of two states, with x in (-1, 1) or (0, 1).

    Every table over two binary nodes is exp(c + h_i x_i + h_j x_j + w x_i x_j): the distribution is the same in both
    conventions, and `constant` is what log Z changes by.

    Parameters
    ----------
    model
        A `PairwiseNetwork` of two states without zeros.
    values
        What x is in the formula, whatever the labels of the states are.

    Returns
    -------
    IsingParameters
        The `coupling` of each edge, the `field` of each node, and the `constant`.

    Examples
    --------
    >>> model = ising((1, 2), coupling=4.0, values=(0, 1))
    >>> same = ising_parameters(model, values=(-1, 1))
    >>> same.coupling, same.field, same.constant
    (array([1.]), array([1., 1.]), 1.0)
    """
    low, high = check_values(values)
    check_binary(model, "ising_parameters")
    span, unary = high - low, model.log_unary
    tables = np.broadcast_to(model.log_pairwise, (model.num_edges, 2, 2))
    coupling = (tables[:, 1, 1] - tables[:, 1, 0] - tables[:, 0, 1] + tables[:, 0, 0]) / span**2
    tail = (tables[:, 1, 0] - tables[:, 0, 0]) / span - coupling * low
    head = (tables[:, 0, 1] - tables[:, 0, 0]) / span - coupling * low
    alone = (unary[:, 1] - unary[:, 0]) / span
    field = alone + sum_at_nodes(model, tail, head)
    constant = (unary[:, 0] - alone * low).sum() + (tables[:, 0, 0] - (tail + head) * low - coupling * low**2).sum()
    return IsingParameters(coupling, field, float(constant), (low, high))


def sum_at_nodes(model: PairwiseNetwork, tails: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """(node,): the sums of numbers of the first and second ends of all edges."""
    tail, head = (np.bincount(model.edges[:, end], part, model.num_nodes) for end, part in enumerate((tails, heads)))
    return tail + head


def check_binary(model: object, what: str) -> None:
    """Raise `Unsupported` for a model that is no array model of two states, or that forbids some."""
    if not isinstance(model, PairwiseNetwork) or model.num_states != 2:
        raise Unsupported(f"{what} takes a PairwiseNetwork of two states, such as ising(...); got {model!r}")
    if np.isneginf(model.log_unary).any() or np.isneginf(model.log_pairwise).any():
        raise Unsupported(f"{what} takes a model without zeros; this one forbids some states")
