"""What the verbs do with autoencoders, variational autoencoders and Helmholtz machines."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from juncture.latent.neural.autoencoder import Autoencoder, fit_autoencoder
from juncture.latent.neural.feed_forward import NeuralOptions
from juncture.latent.neural.helmholtz import (
    HelmholtzMachine,
    HelmholtzOptions,
    fit_helmholtz,
    infer_helmholtz,
    log_prob_helmholtz,
    sample_helmholtz,
)
from juncture.latent.neural.variational_autoencoder import (
    VariationalAutoencoder,
    fit_variational_autoencoder,
    infer_codes,
    sample_rows,
)

register(verbs.fit, Autoencoder, fit_autoencoder, NeuralOptions)
register(verbs.infer, VariationalAutoencoder, infer_codes)
register(verbs.sample, VariationalAutoencoder, sample_rows)
register(verbs.fit, VariationalAutoencoder, fit_variational_autoencoder, NeuralOptions)
register(verbs.infer, HelmholtzMachine, infer_helmholtz)
register(verbs.sample, HelmholtzMachine, sample_helmholtz)
register(verbs.log_prob, HelmholtzMachine, log_prob_helmholtz)
register(verbs.fit, HelmholtzMachine, fit_helmholtz, HelmholtzOptions)
