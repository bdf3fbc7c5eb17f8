"""`Autoencoder`: an encoder and a decoder that give each row back from a few numbers, x ≈ D(E(x))."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator, as_seed
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import default_names, keep_names
from juncture.errors import InvalidModel, Unsupported
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
from juncture.variables import Scope


class Autoencoder(NamedFeatures):
    """A neural network from rows to codes and back; layers are joined by tanh, and codes are linear.

    Without hidden layers the best autoencoder has the error of principal components.

    Parameters
    ----------
    encoder, decoder
        Lists of pairs (weights, bias): weights are (input, output).

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.neural.Autoencoder([([[3.0], [4.0]], [0.0])], [([[0.12, 0.16]], [0.0, 0.0])])
    >>> model.encode([1.0, 0.5]), model.decode([5.0])
    (array([5.]), array([0.6, 0.8]))
    >>> model.maximizing_input(0)
    array([0.6, 0.8])
    """

    kind: ClassVar[str] = "autoencoder"
    encoder: Layers
    decoder: Layers

    def __init__(self, encoder: Any, decoder: Any) -> None:
        up, down = as_layers(encoder, "encoder"), as_layers(decoder, "decoder")
        if len(up[-1][1]) != len(down[0][0]) or len(up[0][0]) != len(down[-1][1]):
            raise InvalidModel(
                f"the encoder makes {len(up[-1][1])} numbers of {len(up[0][0])}, and the decoder {len(down[-1][1])} of"
                f" {len(down[0][0])}: one must undo the other"
            )
        self._set(encoder=up, decoder=down)

    @classmethod
    def random(cls, num_columns: int, num_codes: int, *, hidden: Any = (), rng: Any = None) -> Autoencoder:
        """An autoencoder with random weights, from which learning starts.

        Parameters
        ----------
        num_columns, num_codes
            The length of a row and of a code.
        hidden
            Widths of the hidden layers of the encoder; the decoder has them in reverse.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        Autoencoder
        """
        columns, codes = check_count(num_columns, "num_columns", least=1), check_count(num_codes, "num_codes", least=1)
        sizes, generator = [columns, *check_widths(hidden), codes], as_generator(rng)
        return cls(random_layers(sizes, generator), random_layers(sizes[::-1], generator))

    @property
    def num_columns(self) -> int:
        return len(self.encoder[0][0])

    @cached_property
    def variables(self) -> Scope:
        """The columns of a row, and the vector "code" after them."""
        return columns_and_code(self.feature_names or default_names(self.num_columns), "code", self.num_codes)

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases."""
        return count_layers(self.encoder) + count_layers(self.decoder)

    @property
    def num_codes(self) -> int:
        return len(self.decoder[0][0])

    def encode(self, rows: Any) -> np.ndarray:
        """The codes E(x): (row, code), or (code,) of one row."""
        values, is_single = complete_numbers(rows, self.num_columns, self.feature_names)
        codes = apply_layers(self.encoder, values)
        return np.asarray(codes[0] if is_single else codes)

    def decode(self, codes: Any) -> np.ndarray:
        """The rows D(z): (row, column), or (column,) of one code."""
        values, is_single = complete_numbers(codes, self.num_codes)
        rows = apply_layers(self.decoder, values)
        return np.asarray(rows[0] if is_single else rows)

    def reconstruction_error(self, rows: Any) -> float:
        """Σ ‖x - D(E(x))‖² over the rows."""
        values, _ = complete_numbers(rows, self.num_columns, self.feature_names)
        return float(((values - apply_layers(self.decoder, apply_layers(self.encoder, values))) ** 2).sum())

    def maximizing_input(self, unit: int) -> np.ndarray:
        """The input of length 1 at which a unit of the first layer is largest, w / ‖w‖: the feature it looks for."""
        weights = self.encoder[0][0]
        at = check_count(unit, "unit")
        if at >= weights.shape[1]:
            raise InvalidModel(f"the first layer has the units 0 to {weights.shape[1] - 1}; there is no unit {at}")
        length = float(np.linalg.norm(weights[:, at]))
        if length == 0:
            raise InvalidModel(f"the weights of unit {at} are all 0, so that no input moves it")
        return weights[:, at] / length

    def __repr__(self) -> str:
        sizes = [self.num_columns, *(len(bias) for _, bias in (*self.encoder, *self.decoder))]
        return f"Autoencoder({' – '.join(map(str, sizes))})"


@keep_names
def fit_autoencoder(
    model: Autoencoder,
    data: Any,
    *,
    prior: None = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: NeuralOptions,
) -> Fit[Autoencoder]:
    """An autoencoder learned by stochastic gradient descent of the squared error, on JAX.

    Parameters
    ----------
    model
        Where learning starts: `Autoencoder.random`.
    data
        (row, column) of finite numbers, or a frame.
    prior
        None.
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each epoch.
    options
        The learner.

    Returns
    -------
    Fit
        Its `trace` is -‖x - D(E(x))‖² on average over the rows held out, after each epoch; `statistics` is a
        `HeldOutEstimate` of it with its standard error. It has no likelihood: `log_likelihood` is NaN.
    """
    if prior is not None:
        raise Unsupported("an autoencoder has no prior: leave it out")
    check_progress(progress)
    from juncture.inference.variational.jax_families import import_jax

    tanh = import_jax()[0].numpy.tanh

    def gains(parameters: Any, rows: Any, _: Any) -> Any:
        codes = apply_layers(parameters["encoder"], rows, tanh)
        return -((rows - apply_layers(parameters["decoder"], codes, tanh)) ** 2).sum(axis=1)

    rows, _ = complete_numbers(data, model.num_columns, model.feature_names)
    first = {"encoder": model.encoder, "decoder": model.decoder}
    seed = as_seed(rng)
    found, estimate, trace = train(gains, first, rows, options.method, as_generator(seed), progress)
    return Fit(Autoencoder(**found), float("nan"), trace, estimate, seed)
