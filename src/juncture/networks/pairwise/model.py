"""`PairwiseNetwork`: p(x) ∝ exp(Σ nodes + Σ edges) as arrays: a grid of a million nodes is an ordinary model."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_array, check_flag
from juncture.base.values import content_key, format_count, number_of, read_only
from juncture.errors import InvalidData, InvalidModel, TooLarge
from juncture.factors.conditional import Columns
from juncture.factors.factor import Factor
from juncture.graphs.undirected import UndirectedGraph
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork, check_complete_row
from juncture.networks.marginalization import check_elimination_order
from juncture.networks.pairwise.nodes import (
    NodeScope,
    check_edges,
    check_names,
    check_pairwise,
    check_shape,
    grid_edges,
)
from juncture.numerics.stable import as_logs
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    from juncture.drawing.diagram import Diagram

MAX_DRAWN = 20_000  # edges of a picture
MAX_READ = 36  # nodes whose answers are shown one by one


class PairwiseNetwork(FactorProduct):
    """p(x) ∝ exp(Σ_i a_i(x_i) + Σ_ij b_ij(x_i, x_j)): nodes that all have the same states, and edges between them.

    The energy is minus the exponent: E(x) = -Σ_i a_i(x_i) - Σ_ij b_ij(x_i, x_j), so that p(x) ∝ exp(-E(x)).
    `ising` and `potts` build such models. Engines see the arrays; `variables` and `factors` are made when they are
    asked for.

    Parameters
    ----------
    log_unary
        (node, state), or (*shape, state) with `shape`: the log-potential of each state of each node; -inf forbids it.
    edges
        (edge, 2): pairs of positions of nodes.
    log_pairwise
        (state, state), one table for all edges, or (edge, state, state): the log-potentials of the edges.
    states
        The labels of the states, which are 0, 1, … if they are left out.
    names
        The names of the nodes; of a grid they are "x0_0", "x0_1", …, otherwise "x0", "x1", … if they are left out.
    shape
        The shape of a grid, such as (height, width); the nodes follow it row by row.

    Examples
    --------
    >>> model = PairwiseNetwork(np.zeros((3, 2)), [[0, 1], [1, 2]], [[1.0, 0.0], [0.0, 1.0]], names=["a", "b", "c"])
    >>> model.log_joint([0, 0, 1]), model.energy([0, 0, 0])
    (1.0, -2.0)
    """

    _fields = ("log_unary", "edges", "log_pairwise", "states", "names", "shape", "elimination_order")
    kind: ClassVar[str] = "pairwise Markov network"
    log_unary: np.ndarray  # (node, state)
    edges: np.ndarray  # (edge, 2)
    log_pairwise: np.ndarray  # (1, state, state) for all edges, or (edge, state, state)
    states: tuple[State, ...]
    names: tuple[str, ...]
    shape: tuple[int, ...]  # of the array of all nodes

    def __init__(
        self,
        log_unary: Any,
        edges: Any,
        log_pairwise: Any,
        *,
        states: Iterable[State] | None = None,
        names: Iterable[str] | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        unary = check_array(log_unary, "log_unary", error=InvalidModel)
        if unary.ndim < 2:
            raise InvalidModel(f"log_unary has an axis for the nodes and one for the states; got {unary.ndim} axes")
        num_states = unary.shape[-1]
        nodes = unary.shape[:-1] if shape is None else check_shape(shape, least=0)
        rows = unary.reshape(math.prod(unary.shape[:-1]), num_states)
        flat = as_logs(rows, (math.prod(nodes), num_states), name="log_unary")
        labels = Variable("x", num_states if states is None else states).labels
        if len(labels) != num_states:
            raise InvalidModel(f"log_unary has {num_states} states in its last axis; there are {len(labels)} labels")
        pairs = check_edges(edges, len(flat))
        self._set(
            log_unary=flat,
            edges=pairs,
            log_pairwise=check_pairwise(log_pairwise, len(pairs), num_states),
            states=labels,
            names=check_names(names, nodes),
            shape=nodes,
            elimination_order=(),
        )

    @classmethod
    def of_arrays(cls, **fields: Any) -> Self:
        """A model from fields that were checked before."""
        model = cls.__new__(cls)
        model._set(elimination_order=(), **fields)
        return model

    plates = ()

    @property
    def num_nodes(self) -> int:
        return len(self.log_unary)

    @property
    def num_states(self) -> int:
        return len(self.states)

    @property
    def num_edges(self) -> int:
        return len(self.edges)

    @property
    def is_image(self) -> bool:
        """Whether answers are shown as an image: a grid of two axes, with too many nodes to read them one by one."""
        return len(self.shape) == 2 and min(self.shape) > 1 and self.num_nodes > MAX_READ

    @cached_property
    def least_width(self) -> int:
        """A lower bound of the width of every junction tree: the shorter side of a grid that has all its edges."""
        is_cut = np.isneginf(self.log_unary).any() or np.isneginf(self.log_pairwise).any()
        is_grid = not is_cut and np.array_equal(self.edges, grid_edges(self.shape))
        return sorted(self.shape)[-2] if is_grid and len(self.shape) > 1 else 0

    @property
    def has_unary(self) -> bool:
        """Whether a node prefers a state; without, the model has no factors of single nodes."""
        return bool(self.log_unary.any())

    @cached_property
    def variables(self) -> Scope:  # type: ignore[override]
        return NodeScope(self.names, self.states)

    @cached_property
    def num_parameters(self) -> int:
        """The number of free parameters: of each node, and of each pair of neighbours."""
        pairs = np.unique(np.sort(self.edges, axis=1), axis=0) if self.num_edges else self.edges
        free, used = self.num_states - 1, self.num_nodes if self.has_unary else len(np.unique(self.edges))
        return int(used * free + len(pairs) * free**2)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:  # type: ignore[override]
        """A factor for each node, unless all are constant, then one for each edge."""
        scope = tuple(self.variables)
        singles = (
            [make_factor([scope[node]], logs) for node, logs in enumerate(self.log_unary)] if self.has_unary else []
        )
        shared = np.broadcast_to(self.log_pairwise, (self.num_edges, self.num_states, self.num_states))
        tails_heads = self.edges.tolist()
        pairs = (make_factor([scope[i], scope[j]], logs) for (i, j), logs in zip(tails_heads, shared, strict=True))
        return (*singles, *pairs)

    @classmethod
    def trusted(cls, like: FactorProduct, factors: Iterable[Factor]) -> Any:
        """Other tables over the same scopes are a `MarkovNetwork`."""
        return MarkovNetwork.trusted(like, factors)

    def with_elimination_order(self, order: Iterable[str]) -> Self:
        """The same model with an order for exact inference, which JSON files keep; () forgets the order."""
        return self._replace(elimination_order=check_elimination_order(order, self.variables))

    def add_log_likelihoods(self, log_likelihoods: Any) -> Self:
        """p(x) Π_i p(y_i | x_i): the model with further log-potentials (*shape, state) of its nodes."""
        further = check_array(log_likelihoods, "log_likelihoods")
        if further.shape not in {self.log_unary.shape, (*self.shape, self.num_states)}:
            raise InvalidData(
                f"log_likelihoods must have the shape {(*self.shape, self.num_states)}, a number for each state of each"
                f" node; got {further.shape}"
            )
        total = self.log_unary + further.reshape(self.log_unary.shape)
        return self._replace(log_unary=as_logs(total, total.shape, name="log_unary"))

    def clamp(self, values: Any) -> Self:
        """The model given the states of some nodes, an array of the model's shape; NaN and masked entries are unknown.

        An unknown entry of an array of integers is -1, where that is no state.
        """
        codes = self.encode(values, holes=True)
        excluded = (codes >= 0)[:, np.newaxis] & (codes[:, np.newaxis] != np.arange(self.num_states))
        return self._replace(log_unary=read_only(np.where(excluded, -np.inf, self.log_unary)))

    def encode(self, values: Any, *, holes: bool = False) -> np.ndarray:
        """(…, node): the codes of labels (…, *shape); -1 for a hole, where holes are allowed."""
        holes = check_flag(holes, "holes")
        try:
            given = np.ma.asarray(values)
        except ValueError:  # a ragged list
            given = np.ma.empty(())
        ndim = len(self.shape)
        if given.shape[given.ndim - ndim :] != self.shape or (holes and given.ndim != ndim):
            raise InvalidData(f"the states of all nodes have the shape {self.shape}; got {given.shape}")
        labels, positions = np.unique(given.data, return_inverse=True)
        variable = Variable("x", self.states)
        codes = np.array([find_code(variable, label, holes) for label in labels.tolist()], dtype=np.int64)
        coded = codes[positions].reshape(given.shape)
        if holes:
            coded = np.where(np.ma.getmaskarray(given), -1, coded)
        return coded.reshape(*given.shape[: given.ndim - ndim], self.num_nodes)

    def decode(self, codes: np.ndarray) -> np.ndarray:
        """(…, *shape): the labels of codes (…, node)."""
        return np.asarray(self.states)[codes].reshape(*codes.shape[:-1], *self.shape)

    def log_joint(self, assignment: Any) -> Any:
        """Log of the product of all factors, which is minus the energy; log Z is not subtracted.

        Of a mapping from all names to states it is a number, as of an array of the model's shape; of an array with
        further axes in front it is an array.
        """
        if isinstance(assignment, Mapping):
            return float(self.log_joint_of(check_complete_row(assignment, self.variables))[0])
        logs = self.log_joint_of_codes(self.encode(assignment))
        return float(logs) if logs.ndim == 0 else logs

    def energy(self, assignment: Any) -> Any:
        """E(x) = -log_joint(x): low where the model is probable."""
        return -self.log_joint(assignment)

    def log_joint_of(self, columns: Columns) -> np.ndarray:
        codes = np.stack([columns[name] for name in self.names], axis=-1) if self.names else np.zeros((1, 0), int)
        return self.log_joint_of_codes(codes)

    def log_joint_of_codes(self, codes: np.ndarray) -> np.ndarray:
        """`log_joint` of codes (…, node)."""
        unary = self.log_unary[np.arange(self.num_nodes), codes].sum(axis=-1)
        tables = 0 if len(self.log_pairwise) == 1 else np.arange(self.num_edges)
        pairs = self.log_pairwise[tables, codes[..., self.edges[:, 0]], codes[..., self.edges[:, 1]]]
        return np.asarray(unary + pairs.sum(axis=-1))

    @cached_property
    def graph(self) -> UndirectedGraph:
        names = self.names
        return UndirectedGraph([(names[i], names[j]) for i, j in self.edges.tolist()], nodes=names)

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution as a list of factors."""
        return MarkovNetwork(self.factors, self.variables)

    def to_factor_graph(self) -> FactorGraph:
        return FactorGraph(self.factors, self.variables)

    def merge(self, *indices: int) -> Any:
        return self.to_markov_network().merge(*indices)

    def marginalize(self, *names: str) -> MarkovNetwork:
        """The distribution of the other nodes."""
        return self.to_markov_network().marginalize(*names)

    def to_diagram(self) -> Diagram:
        if self.num_edges > MAX_DRAWN:
            raise TooLarge(
                f"a picture of {format_count(self.num_edges)} edges would not be readable; the limit is {MAX_DRAWN:,}:"
                " draw a smaller model, or show the array of an answer as an image"
            )
        return self.to_markov_network().to_diagram()

    def _replace(self, **fields: Any) -> Self:
        kept = {name: self.__dict__[name] for name in self._fields}
        model = type(self).__new__(type(self))
        model._set(**(kept | fields))
        return model

    def _key(self) -> Hashable:
        compared = ("log_unary", "edges", "log_pairwise", "states", "shape")
        return (*(content_key(self.__dict__[name]) for name in compared), self.names)

    def __repr__(self) -> str:
        size = " × ".join(map(str, self.shape)) + " nodes" if len(self.shape) > 1 else number_of(self.num_nodes, "node")
        return (
            f"{type(self).__name__}({size}, {number_of(self.num_states, 'state')}, {number_of(self.num_edges, 'edge')})"
        )

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self.num_edges <= MAX_DRAWN else f"<p>{self!r}</p>"


def make_factor(scope: list[Variable], logs: np.ndarray) -> Factor:
    return Factor.from_logs(scope, logs)


def find_code(variable: Variable, label: Any, holes: bool) -> int:
    """The code of a label; -1 for NaN, and for -1 where that is no state."""
    if holes and (label != label or (label == -1 and variable.find(-1) is None)):  # noqa: PLR0124
        return -1
    return variable.code(label)
