r"""Canonical potentials: the interactions of a positive table, one for each set of variables that has any.

log p(x) = Σ u_S(x_S) over all sets S, where u_S(x_S) = Σ (-1)^|S \ T| log p(x_T, first states elsewhere) over T ⊆ S.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from juncture.errors import InvalidModel
from juncture.factors.factor import Factor
from juncture.graphs.undirected import UndirectedGraph
from juncture.numerics.stable import where
from juncture.variables import Scope


def canonical_potentials(joint: Factor, graph: UndirectedGraph | None, tolerance: float) -> list[Factor]:
    """A number, and exp(u_S) for each set S with an interaction beyond the tolerance; each must be a clique."""
    if np.isneginf(joint.log_values).any():
        raise InvalidModel(
            "canonical potentials need a positive entry everywhere, but the table has a zero"
            f"{where(np.isneginf(joint.log_values))}; factorizes() decides for tables with zeros"
        )
    found = interactions(joint.log_values)
    potentials = [Factor.from_logs([], found[(0,) * found.ndim])]
    for axes in subsets(found.ndim):
        potential = interaction(found, axes)
        if np.abs(potential).max() > tolerance:
            scope = Scope(joint.scope[axis] for axis in axes)
            check_clique(scope, graph, float(np.abs(potential).max()))
            potentials.append(Factor.from_logs(scope, potential))
    return potentials


def interactions(log_values: np.ndarray) -> np.ndarray:
    """In each cell u_S(x_S), where S are the variables that are not in their first state there (Möbius inversion)."""
    found = np.array(log_values)
    for axis in range(found.ndim):
        others = np.moveaxis(found, axis, 0)
        others[1:] -= others[0]
    return found


def interaction(found: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """u_S over all states of S; 0 where one of them is the first."""
    part = found[tuple(slice(None) if axis in axes else 0 for axis in range(found.ndim))]
    inner = (slice(1, None),) * part.ndim
    padded = np.zeros_like(part)
    padded[inner] = part[inner]
    return padded


def subsets(num_axes: int) -> Iterator[tuple[int, ...]]:
    """All sets of axes but the empty one, small ones first."""
    return (axes for size in range(1, num_axes + 1) for axes in combinations(range(num_axes), size))


def check_clique(scope: Scope, graph: UndirectedGraph | None, strength: float) -> None:
    if graph is None:
        return
    for one, other in combinations(scope.names, 2):
        if other not in graph.neighbors(one):
            raise InvalidModel(
                f"the table does not factorise over the graph: {', '.join(scope.names)} interact "
                f"(by {strength:.3g} in the logarithm), but {one!r} and {other!r} are not adjacent"
            )
