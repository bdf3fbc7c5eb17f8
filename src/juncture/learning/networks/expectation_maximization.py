"""Expectation maximisation for networks: rows with holes, and variables that are never observed.

Each step fills the holes with what the model believes, as weights, and estimates from the counts that result. The
log-likelihood, with a prior the log-likelihood plus the log prior, never falls (Dempster, Laird and Rubin 1977).
"""

from __future__ import annotations

from dataclasses import dataclass

from juncture.learning.conditionals.contract import Wishes
from juncture.learning.networks.estimation import estimated_network
from juncture.learning.networks.expected_statistics import Expectation
from juncture.learning.networks.network_statistics import NetworkStatistics
from juncture.learning.networks.tied_conditionals import log_prior_of
from juncture.networks.bayesian_network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class Believed:
    """A model, the statistics expected under it, and its objective."""

    model: BayesianNetwork
    statistics: NetworkStatistics
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class NetworkEM:
    """EM from a start, on rows that a plan has been compiled for."""

    start: BayesianNetwork
    expectation: Expectation
    wishes: Wishes
    fixed: frozenset[str] = frozenset()

    def init(self) -> Believed:
        return self.believed(self.start)

    def step(self, state: Believed) -> Believed:
        return self.believed(self.maximized(state.statistics, state.model))

    def objective(self, state: Believed) -> float:
        return state.objective

    def maximized(self, statistics: NetworkStatistics, model: BayesianNetwork) -> BayesianNetwork:
        """The model that the expected statistics lead to."""
        return estimated_network(model, statistics, self.wishes, self.fixed)

    def believed(self, model: BayesianNetwork) -> Believed:
        """The expectation step under a model."""
        statistics, log_likelihood = self.expectation.run(model)
        prior = log_prior_of(model, self.wishes, self.fixed)
        return Believed(model, statistics, log_likelihood, log_likelihood + prior)
