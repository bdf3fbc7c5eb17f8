"""Variational autoencoders: p(z) = N(0, I), a neural p(x | z), and an encoder q(z | x) (Kingma and Welling 2014).

`infer` is the encoder, with an estimate of the ELBO; `sample` draws z and decodes it; `fit` learns encoder, decoder and
noise together, by stochastic gradient ascent of the ELBO.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.methods import register_names, resolve_method
from juncture.base.options import as_generator, as_seed
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import as_dataset, default_names, keep_names
from juncture.drawing.courses import Course, Panel
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.factors.scope_tables import import_pandas
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.engines.contract import Diagnostics, OneVariable
from juncture.inference.engines.display import intervals_html
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.inference.variational.jax_families import import_jax
from juncture.latent.neural.feed_forward import (
    Layers,
    NeuralOptions,
    apply_layers,
    as_layers,
    check_widths,
    columns_and_code,
    complete_numbers,
    count_layers,
    random_layers,
    train,
)
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.numerics.stable import LOG_TWO_PI, log_sum_exp, sigmoid
from juncture.variables import Scope

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("gaussian", "bernoulli")
NEVER_EXACT = Diagnostics(exact=False)


class VariationalAutoencoder(NamedFeatures):
    """z ~ N(0, I), and columns independent given z: N(D(z), noise) or zeros and ones with the log odds D(z).

    Parameters
    ----------
    encoder, decoder
        Lists of pairs (weights, bias), joined by tanh. The encoder gives the means of q(z | x) and then the logarithms
        of its standard deviations, two numbers for each dimension of z.
    noise
        The variance of Gaussian columns.
    visible
        "gaussian" or "bernoulli".

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.neural.VariationalAutoencoder.random(3, 2, rng=0)
    >>> model
    VariationalAutoencoder(3 gaussian columns, 2 latent dimensions)
    """

    kind: ClassVar[str] = "variational autoencoder"
    encoder: Layers
    decoder: Layers
    noise: float
    visible: str

    def __init__(self, encoder: Any, decoder: Any, noise: float = 1.0, visible: str = "gaussian") -> None:
        up, down = as_layers(encoder, "encoder"), as_layers(decoder, "decoder")
        if len(up[-1][1]) != 2 * len(down[0][0]) or len(up[0][0]) != len(down[-1][1]):
            raise InvalidModel(
                f"the encoder makes {len(up[-1][1])} numbers of {len(up[0][0])}, and the decoder {len(down[-1][1])} of"
                f" {len(down[0][0])}: it must give two for each that the decoder takes, of rows of the same length"
            )
        variance = check_number(noise, "noise", above=0)
        kind = check_choice(visible, KINDS, "visible", error=InvalidModel)
        self._set(encoder=up, decoder=down, noise=variance, visible=kind)

    @classmethod
    def random(
        cls, num_columns: int, num_latent: int, visible: str = "gaussian", *, hidden: Any = (), rng: Any = None
    ) -> VariationalAutoencoder:
        """A model with random weights, from which learning starts; `hidden` are the widths of the encoder's layers."""
        columns, latent = (
            check_count(num_columns, "num_columns", least=1),
            check_count(num_latent, "num_latent", least=1),
        )
        widths, generator = check_widths(hidden), as_generator(rng)
        up = random_layers([columns, *widths, 2 * latent], generator)
        return cls(up, random_layers([latent, *widths[::-1], columns], generator), 1.0, visible)

    @property
    def num_columns(self) -> int:
        return len(self.encoder[0][0])

    @cached_property
    def variables(self) -> Scope:
        """The columns of a row, and the vector "z" after them."""
        names, states = (
            self.feature_names or default_names(self.num_columns),
            2 if self.visible == "bernoulli" else None,
        )
        return columns_and_code(names, "z", self.num_latent, states)

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases, and of Gaussian columns the noise."""
        return count_layers(self.encoder) + count_layers(self.decoder) + (self.visible == "gaussian")

    @property
    def num_latent(self) -> int:
        return len(self.decoder[0][0])

    def encode(self, rows: Any) -> Gaussian:
        """q(z | x): a `Gaussian` with a batch (row, latent), or (latent,) of one row."""
        values, is_single = complete_numbers(rows, self.num_columns, self.feature_names)
        mean, log_scale = np.split(apply_layers(self.encoder, values), 2, axis=1)
        return Gaussian(mean[0], np.exp(2 * log_scale[0])) if is_single else Gaussian(mean, np.exp(2 * log_scale))

    def decode(self, codes: Any) -> np.ndarray:
        """E[x | z]: (row, column), or (column,) of one z."""
        values, is_single = complete_numbers(codes, self.num_latent)
        found = apply_layers(self.decoder, values)
        means = found if self.visible == "gaussian" else sigmoid(found)
        return np.asarray(means[0] if is_single else means)

    def log_ratios(self, rows: Any, draws: int = 100, *, rng: Any = None) -> np.ndarray:
        """log p(x, z) - log q(z | x) at draws z of q, (row, draw): their mean is the ELBO."""
        values = check_rows(self, rows)[0]
        noise = as_generator(rng).standard_normal((check_count(draws, "draws", least=1), len(values), self.num_latent))
        parameters = {"encoder": self.encoder, "decoder": self.decoder, "log_noise": np.log(self.noise)}
        return np.stack([ratios(parameters, values, each, self.visible, np) for each in noise], axis=1)

    def bound(self, rows: Any, particles: int = 1, *, draws: int = 1000, rng: Any = None) -> np.ndarray:
        """Estimates of E log (1/K) Σ p(x, z_k) / q(z_k | x) for K = `particles`, (row,), from so many draws in all.

        One sample is the ELBO; more make the bound of log p(x) tighter (Burda, Grosse and Salakhutdinov 2016).
        """
        size = check_count(particles, "particles", least=1)
        groups = max(1, check_count(draws, "draws", least=1) // size)
        found = self.log_ratios(rows, groups * size, rng=rng)
        return np.asarray((log_sum_exp(found.reshape(len(found), groups, size), axis=2) - np.log(size)).mean(axis=1))

    def __repr__(self) -> str:
        return f"VariationalAutoencoder({self.num_columns} {self.visible} columns, {self.num_latent} latent dimensions)"


def ratios(parameters: Any, rows: Any, noise: Any, visible: str, numpy: Any) -> Any:
    """log p(x, z) - log q(z | x) at z = m(x) + s(x) · noise, (row,), in terms of NumPy or JAX."""
    codes = apply_layers(parameters["encoder"], rows, numpy.tanh)
    mean, log_scale = numpy.split(codes, 2, axis=1)
    z = mean + numpy.exp(log_scale) * noise
    found = apply_layers(parameters["decoder"], z, numpy.tanh)
    if visible == "bernoulli":
        given = rows * found - numpy.logaddexp(0.0, found)
    else:
        log_noise = parameters["log_noise"]
        given = -0.5 * ((rows - found) ** 2 * numpy.exp(-log_noise) + log_noise + LOG_TWO_PI)
    return given.sum(axis=1) + (0.5 * (noise**2 - z**2) + log_scale).sum(axis=1)


def check_rows(model: VariationalAutoencoder, given: Any) -> tuple[np.ndarray, bool]:
    rows, is_single = complete_numbers(given, model.num_columns, model.feature_names)
    if model.visible == "bernoulli" and not np.isin(rows, (0.0, 1.0)).all():
        raise InvalidData("the columns of this model are 0 or 1; some rows have other numbers")
    return rows, is_single


@dataclass(frozen=True, eq=False, repr=False)
class EncodedBeliefs(OneVariable):
    """q(z | row) of an encoder, with an estimate of the ELBO: `beliefs["z"]` is a Gaussian, or a batch with one a row.

    Attributes
    ----------
    model
        The variational autoencoder.
    q
        The independent Gaussians of the dimensions of z: (latent,) of one row, (row, latent) of many.
    log_evidence
        The ELBO, a lower bound of log p(row), estimated: a float of one row, (row,) of many.
    standard_error
        Of `log_evidence`, from the spread of the draws.
    method
        The name of the algorithm.
    diagnostics
        Never exact.
    seed
        The seed of the draws: `rng=beliefs.seed` repeats them.
    """

    variable = "z"
    model: VariationalAutoencoder
    q: Gaussian
    log_evidence: Any
    standard_error: Any
    method: str = "encoder"
    diagnostics: Diagnostics = NEVER_EXACT
    seed: int | None = None

    @property
    def is_single(self) -> bool:
        """Whether there is one row."""
        return np.ndim(self.log_evidence) == 0

    @property
    def impossible(self) -> tuple[int, ...]:
        """No row is impossible: always ()."""
        return ()

    @property
    def mean(self) -> np.ndarray:
        """The mean of z given a row, (latent,) of one row, (row, latent) of many."""
        return np.asarray(self.q.mean)

    @property
    def standard_deviation(self) -> np.ndarray:
        """The standard deviation of each dimension of z, of the shape of `mean`."""
        return np.sqrt(np.asarray(self.q.variance))

    def __getitem__(self, name: str) -> MultivariateGaussian:
        """q(z | row): a Gaussian with a diagonal covariance, or a batch with one a row."""
        self._check_variable(name)
        return MultivariateGaussian(self.mean, np.asarray(self.q.variance)[..., None] * np.eye(self.model.num_latent))

    def to_dict(self) -> dict[str, dict[str, np.ndarray]]:
        """Name → "mean" and "variance" of each dimension."""
        return {"z": {"mean": self.mean, "variance": np.asarray(self.q.variance)}}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of row, variable, dimension, mean and variance."""
        means = np.atleast_2d(self.mean)
        rows, dimensions = np.indices(means.shape)
        columns = {
            "row": rows.ravel(), "variable": "z", "dimension": dimensions.ravel(), "mean": means.ravel(),
            "variance": np.ravel(self.q.variance),
        }  # fmt: skip
        return import_pandas().DataFrame(columns)

    def sample(self, n: int, *, rng: Any = None) -> np.ndarray:
        """`n` draws of z given one row, (n, latent)."""
        if not self.is_single:
            raise Unsupported("z is drawn given one row; infer and sample once for each row")
        size = self.model.num_latent
        noise = as_generator(rng).standard_normal((check_num_rows(n, 8 * size), size))
        return np.asarray(self.mean + self.standard_deviation * noise)

    def to_diagram(self) -> Course:
        """The mean of each dimension of z, row by row."""
        return Course(tuple(Panel(f"z {at}", part) for at, part in enumerate(np.atleast_2d(self.mean).T)))

    def __len__(self) -> int:
        return len(np.atleast_2d(self.mean))

    def _repr_html_(self) -> str:
        return intervals_html(
            repr(self), np.atleast_2d(self.mean), np.atleast_2d(self.standard_deviation), self.to_diagram()
        )

    def __repr__(self) -> str:
        return f"EncodedBeliefs({self.model.num_latent} latent dimensions; approximate, by {self.method})"


