"""What the verbs do with factor analysis and probabilistic PCA."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.inference.variational.elbo import bound_of
from juncture.latent.factor_analysis.fit import FactorOptions, fit_factors
from juncture.latent.factor_analysis.infer import (
    bound_factors,
    infer_factors,
    log_prob_factors,
    most_probable_factors,
    sample_factors,
)
from juncture.latent.factor_analysis.model import FactorAnalysis, LinearFactors, ProbabilisticPCA

register(verbs.infer, LinearFactors, infer_factors)
register(verbs.most_probable, LinearFactors, most_probable_factors)
register(verbs.sample, LinearFactors, sample_factors)
register(verbs.log_prob, LinearFactors, log_prob_factors)
register(bound_of, LinearFactors, bound_factors)
register(verbs.fit, FactorAnalysis, fit_factors, FactorOptions)
register(verbs.fit, ProbabilisticPCA, fit_factors, FactorOptions)
