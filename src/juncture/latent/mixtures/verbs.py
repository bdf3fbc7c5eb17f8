"""What the verbs do with mixtures."""

from __future__ import annotations

from juncture import verbs
from juncture.components.mixture import Mixture
from juncture.latent.mixtures.fit import fit_mixture
from juncture.latent.mixtures.infer import infer_component, log_prob_mixture, most_probable_component
from juncture.latent.mixtures.sample import sample_mixture

verbs.infer.register(Mixture, infer_component)
verbs.most_probable.register(Mixture, most_probable_component)
verbs.sample.register(Mixture, sample_mixture)
verbs.log_prob.register(Mixture, log_prob_mixture)
verbs.fit.register(Mixture, fit_mixture)
