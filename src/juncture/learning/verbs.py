"""Registers the verbs of learning for networks, directed and undirected graphs, and products of factors."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.networks.estimation import NetworkEstimate, estimate_network
from juncture.learning.networks.fit import NetworkOptions, fit_network
from juncture.learning.networks.statistics import network_statistics
from juncture.learning.options import DeclaredColumns, DeclaredVariables
from juncture.learning.undirected.fit import FactorEstimate, FactorOptions, estimate_factors, fit_factors
from juncture.learning.undirected.gaussian import GraphOptions, fit_undirected
from juncture.learning.undirected.statistics import factor_statistics
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork

for directed in (BayesianNetwork, DirectedGraph):
    register(verbs.fit, directed, fit_network, NetworkOptions)
    register(verbs.statistics, directed, network_statistics, DeclaredColumns)
    register(verbs.estimate, directed, estimate_network, NetworkEstimate)
register(verbs.fit, UndirectedGraph, fit_undirected, GraphOptions)
for kind in (MarkovNetwork, FactorGraph, FactorProduct):
    register(verbs.fit, kind, fit_factors, FactorOptions)
register(verbs.statistics, FactorProduct, factor_statistics, DeclaredVariables)
register(verbs.estimate, FactorProduct, estimate_factors, FactorEstimate)
