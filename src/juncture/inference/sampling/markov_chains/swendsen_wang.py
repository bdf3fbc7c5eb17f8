"""`SwendsenWang`: Markov chains for Ising and Potts models that change whole clusters of nodes at once.

Given the states, each edge joins nodes in equal states by a bond with probability 1 - exp(-w); given the bonds, every
cluster takes a new state. Where w is large, single nodes of a Gibbs sampler are held by their neighbours, while
clusters move freely: at the critical point of a grid this is faster by orders of magnitude. A field is a ghost node
joined to every node; it is summed out: a cluster takes a state with probability in proportion to the exponential
of the fields of its nodes. Strong fields of changing sign, and frustrated couplings, bring no gain over `Gibbs`.
With `clusters="single"` one cluster grows from a random node (Wolff). Swendsen and Wang (1987); Wolff (1989).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_choice
from juncture.errors import ImpossibleEvidence, TooLarge, Unsupported
from juncture.inference.engines.factor_arrays import offsets
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine, ChainPlan
from juncture.inference.sampling.markov_chains.chains import Chain, Spread, Transition
from juncture.inference.sampling.markov_chains.targets import Target, random_codes
from juncture.kernels.sampling.swendsen_wang import flip_clusters, sweep_clusters
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.numerics.stable import softmax

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

ROUNDING = 1e-12


@dataclass(frozen=True)
class SwendsenWang(ChainEngine):
    """Swendsen-Wang and Wolff sampling, for a `PairwiseNetwork` of `ising` or `potts`.

    Parameters
    ----------
    draws, chains, warmup, thin, progress, memory_limit
        As in `Gibbs`.
    clusters
        "all" clusters take new states in each sweep (Swendsen-Wang); "single": one cluster, which grows from a random
        node (Wolff). A step of a single cluster is the cheaper, the smaller the cluster; choose `thin` accordingly.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((8, 8), coupling=0.44)
    >>> beliefs = jt.infer(model, method=jt.SwendsenWang(draws=500), rng=0)
    >>> round(beliefs.joint("x3_3", "x3_4")[1, 1], 1), beliefs.converged
    (0.4, True)
    """

    clusters: str = "all"
    name: ClassVar[str] = "swendsen-wang"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.clusters, ("all", "single"), "clusters")

    def compile(self, model: Network, observed: Any = (), targets: Any = ()) -> ChainPlan:
        check_model(model)
        return super().compile(model, observed, targets)

    def transition(  # type: ignore[override]  # checked by `compile`
        self, model: PairwiseNetwork, target: Target, kept_nodes: np.ndarray
    ) -> tuple[Transition, bool | None]:
        move = ClusterTransition.of(model, target, kept_nodes, self.clusters == "single")
        has_zeros = bool(np.isneginf(move.log_unary).any())
        return move, None if has_zeros and move.is_single and model.num_states > 2 else True


def check_model(model: Network) -> None:
    """Raise `Unsupported` for a model that is no Ising or Potts model."""
    if not isinstance(model, PairwiseNetwork):
        raise Unsupported(
            "Swendsen-Wang takes Ising and Potts models, as jt.ising and jt.potts make them; this is a"
            f" {type(model).__name__}: use method='gibbs'"
        )
    as_bonds(model)


def as_bonds(model: PairwiseNetwork) -> tuple[np.ndarray, np.ndarray]:
    """(edge,) couplings w of [x_i = x_j], one for all edges or one each, and (node, state) fields that remain."""
    tables, size = np.asarray(model.log_pairwise), model.num_states
    if np.isneginf(tables).any():
        raise Unsupported("Swendsen-Wang takes finite couplings; an edge of this model forbids states: use 'gibbs'")
    if size == 2:
        couplings = (tables[:, 0, 0] + tables[:, 1, 1] - tables[:, 0, 1] - tables[:, 1, 0]) / 2.0
    else:
        couplings = tables[:, 0, 0] - (tables[:, 0, 1] if size > 1 else 0.0)
    rest = tables - couplings[:, np.newaxis, np.newaxis] * np.eye(size)
    tail, head = rest[:, :, :1] - rest[:, :1, :1], rest[:, :1, :] - rest[:, :1, :1]  # rest = constant + tail + head
    scale = max(1.0, float(np.abs(tables).max(initial=0.0)))
    if np.abs(rest - rest[:, :1, :1] - tail - head).max(initial=0.0) > ROUNDING * scale:
        raise Unsupported(
            "Swendsen-Wang takes tables of edges that are w for equal states and 0 for others, up to fields; this model"
            " has others: use method='gibbs'"
        )
    if size > 2 and (couplings < 0).any():
        raise Unsupported("Swendsen-Wang takes couplings of at least 0 where there are 3 states or more: use 'gibbs'")
    fields = np.zeros((model.num_nodes, size))
    for part, nodes in ((tail[:, :, 0], model.edges[:, 0]), (head[:, 0, :], model.edges[:, 1])):
        if part.any():
            np.add.at(fields, nodes, np.broadcast_to(part, (model.num_edges, size)))
    return couplings, fields


@dataclass(frozen=True, eq=False)
class ClusterTransition:
    """Sweeps of clusters."""

    edges: np.ndarray  # (edge, 2)
    bonds: np.ndarray  # 1 - exp(-|w|), with the sign of w; one for all edges, or one each
    log_unary: np.ndarray  # (node, state)
    target: Target
    kept_nodes: np.ndarray
    is_single: bool

    @classmethod
    def of(cls, model: PairwiseNetwork, target: Target, kept_nodes: np.ndarray, is_single: bool) -> ClusterTransition:
        couplings, fields = as_bonds(model)
        unary = model.log_unary + fields + target.field.reshape(fields.shape)
        bonds = np.sign(couplings) * -np.expm1(-np.abs(couplings))
        return cls(np.array(model.edges), np.ascontiguousarray(bonds), unary, target, kept_nodes, is_single)

    @property
    def work(self) -> float:
        return 10.0 * (len(self.edges) + self.log_unary.size)

    @property
    def num_kept(self) -> int:
        return len(self.kept_nodes)

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the edges of each node start, the nodes at their other ends, and the edges."""
        owners, others = self.edges.T.ravel(), self.edges[:, ::-1].T.ravel()
        by_owner = np.argsort(owners, kind="stable")
        numbers = np.tile(np.arange(len(self.edges)), 2)[by_owner]
        return offsets(np.bincount(owners, minlength=len(self.log_unary))), others[by_owner], numbers

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        allowed = self.log_unary > -np.inf
        if not allowed.any(axis=1).all():
            raise ImpossibleEvidence("the evidence has probability zero")
        codes = random_codes(self.target, spread.uniforms(self.target.arrays.num_nodes))
        is_wrong = ~allowed[np.arange(len(codes)), codes]
        codes[is_wrong] = allowed[is_wrong].argmax(axis=1)
        return codes

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        for draw in range(max(1, len(kept))):
            first = chain.num_sweeps + draw * thin
            if not len(self.log_unary) or self.log_unary.shape[1] < 2:
                pass
            elif self.is_single:
                flip_clusters(self.neighbours, self.bonds, self.log_unary, chain.keys, first, thin, chain.codes)
            else:
                sweep_clusters(self.edges, self.bonds, self.log_unary, chain.keys, first, thin, chain.codes)
            if len(kept):
                kept[draw] = chain.codes[self.kept_nodes]