def infer_codes(
    model: VariationalAutoencoder,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    draws: int = 1000,
    rng: Any = None,
) -> EncodedBeliefs:
    """q(z | row) of one complete row or many, with the ELBO estimated from `draws` draws of q for each row."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    rows, is_single = check_rows(model, evidence)
    count, seed = check_count(draws, "draws", least=2), as_seed(rng)
    found = model.log_ratios(rows, count, rng=seed)
    bounds, errors = found.mean(axis=1), found.std(axis=1, ddof=1) / np.sqrt(count)
    bound, error = (float(bounds[0]), float(errors[0])) if is_single else (bounds, errors)
    encoded = model.encode(rows[0] if is_single else rows)
    return EncodedBeliefs(model, encoded, bound, error, algorithm, NEVER_EXACT, seed)


def sample_rows(model: VariationalAutoencoder, n: Any, *, given: Any = None, rng: Any = None) -> Any:
    """`n` rows x0, x1, … from z ~ N(0, I) and p(x | z); with `given`, one row: `n` draws of its z."""
    if given is not None:
        beliefs = infer_codes(model, given, draws=2)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count, generator = check_num_rows(n, 32 * model.num_columns), as_generator(rng)
    means = model.decode(generator.standard_normal((count, model.num_latent)))
    if model.visible == "bernoulli":
        return as_dataset((generator.random(means.shape) < means).astype(float), model.feature_names)
    return as_dataset(means + np.sqrt(model.noise) * generator.standard_normal(means.shape), model.feature_names)


@keep_names
def fit_variational_autoencoder(
    model: VariationalAutoencoder,
    data: Any,
    *,
    prior: None = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: NeuralOptions,
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
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each epoch.
    options
        The learner.

    Returns
    -------
    Fit
        Its `trace` is the ELBO of a row held out, after each epoch; `statistics` is a `HeldOutEstimate`;
        `log_likelihood` is an estimate of the ELBO of all rows, a lower bound.
    """
    if prior is not None:
        raise Unsupported("a variational autoencoder takes no prior besides that of z, N(0, I): leave it out")
    check_progress(progress)
    jax, _ = import_jax()
    rows, _ = check_rows(model, data)

    def gains(parameters: Any, batch: Any, key: Any) -> Any:
        noise = jax.random.normal(key, (len(batch), model.num_latent))
        return ratios(parameters, batch, noise, model.visible, jax.numpy)

    first = {"encoder": model.encoder, "decoder": model.decoder, "log_noise": np.log(model.noise)}
    seed = as_seed(rng)
    generator = as_generator(seed)
    found, estimate, trace = train(gains, first, rows, options.method, generator, progress)
    noise = float(np.exp(found["log_noise"])) if model.visible == "gaussian" else model.noise
    learned = VariationalAutoencoder(found["encoder"], found["decoder"], noise, model.visible)
    return Fit(learned, float(learned.bound(rows, draws=100, rng=generator).sum()), trace, estimate, seed)


register_names(VariationalAutoencoder, "infer", {"auto": "encoder", "encoder": "encoder"})
