"""Registers the verbs of learning for Bayesian networks, directed graphs and undirected graphs."""

from __future__ import annotations

from juncture import verbs
from juncture.dispatch import register
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.covariance_selection import fit_undirected
from juncture.learning.networks.estimation import estimate_network
from juncture.learning.networks.fit import fit_network
from juncture.learning.networks.statistics import network_statistics
from juncture.networks.bayesian_network import BayesianNetwork

register(verbs.fit, BayesianNetwork, fit_network)
register(verbs.fit, DirectedGraph, fit_network)
register(verbs.fit, UndirectedGraph, fit_undirected)
register(verbs.statistics, BayesianNetwork, network_statistics)
register(verbs.statistics, DirectedGraph, network_statistics)
register(verbs.estimate, BayesianNetwork, estimate_network)
register(verbs.estimate, DirectedGraph, estimate_network)
