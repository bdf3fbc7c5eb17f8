"""Registers the verbs of learning for Bayesian networks and directed graphs."""

from __future__ import annotations

from juncture import verbs
from juncture.graphs.directed import DirectedGraph
from juncture.learning.networks.estimation import estimate_network
from juncture.learning.networks.fit import fit_network
from juncture.learning.networks.statistics import network_statistics
from juncture.networks.bayesian_network import BayesianNetwork

verbs.fit.register(BayesianNetwork, fit_network)
verbs.fit.register(DirectedGraph, fit_network)
verbs.statistics.register(BayesianNetwork, network_statistics)
verbs.statistics.register(DirectedGraph, network_statistics)
verbs.estimate.register(BayesianNetwork, estimate_network)
verbs.estimate.register(DirectedGraph, estimate_network)
