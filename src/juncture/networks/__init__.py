"""Networks of variables with states: Bayesian networks, Markov networks, factor graphs, and how one becomes another."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # for annotations
    from juncture.networks.bayesian_network import BayesianNetwork
    from juncture.networks.factor_product import FactorProduct

    Network: TypeAlias = BayesianNetwork | FactorProduct
    """What engines answer questions about: conditionals along a directed graph, or a product of factors."""
