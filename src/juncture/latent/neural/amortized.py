"""`infer`, `sample` and `fit` for variational autoencoders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.data.dataset import Dataset
from juncture.data.feature_names import keep_names
from juncture.data.rows import as_dataset
from juncture.errors import Unsupported
from juncture.families.continuous.gaussian import Gaussian
from juncture.inference.engines.contract import Diagnosed, Diagnostics
from juncture.inference.engines.verb_options import check_num_rows
from juncture.inference.variational.jax_families import import_jax
from juncture.latent.neural.training import TrainingOptions, train
from juncture.latent.neural.variational_autoencoder import VariationalAutoencoder, check_rows, ratios
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback

NEVER_EXACT = Diagnostics(exact=False)


@dataclass(frozen=True, eq=False)
class EncodedBeliefs(Diagnosed):
    """q(z | row) of an encoder, with an estimate of the ELBO and its standard error, for one row or many."""

    model: VariationalAutoencoder
    q: Gaussian
    log_evidence: Any
    standard_error: Any
    method: str = "encoder"
    diagnostics: Diagnostics = NEVER_EXACT

    def __repr__(self) -> str:
        return f"EncodedBeliefs({self.model.num_latent} latent dimensions; approximate, by {self.method})"


def infer_codes(model: VariationalAutoencoder, evidence: Any, *, draws: int = 1000, rng: Any = None) -> EncodedBeliefs:
    """q(z | row) of one complete row or many, with the ELBO estimated from `draws` draws of q for each row."""
    rows, is_single = check_rows(model, evidence)
    count = check_count(draws, "draws", least=2)
    found = model.log_ratios(rows, count, rng=rng)
    bounds, errors = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(count)
    first = (float(bounds[0]), float(errors[0])) if is_single else (bounds, errors)
    return EncodedBeliefs(model, model.encode(rows[0] if is_single else rows), *first)


def sample_rows(model: VariationalAutoencoder, n: Any, *, given: None = None, rng: Any = None) -> Dataset:
    """`n` rows x0, x1, … from z ~ N(0, I) and p(x | z)."""
    if given is not None:
        raise Unsupported("sample of a variational autoencoder takes no given=")
    count, generator = check_num_rows(n, 32 * model.num_columns), as_generator(rng)
    means = model.decode(generator.standard_normal((count, model.num_latent)))
    if model.visible == "bernoulli":
        return as_dataset((generator.random(means.shape) < means).astype(float), model.feature_names)
    return as_dataset(means + np.sqrt(model.noise) * generator.standard_normal(means.shape), model.feature_names)


@keep_names
def fit_variational_autoencoder(  # noqa: PLR0913 (one verb, many options)
    model: VariationalAutoencoder,
    data: Any,
    prior: None = None,
    *,
    rng: Any = None,
    held_out: float = 0.1,
    batch_size: int = 50,
    learning_rate: float = 0.01,
    max_steps: int = 100,
    progress: ProgressCallback | None = None,
) -> Fit[VariationalAutoencoder]:
    """Encoder, decoder and noise learned together, by stochastic gradient ascent of the ELBO on JAX.

    Parameters
    ----------
    model
        Where learning starts: `VariationalAutoencoder.random`.
    data
        (row, column), complete, or a frame.
    prior
        None.
    rng
        A seed or a `numpy.random.Generator`.
    held_out
        The share of rows on which the bound is measured.
    batch_size, learning_rate, max_steps
        The rows of a step of Adam, its first length, which falls to 0, and the number of epochs.
    progress
        A function that is called after each epoch.

    Returns
    -------
    Fit
        Its `trace` is the ELBO of a row held out, after each epoch; `statistics` is a `HeldOutEstimate`;
        `log_likelihood` is an estimate of the ELBO of all rows, a lower bound.
    """
    if prior is not None:
        raise Unsupported("a variational autoencoder takes no prior besides that of z, N(0, I): leave it out")
    jax, _ = import_jax()
    rows, _ = check_rows(model, data)
    options = TrainingOptions(held_out, batch_size, learning_rate, max_steps, progress)

    def gains(parameters: Any, batch: Any, key: Any) -> Any:
        noise = jax.random.normal(key, (len(batch), model.num_latent))
        return ratios(parameters, batch, noise, model.visible, jax.numpy)

    first = {"encoder": model.encoder, "decoder": model.decoder, "log_noise": np.log(model.noise)}
    generator = as_generator(rng)
    found, estimate, trace = train(gains, first, rows, options, generator)
    noise = float(np.exp(found["log_noise"])) if model.visible == "gaussian" else model.noise
    learned = VariationalAutoencoder(found["encoder"], found["decoder"], noise, model.visible)
    return Fit(learned, float(learned.bound(rows, draws=100, rng=generator).sum()), trace, estimate)
