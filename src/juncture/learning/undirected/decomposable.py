"""Decomposable models in closed form: the product of the margins of the cliques over those of the separators.

A model is decomposable if its graph is chordal and each maximal clique of it is the scope of a factor. The estimate has
the margins of the data on every clique, so it is the maximum of the likelihood; trees are the best known case
(Lauritzen 1996, proposition 4.18).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from juncture.graphs.clique_forest import CliqueForest
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.undirected.log_tables import LogTables
from juncture.learning.undirected.statistics import FactorStatistics, used_names
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable
from juncture.variables import Scope


def find_clique_factors(template: FactorProduct) -> tuple[CliqueForest, list[int]] | None:
    """The junction tree of a decomposable model, and the factor over each of its cliques; None for another model."""
    pairs = {frozenset(pair): pair for part in template.factors for pair in combinations(part.scope.names, 2)}
    graph = UndirectedGraph(pairs.values(), nodes=used_names(template))
    if not graph.is_chordal():
        return None
    forest = graph.junction_tree()
    homes = {frozenset(part.scope.names): number for number, part in reversed(list(enumerate(template.factors)))}
    found = [homes.get(frozenset(clique)) for clique in forest.cliques]
    return None if None in found else (forest, [number for number in found if number is not None])


def closed_form(tables: LogTables, statistics: FactorStatistics) -> np.ndarray | None:
    """θ at the maximum of the likelihood; None for a model that is not decomposable."""
    decomposition = find_clique_factors(tables.template)
    if decomposition is None:
        return None
    forest, homes = decomposition
    scopes = [statistics.counts[number].scope for number in homes]
    margins = [statistics.counts[number].values / statistics.weight for number in homes]
    ratios = [stable.log(margin) for margin in margins]
    for (one, other), separator in zip(forest.edges, forest.separators, strict=True):
        below = stable.log(margin_for(margins[one], scopes[one], set(separator), scopes[other]))
        ratios[other] = ratios[other] - np.where(np.isneginf(below), 0.0, below)  # where the margin above is 0 too
    logs = tables.split(np.where(tables.is_possible, 0.0, -np.inf))
    for number, ratio in zip(homes, ratios, strict=True):
        logs[number] = ratio
    return tables.join(logs)


def margin_for(table: np.ndarray, scope: Scope, kept: set[str], wider: Scope) -> np.ndarray:
    """The margin of a table over the kept variables, with an axis for each variable of another scope that has them."""
    own = [name for name in scope.names if name in kept]
    summed = table.sum(axis=tuple(axis for axis, name in enumerate(scope.names) if name not in kept))
    order = [own.index(name) for name in wider.names if name in kept]
    shape = [size if name in kept else 1 for name, size in zip(wider.names, wider.shape, strict=True)]
    return np.asarray(summed).transpose(order).reshape(shape)


def log_partition(tables: LogTables) -> float:
    """Log Z of the closed form: variables in no factor count each of their states."""
    unused = set(tables.template.variables.names) - set(used_names(tables.template))
    return float(sum(stable.log(tables.template.variable(name).num_states) for name in unused))
