"""What the verbs do with products of factors."""

from __future__ import annotations

from juncture import verbs
from juncture.inference.infer import infer_factors
from juncture.inference.log_prob import log_prob_factors
from juncture.inference.most_probable import most_probable_factors
from juncture.inference.sampling.forward import sample_network, sample_posterior
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct

verbs.infer.register(BayesianNetwork, infer_factors)
verbs.infer.register(FactorProduct, infer_factors)
verbs.most_probable.register(BayesianNetwork, most_probable_factors)
verbs.most_probable.register(FactorProduct, most_probable_factors)
verbs.sample.register(BayesianNetwork, sample_network)
verbs.sample.register(FactorProduct, sample_posterior)
verbs.log_prob.register(BayesianNetwork, log_prob_factors)
verbs.log_prob.register(FactorProduct, log_prob_factors)
