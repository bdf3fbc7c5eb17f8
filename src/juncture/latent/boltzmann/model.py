"""`RestrictedBoltzmannMachine`: p(x, h) ∝ exp(aᵀh + bᵀu(x) + u(x)ᵀW h), with hidden units h that are 0 or 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.checks import check_array, check_choice, check_count, check_number
from juncture.errors import InvalidModel
from juncture.latent.boltzmann.units import BernoulliUnits, GaussianUnits, SoftmaxUnits, VisibleUnits
from juncture.numerics import sigmoid, softplus
from juncture.options import as_generator
from juncture.values import Value, number_of, read_only
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
    from juncture.networks.factor_product import MarkovNetwork

KINDS = ("bernoulli", "gaussian", "softmax")


class RestrictedBoltzmannMachine(Value):
    """p(x, h) = exp(aᵀh + bᵀx + xᵀW h) / Z, a Markov network with edges between visible and hidden units only.

    Hidden units are 0 or 1, and independent given the visible ones, as these are given the hidden ones. Bernoulli
    visible units are 0 or 1. Gaussian ones are real, with the factor exp(-x²/2) and so the variance 1 given h. A softmax
    unit has one of several states, and a weight for each: x stands for its indicators.

    Parameters
    ----------
    weights
        W: (visible, hidden); for softmax units (visible, state, hidden).
    visible_bias
        b: (visible,); for softmax units (visible, state).
    hidden_bias
        a: (hidden,).
    visible
        "bernoulli", "gaussian" or "softmax".

    Examples
    --------
    >>> import juncture as jt
    >>> weights = [[1.0, -0.5], [-1.0, 2.0], [0.5, 0.3]]
    >>> machine = jt.RestrictedBoltzmannMachine(weights, [0.0, 0.3, -0.4], [0.2, -0.1])
    >>> round(machine.log_partition, 7)
    4.4613546
    >>> jt.infer(machine, [1, 0, 1]).hidden.round(4)
    array([0.8455, 0.4256])
    """

    _fields = ("weights", "visible_bias", "hidden_bias", "visible")
    weights: np.ndarray
    visible_bias: np.ndarray
    hidden_bias: np.ndarray
    visible: str

    def __init__(self, weights: Any, visible_bias: Any, hidden_bias: Any, visible: str = "bernoulli") -> None:
        check_choice(visible, KINDS, "visible", error=InvalidModel)
        arrays = {"weights": weights, "visible_bias": visible_bias, "hidden_bias": hidden_bias}
        found = {name: check_array(values, name, error=InvalidModel) for name, values in arrays.items()}
        check_shapes(*found.values(), is_softmax=visible == "softmax")
        self._set(**{name: read_only(array) for name, array in found.items()}, visible=visible)

    @classmethod
    def random(
        cls,
        num_visible: int,
        num_hidden: int,
        visible: str = "bernoulli",
        *,
        num_states: int = 2,
        scale: float = 0.01,
        rng: Any = None,
    ) -> RestrictedBoltzmannMachine:
        """A machine with small random weights and biases of 0, from which learning starts.

        Parameters
        ----------
        num_visible, num_hidden
            The number of units.
        visible
            "bernoulli", "gaussian" or "softmax".
        num_states
            The number of states of softmax units.
        scale
            The standard deviation of the weights.
        rng
            A seed or a `numpy.random.Generator`.
        """
        check_choice(visible, KINDS, "visible", error=InvalidModel)
        count, hidden = check_count(num_visible, "num_visible", least=1), check_count(num_hidden, "num_hidden", least=1)
        states = check_count(num_states, "num_states", least=2)
        shape = (count, states) if visible == "softmax" else (count,)
        spread = check_number(scale, "scale", least=0)
        weights = spread * as_generator(rng).standard_normal((*shape, hidden))
        return cls(weights, np.zeros(shape), np.zeros(hidden), visible)

    @property
    def num_visible(self) -> int:
        return len(self.visible_bias)

    @property
    def num_hidden(self) -> int:
        return len(self.hidden_bias)

    @property
    def units(self) -> VisibleUnits:
        """The visible units."""
        if self.visible == "softmax":
            return SoftmaxUnits(*self.visible_bias.shape)
        return BernoulliUnits(self.num_visible) if self.visible == "bernoulli" else GaussianUnits(self.num_visible)

    @property
    def hidden_variables(self) -> list[Variable]:
        """The hidden units h0, h1, …, with the states 0 and 1."""
        return [Variable(f"h{unit}", 2) for unit in range(self.num_hidden)]

    @property
    def matrix(self) -> np.ndarray:
        """W with one line for each entry of u(x): (entry, hidden)."""
        return self.weights.reshape(-1, self.num_hidden)

    def hidden_input(self, u: np.ndarray) -> np.ndarray:
        """a + Wᵀu, (row, hidden): the log odds of the hidden units given statistics of visible ones."""
        return np.asarray(u @ self.matrix + self.hidden_bias)

    def visible_input(self, h: np.ndarray) -> np.ndarray:
        """b + W h, (row, entry): the natural parameters of the visible units given hidden ones."""
        return np.asarray(h @ self.matrix.T + self.visible_bias.ravel())

    def log_weight(self, u: np.ndarray) -> np.ndarray:
        """log Σ_h exp(-E(x, h)) of statistics of rows, (row,): the free energy with its sign changed."""
        visible = u @ self.visible_bias.ravel() + self.units.log_base(u)
        return np.asarray(visible + softplus(self.hidden_input(u)).sum(axis=1))

    def free_energy(self, rows: Any) -> np.ndarray:
        """F(x) = -log Σ_h exp(-E(x, h)), so that p(x) = exp(-F(x)) / Z.

        Parameters
        ----------
        rows
            Complete rows, (row, visible), or one row.

        Returns
        -------
        numpy.ndarray
            (row,), or a number of one row.
        """
        from juncture.latent.boltzmann.rows import complete_rows

        values, is_single = complete_rows(self, rows)
        energies = -self.log_weight(self.units.encode(values))
        return energies[0] if is_single else energies

    def hidden_probabilities(self, rows: Any) -> np.ndarray:
        """p(h_j = 1 | x) of complete rows, (row, hidden): the features of the rows."""
        from juncture.latent.boltzmann.rows import complete_rows

        values, is_single = complete_rows(self, rows)
        shares = sigmoid(self.hidden_input(self.units.encode(values)))
        return shares[0] if is_single else shares

    @property
    def log_partition(self) -> float:
        """Log Z, by the sum over all states of the smaller layer; `TooLarge` where both are large."""
        from juncture.latent.boltzmann.enumeration import exact_log_partition

        if "log_partition" not in self.derived:
            self.derived["log_partition"] = exact_log_partition(self)
        return float(self.derived["log_partition"])

    def annealed_log_partition(
        self, *, particles: int = 100, temperatures: int = 1000, rng: Any = None
    ) -> AnnealedEstimate:
        """Log Z by annealed importance sampling, with its standard error, for machines of any size.

        Parameters
        ----------
        particles
            The number of independent chains.
        temperatures
            The number of steps from W = 0 and a = 0 to the machine; each is one step of block Gibbs sampling.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        AnnealedEstimate
            Its `log_evidence` estimates log Z.

        Examples
        --------
        >>> import juncture as jt
        >>> machine = jt.RestrictedBoltzmannMachine.random(6, 4, scale=1.0, rng=0)
        >>> estimate = machine.annealed_log_partition(rng=0)
        >>> abs(estimate.log_evidence - machine.log_partition) < 4 * estimate.standard_error
        True
        """
        from juncture.latent.boltzmann.annealed import anneal

        return anneal(self, particles, temperatures, rng)

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution over v0, v1, … and h0, h1, … as a product of tables, with the same Z.

        Gaussian machines have no tables: `Unsupported`.
        """
        from juncture.latent.boltzmann.markov_network import as_markov_network

        return as_markov_network(self)

    def __repr__(self) -> str:
        hidden = number_of(self.num_hidden, "hidden unit")
        return f"RestrictedBoltzmannMachine({self.num_visible} visible {self.visible} units, {hidden})"


def check_shapes(weights: np.ndarray, visible_bias: np.ndarray, hidden_bias: np.ndarray, *, is_softmax: bool) -> None:
    """Check that the arrays belong together and are finite."""
    if weights.ndim != 2 + is_softmax or not weights.size:
        axes = "(visible, state, hidden)" if is_softmax else "(visible, hidden)"
        raise InvalidModel(f"the weights are an array {axes}; got one of the shape {weights.shape}")
    for name, bias, shape in (
        ("visible_bias", visible_bias, weights.shape[:-1]),
        ("hidden_bias", hidden_bias, weights.shape[-1:]),
    ):
        if bias.shape != shape:
            raise InvalidModel(f"{name} must have the shape {shape}, as the weights have; got {bias.shape}")
    if not all(np.isfinite(array).all() for array in (weights, visible_bias, hidden_bias)):
        raise InvalidModel("the weights and biases of a machine must be finite numbers")
