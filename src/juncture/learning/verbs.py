"""Registers the verbs of learning for networks, directed and undirected graphs, and products of factors."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.networks.estimation import estimate_network
from juncture.learning.networks.fit import fit_network
from juncture.learning.networks.statistics import network_statistics
from juncture.learning.undirected.fit import estimate_factors, fit_factors
from juncture.learning.undirected.gaussian import fit_undirected
from juncture.learning.undirected.statistics import factor_statistics
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork

register(verbs.fit, BayesianNetwork, fit_network)
register(verbs.fit, DirectedGraph, fit_network)
register(verbs.fit, UndirectedGraph, fit_undirected)
for kind in (MarkovNetwork, FactorGraph, FactorProduct):
    register(verbs.fit, kind, fit_factors)
register(verbs.statistics, FactorProduct, factor_statistics)
register(verbs.statistics, BayesianNetwork, network_statistics)
register(verbs.statistics, DirectedGraph, network_statistics)
register(verbs.estimate, FactorProduct, estimate_factors)
register(verbs.estimate, BayesianNetwork, estimate_network)
register(verbs.estimate, DirectedGraph, estimate_network)
