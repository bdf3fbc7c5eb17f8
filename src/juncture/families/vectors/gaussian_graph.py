"""The graph of a Gaussian: no edge joins two entries that are independent given all others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juncture.base.checks import check_iterable, check_number
from juncture.errors import InvalidData
from juncture.graphs.undirected import UndirectedGraph


def partial_correlations(precision: np.ndarray) -> np.ndarray:
    """-λij / √(λii λjj), and 1 on the diagonal."""
    scale = np.sqrt(np.diagonal(precision, axis1=-2, axis2=-1))
    found = -precision / (scale[..., :, None] * scale[..., None, :])
    diagonal = np.arange(precision.shape[-1])
    found[..., diagonal, diagonal] = 1.0
    return np.asarray(found)


def graph_of(correlations: np.ndarray, tolerance: float = 1e-9, names: Iterable[str] | None = None) -> UndirectedGraph:
    """An edge for each partial correlation beyond the tolerance."""
    if correlations.ndim != 2:
        raise InvalidData("a batch of Gaussians has a graph each; ask one member, as in family[0].graph()")
    size = len(correlations)
    nodes = [str(index) for index in range(size)] if names is None else check_iterable(names, "names")
    if len(nodes) != size:
        raise InvalidData(f"there are {size} entries to name; got {len(nodes)} names")
    check_number(tolerance, "tolerance", least=0)
    edges = np.argwhere(np.triu(np.abs(correlations) > tolerance, 1))
    return UndirectedGraph([(nodes[one], nodes[other]) for one, other in edges], nodes)
