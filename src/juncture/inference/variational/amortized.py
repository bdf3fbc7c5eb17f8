"""`amortized_variational`: one encoder q(z | x) = N(m(x), s(x)²) for all rows, trained on their lower bound.

In place of a distribution for each row there is one function from rows to distributions, linear or a network with
hidden layers; a new row costs one evaluation. Where log p(x, z) has parameters of its own, they are learned at the same
time, which is variational EM with an encoder, as in a variational autoencoder (Kingma and Welling 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_function, check_number
from juncture.base.options import as_seed
from juncture.errors import InvalidData, InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.inference.variational.jax_families import SEEDS, IndependentGaussians, import_jax


@dataclass(frozen=True, eq=False)
class AmortizedFit:
    """The answer of amortised variational inference.

    Attributes
    ----------
    encode
        A function of rows (row, column): their q, a `Gaussian` with a batch (row, latent).
    parameters
        The parameters of `log_joint` that were learned along, or None.
    trace
        (step,): estimates of the lower bound of one row on average.
    seed
        The seed of the draws: `rng=fit.seed` repeats the result.
    """

    encode: Callable[[Any], Gaussian]
    parameters: Any
    trace: np.ndarray
    seed: int | None = None

    def __repr__(self) -> str:
        late = self.trace[-max(1, len(self.trace) // 10) :]
        return f"AmortizedFit({late.mean():.6g} per row after {len(self.trace)} steps)"


def amortized_variational(  # noqa: PLR0913 (options of one algorithm)
    log_joint: Callable[..., Any],
    rows: Any,
    num_latent: int,
    *,
    parameters: Any = None,
    hidden: Sequence[int] = (),
    draws: int = 4,
    batch_size: int = 64,
    max_steps: int = 3000,
    learning_rate: float = 0.01,
    rng: Any = None,
) -> AmortizedFit:
    """Train an encoder q(z | x) on the lower bound, and the parameters of the model along with it if it has some.

    Parameters
    ----------
    log_joint
        log p(x, z) of one z (latent,) and one row x (column,) in terms of `jax.numpy`; with `parameters`, a function of
        z, x and the parameters.
    rows
        (row, column).
    num_latent
        The dimension of z.
    parameters
        The first parameters of `log_joint`, numbers in any nesting of dicts and lists; None if it has none.
    hidden
        The widths of hidden layers of the encoder; () is a linear encoder, with variances that depend on no row.
    draws, batch_size, max_steps, learning_rate, rng
        Draws of each z, rows of each step, steps, the rate of Adam, which falls to zero by the end, and a seed or a
        `numpy.random.Generator`.

    Returns
    -------
    AmortizedFit
        `encode` gives q(z | x) of any rows.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = np.linspace(-1.0, 1.0, 9)[:, None]
    >>> jt.neural.amortized_variational(lambda z, x: -((z - x) ** 2).sum(), rows, 1)  # doctest: +SKIP
    AmortizedFit(0.57 per row after 3000 steps)
    """
    jax, _ = import_jax()
    data = check_array(rows, "rows", ndim=2)
    check_function(log_joint, "log_joint")
    sizes = [data.shape[1], *(check_count(width, "hidden", least=1) for width in hidden)]
    latent, seed = check_count(num_latent, "num_latent", least=1), as_seed(rng) % SEEDS
    if not len(data):
        raise InvalidData("an encoder learns from at least one row")
    model = (lambda z, x, theta: log_joint(z, x)) if parameters is None else log_joint
    training = Training(model, check_count(draws, "draws", least=1))
    first = {"encoder": first_encoder(sizes, latent, seed), "model": parameters}
    options = (check_count(max_steps, "max_steps", least=1), check_number(learning_rate, "learning_rate", above=0))
    found, trace = training.run(
        first, data, min(check_count(batch_size, "batch_size", least=1), len(data)), *options, seed
    )

    def encode_rows(given: Any) -> Gaussian:
        values = jax.vmap(lambda x: encode(found["encoder"], x))(check_array(given, "rows", ndim=2))
        return Gaussian(np.asarray(values["mean"], float), np.exp(2 * np.asarray(values["log_scale"], float)))

    learned = None if parameters is None else jax.tree_util.tree_map(np.asarray, found["model"])
    return AmortizedFit(encode_rows, learned, trace, seed)


def first_encoder(sizes: Sequence[int], num_latent: int, seed: int) -> dict[str, Any]:
    """Small random weights; the scales of a linear encoder are free of the rows."""
    draw = np.random.default_rng(seed).standard_normal
    layers = [
        {"weights": draw((before, after)) / np.sqrt(before), "shift": np.zeros(after)}
        for before, after in pairwise(sizes)
    ]
    last = {"weights": 0.1 * draw((sizes[-1], num_latent)) / np.sqrt(sizes[-1]), "shift": np.zeros(num_latent)}
    scale: dict[str, Any] = {"shift": np.zeros(num_latent)}
    if layers:
        scale["weights"] = np.zeros((sizes[-1], num_latent))
    return {"layers": layers, "mean": last, "log_scale": scale}


def encode(encoder: Any, row: Any) -> dict[str, Any]:
    """m(x) and log s(x)."""
    numpy = import_jax()[0].numpy
    inside = row
    for layer in encoder["layers"]:
        inside = numpy.tanh(inside @ layer["weights"] + layer["shift"])
    scale = encoder["log_scale"]["shift"]
    if "weights" in encoder["log_scale"]:
        scale = scale + inside @ encoder["log_scale"]["weights"]
    return {"mean": inside @ encoder["mean"]["weights"] + encoder["mean"]["shift"], "log_scale": scale}


@dataclass(frozen=True, eq=False)
class Training:
    """Gradient ascent on the mean lower bound of random batches of rows, by reparametrisation."""

    log_joint: Callable[[Any, Any, Any], Any]
    num_samples: int

    def bound(self, parameters: Any, row: Any, key: Any) -> Any:
        jax, _ = import_jax()
        family = IndependentGaussians(Gaussian(0.0, 1.0))
        q = encode(parameters["encoder"], row)
        draws = family.sample(q, key, self.num_samples)
        logs = jax.vmap(lambda z: self.log_joint(z, row, parameters["model"]))(draws)
        return (logs - family.log_prob(q, draws)).mean()

    def run(
        self, first: Any, data: np.ndarray, batch_size: int, max_steps: int, learning_rate: float, seed: int
    ) -> tuple[Any, np.ndarray]:
        jax, optax = import_jax()
        adam = optax.adam(optax.cosine_decay_schedule(learning_rate, max_steps))
        rows, parameters = jax.numpy.asarray(data), jax.tree_util.tree_map(jax.numpy.asarray, first)

        def loss(parameters: Any, key: Any) -> Any:
            chosen, noise = jax.random.split(key)
            batch = rows[jax.random.choice(chosen, len(rows), (batch_size,), replace=False)]
            return -jax.vmap(self.bound, (None, 0, 0))(parameters, batch, jax.random.split(noise, batch_size)).mean()

        def step(carry: Any, key: Any) -> Any:
            parameters, state = carry
            value, slope = jax.value_and_grad(loss)(parameters, key)
            updates, state = adam.update(slope, state)
            return (optax.apply_updates(parameters, updates), state), -value

        keys = jax.random.split(jax.random.PRNGKey(seed), max_steps)
        (parameters, _), trace = jax.jit(lambda carry: jax.lax.scan(step, carry, keys))(
            (parameters, adam.init(parameters))
        )
        found = np.asarray(trace, float)
        if not np.isfinite(found).all():
            raise InvalidModel(
                f"log_joint is no finite number at step {int(np.argmin(np.isfinite(found)))}; lower learning_rate"
            )
        return parameters, found
