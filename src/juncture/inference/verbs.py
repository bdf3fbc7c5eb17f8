"""What the verbs do with products of factors."""

from __future__ import annotations

from juncture import verbs
from juncture.dispatch import register
from juncture.inference.infer import infer_factors
from juncture.inference.log_prob import log_prob_factors
from juncture.inference.most_probable import most_probable_factors
from juncture.inference.sample import sample_network, sample_posterior
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct

register(verbs.infer, BayesianNetwork, infer_factors)
register(verbs.infer, FactorProduct, infer_factors)
register(verbs.most_probable, BayesianNetwork, most_probable_factors)
register(verbs.most_probable, FactorProduct, most_probable_factors)
register(verbs.sample, BayesianNetwork, sample_network)
register(verbs.sample, FactorProduct, sample_posterior)
register(verbs.log_prob, BayesianNetwork, log_prob_factors)
register(verbs.log_prob, FactorProduct, log_prob_factors)
