"""What the verbs do with independent components and independent factors."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.independent_components.fit import SourceOptions, fit_components, fit_factors
from juncture.latent.independent_components.infer import (
    infer_components,
    infer_factors,
    log_prob_components,
    log_prob_factors,
    sample_sources,
)
from juncture.latent.independent_components.model import IndependentComponents, IndependentFactors, IndependentSources

register(verbs.infer, IndependentComponents, infer_components)
register(verbs.infer, IndependentFactors, infer_factors)
register(verbs.log_prob, IndependentComponents, log_prob_components)
register(verbs.log_prob, IndependentFactors, log_prob_factors)
register(verbs.sample, IndependentSources, sample_sources)
register(verbs.fit, IndependentComponents, fit_components, SourceOptions)
register(verbs.fit, IndependentFactors, fit_factors, SourceOptions)
