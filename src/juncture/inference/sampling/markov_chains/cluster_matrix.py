"""The exact kernels of Swendsen-Wang and Wolff on small models, by all sets of bonds."""

from __future__ import annotations

from itertools import product

import numpy as np

from juncture.errors import TooLarge
from juncture.inference.sampling.markov_chains.swendsen_wang import ClusterTransition
from juncture.numerics import softmax

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
