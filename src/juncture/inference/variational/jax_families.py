"""The distributions q of black-box variational inference, as JAX sees them: unconstrained parameters, draws, densities.

JAX and optax come with the extra `jax`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from juncture.base.checks import shown
from juncture.errors import InvalidData, MissingExtra
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.categorical import Categorical
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.stable import LOG_TWO_PI

SMALL = 1e-12  # the least probability of a start, whose logarithm is a parameter

SEEDS = 2**31  # that JAX takes


def import_jax() -> tuple[Any, Any]:
    """JAX and optax."""
    try:
        import jax
        import optax
    except ImportError:
        raise MissingExtra.named("jax and optax", "jax") from None
    return jax, optax


class Approximation(Protocol):
    """A family of distributions q: its first parameters, draws and log-densities, and a member as a value."""

    is_smooth: ClassVar[bool]  # whether draws are smooth functions of the parameters and of noise

    def init(self) -> dict[str, Any]: ...
    def sample(self, parameters: Any, key: Any, num_samples: int) -> Any: ...
    def log_prob(self, parameters: Any, draws: Any) -> Any: ...
    def member(self, parameters: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class IndependentGaussians:
    """q(z) = Π N(zᵢ; mᵢ, exp(2 sᵢ)): the parameters are m and s."""

    start: Gaussian
    is_smooth: ClassVar[bool] = True

    def init(self) -> dict[str, Any]:
        mean, variance = np.atleast_1d(self.start.mean), np.atleast_1d(self.start.variance)
        return {"mean": np.asarray(mean, float), "log_scale": 0.5 * np.log(variance)}

    def sample(self, parameters: Any, key: Any, num_samples: int) -> Any:
        jax, _ = import_jax()
        noise = jax.random.normal(key, (num_samples, *parameters["mean"].shape))
        return parameters["mean"] + jax.numpy.exp(parameters["log_scale"]) * noise

    def log_prob(self, parameters: Any, draws: Any) -> Any:
        jax, _ = import_jax()
        scaled = (draws - parameters["mean"]) * jax.numpy.exp(-parameters["log_scale"])
        return (-0.5 * scaled**2 - parameters["log_scale"] - 0.5 * LOG_TWO_PI).sum(axis=-1)

    def member(self, parameters: Any) -> Gaussian:
        mean, scale = (np.asarray(parameters[name], float) for name in ("mean", "log_scale"))
        is_single = np.ndim(self.start.mean) == 0
        return Gaussian(float(mean[0]), float(np.exp(2 * scale[0]))) if is_single else Gaussian(mean, np.exp(2 * scale))


@dataclass(frozen=True, eq=False)
class CorrelatedGaussian:
    """q(z) = N(m, L Lᵀ): the parameters are m, the logarithms of L's diagonal, and its entries below."""

    start: MultivariateGaussian
    is_smooth: ClassVar[bool] = True

    def init(self) -> dict[str, Any]:
        factor = np.linalg.cholesky(self.start.covariance)
        return {
            "mean": np.asarray(self.start.mean, float),
            "log_scale": np.log(np.diag(factor)),
            "below": np.tril(factor, -1),
        }

    def factor(self, parameters: Any) -> Any:
        numpy = import_jax()[0].numpy
        return numpy.tril(parameters["below"], -1) + numpy.diag(numpy.exp(parameters["log_scale"]))

    def sample(self, parameters: Any, key: Any, num_samples: int) -> Any:
        jax, _ = import_jax()
        noise = jax.random.normal(key, (num_samples, len(parameters["mean"])))
        return parameters["mean"] + noise @ self.factor(parameters).T

    def log_prob(self, parameters: Any, draws: Any) -> Any:
        jax, _ = import_jax()
        centred = (draws - parameters["mean"]).T
        scaled = jax.scipy.linalg.solve_triangular(self.factor(parameters), centred, lower=True)
        constant = parameters["log_scale"].sum() + 0.5 * LOG_TWO_PI * len(centred)
        return -0.5 * (scaled**2).sum(axis=0) - constant

    def member(self, parameters: Any) -> MultivariateGaussian:
        factor = np.asarray(self.factor(parameters), float)
        return MultivariateGaussian(np.asarray(parameters["mean"], float), factor @ factor.T)


@dataclass(frozen=True, eq=False)
class IndependentCategoricals:
    """q(z) = Π Categorical(zᵢ; softmax(lᵢ)): the parameters are the logits l; draws are codes."""

    start: Categorical
    is_smooth: ClassVar[bool] = False

    def init(self) -> dict[str, Any]:
        probabilities = np.atleast_2d(self.start.probabilities)
        is_state = probabilities > 0
        return {"logits": np.where(is_state, np.log(np.maximum(probabilities, SMALL)), -np.inf)}

    def sample(self, parameters: Any, key: Any, num_samples: int) -> Any:
        jax, _ = import_jax()
        logits = parameters["logits"]
        return jax.random.categorical(key, logits, shape=(num_samples, len(logits)))

    def log_prob(self, parameters: Any, draws: Any) -> Any:
        jax, _ = import_jax()
        logs = jax.nn.log_softmax(parameters["logits"], axis=-1)
        return jax.numpy.take_along_axis(logs[None], draws[..., None], axis=-1)[..., 0].sum(axis=-1)

    def member(self, parameters: Any) -> Categorical:
        logits = np.asarray(parameters["logits"], float)
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        return Categorical(shares if np.ndim(self.start.probabilities) > 1 else shares[0])


def as_approximation(start: Any) -> Approximation:
    """The family that a first distribution belongs to."""
    if isinstance(start, Gaussian) and len(start.batch_shape) <= 1:
        return IndependentGaussians(start)
    if isinstance(start, MultivariateGaussian) and not start.batch_shape:
        return CorrelatedGaussian(start)
    if isinstance(start, Categorical) and len(start.batch_shape) <= 1:
        return IndependentCategoricals(start)
    raise InvalidData(
        "q starts as a Gaussian, for independent latent variables a batch of them, as a MultivariateGaussian, or as a"
        f" Categorical or a batch of them; got {shown(start)}"
    )