MOST_EDGES = 14  # of which all sets of bonds are listed


def bond_sets(move: ClusterTransition) -> list[tuple[bool, ...]]:
    if len(move.edges) > MOST_EDGES:
        raise TooLarge(f"there are {len(move.edges)} edges; the sets of bonds of at most {MOST_EDGES} are listed")
    return list(product((False, True), repeat=len(move.edges)))


def weigh_bonds(move: ClusterTransition, codes: np.ndarray, is_bond: tuple[bool, ...]) -> np.ndarray:
    """(state,): the probability of a set of bonds given each state."""
    bonds = np.broadcast_to(move.bonds, len(move.edges))
    is_equal = codes[:, move.edges[:, 0]] == codes[:, move.edges[:, 1]]
    shares = np.where(is_equal == (bonds > 0), np.abs(bonds), 0.0)
    return np.asarray(np.where(is_bond, shares, 1.0 - shares).prod(axis=1))


def clusters_of(move: ClusterTransition, is_bond: tuple[bool, ...]) -> list[list[int]]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    kept, size = move.edges[np.array(is_bond, dtype=bool)], len(move.log_unary)
    graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(size, size))
    count, labels = connected_components(graph, directed=False)
    return [np.flatnonzero(labels == label).tolist() for label in range(count)]


def find_state(codes: np.ndarray, one: np.ndarray) -> int:
    """The number of a state; -1 if it has no probability."""
    found = np.flatnonzero((codes == one).all(axis=1))
    return int(found[0]) if len(found) else -1


def cluster_kernel(move: ClusterTransition, codes: np.ndarray) -> np.ndarray:
    """Σ over sets of bonds: their probability, times the probability of the shifts of the clusters."""
    num_states, matrix = move.log_unary.shape[1], np.zeros((len(codes), len(codes)))
    for is_bond in bond_sets(move):
        shares, clusters = weigh_bonds(move, codes, is_bond), clusters_of(move, is_bond)
        for start in np.flatnonzero(shares):
            for shifts in product(range(num_states), repeat=len(clusters)):
                moved, chance = codes[start].copy(), shares[start]
                for shift, cluster in zip(shifts, clusters, strict=True):
                    chance *= shift_shares(move, codes[start], cluster)[shift]
                    moved[cluster] = (moved[cluster] + shift) % num_states
                if chance > 0:
                    matrix[start, find_state(codes, moved)] += chance
    return matrix


def shift_shares(move: ClusterTransition, codes: np.ndarray, cluster: list[int]) -> np.ndarray:
    num_states = move.log_unary.shape[1]
    logs = [move.log_unary[cluster, (codes[cluster] + shift) % num_states].sum() for shift in range(num_states)]
    return softmax(np.array(logs))


def wolff_kernel(move: ClusterTransition, codes: np.ndarray) -> np.ndarray:
    """Σ over sets of bonds and first nodes: the cluster of the node, one shift of many, accepted by the fields."""
    num_nodes, num_states = move.log_unary.shape
    matrix = np.zeros((len(codes), len(codes)))
    for is_bond in bond_sets(move):
        shares, clusters = weigh_bonds(move, codes, is_bond), clusters_of(move, is_bond)
        for start in np.flatnonzero(shares):
            for cluster, shift in product(clusters, range(1, num_states)):
                moved = codes[start].copy()
                moved[cluster] = (moved[cluster] + shift) % num_states
                gain = (move.log_unary[cluster, moved[cluster]] - move.log_unary[cluster, codes[start][cluster]]).sum()
                share = shares[start] * len(cluster) / num_nodes / (num_states - 1)
                taken = share * np.exp(min(0.0, gain))
                matrix[start, start] += share - taken
                if taken > 0:
                    matrix[start, find_state(codes, moved)] += taken
    return matrix
