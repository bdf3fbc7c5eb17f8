"""What the verbs do with mixtures."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.components.mixture import Mixture
from juncture.inference.variational.elbo import bound_of
from juncture.latent.mixtures.fit import MixtureOptions, fit_mixture
from juncture.latent.mixtures.infer import (
    bound_mixture,
    infer_component,
    log_prob_mixture,
    most_probable_component,
    sample_mixture,
)

register(verbs.infer, Mixture, infer_component)
register(verbs.most_probable, Mixture, most_probable_component)
register(verbs.sample, Mixture, sample_mixture)
register(verbs.log_prob, Mixture, log_prob_mixture)
register(verbs.fit, Mixture, fit_mixture, MixtureOptions)
register(bound_of, Mixture, bound_mixture)
