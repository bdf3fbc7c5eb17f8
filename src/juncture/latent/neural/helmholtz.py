"""Helmholtz machines: a sigmoid network with a recognition network (Dayan, Hinton, Neal and Zemel 1995).

`fit` is the wake-sleep algorithm (Hinton, Dayan, Frey and Neal 1995). The wake phase draws h from q(h | x) for rows and
moves p(x | h) p(h) towards them; the sleep phase draws x and h from the model and moves q(h | x) towards them, which
minimises KL(p ‖ q) and not KL(q ‖ p).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_number
from juncture.base.methods import register_methods, register_names, resolve_method
from juncture.base.options import Options, as_generator, as_seed
from juncture.base.values import number_of, read_only
from juncture.data.dataset import Dataset
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import keep_names
from juncture.errors import InvalidData, InvalidModel, TooLarge, Unsupported
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.latent.boltzmann.deep.beliefs import DeepBeliefs
from juncture.latent.boltzmann.deep.layers import all_binary
from juncture.latent.boltzmann.fit import falling_rate
from juncture.latent.boltzmann.layers import BernoulliUnits, visible_variables
from juncture.latent.boltzmann.visible_rows import complete_rows, name_units
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress, iterate
from juncture.numerics.stable import log_sum_exp, sigmoid, softplus
from juncture.variables import Scope, Variable

SUMMED_UNITS, DRAWS = 10, 100  # hidden units whose states are summed over for a bound; draws for more
MAX_UNITS = 16  # hidden units whose states are all visited for an exact log p
ARRAYS = ("weights", "visible_bias", "hidden_bias", "recognition_weights", "recognition_bias")


class HelmholtzMachine(NamedFeatures):
    """Independent hidden units, p(h = 1) = σ(a), p(x = 1 | h) = σ(b + W h), and q(h = 1 | x) = σ(c + Rᵀ x).

    Parameters
    ----------
    weights, visible_bias, hidden_bias
        W: (visible, hidden); b: (visible,); a: (hidden,).
    recognition_weights, recognition_bias
        R: (visible, hidden); c: (hidden,).

    Examples
    --------
    >>> import juncture as jt
    >>> machine = jt.neural.HelmholtzMachine.random(3, 2, rng=0)
    >>> rows = [[x >> unit & 1 for unit in range(3)] for x in range(8)]
    >>> round(float(np.exp(jt.log_prob(machine, rows)).sum()), 12)
    1.0
    """

    kind: ClassVar[str] = "Helmholtz machine"
    weights: np.ndarray
    visible_bias: np.ndarray
    hidden_bias: np.ndarray
    recognition_weights: np.ndarray
    recognition_bias: np.ndarray

    def __init__(
        self, weights: Any, visible_bias: Any, hidden_bias: Any, recognition_weights: Any, recognition_bias: Any
    ) -> None:
        given = (weights, visible_bias, hidden_bias, recognition_weights, recognition_bias)
        found = {
            name: check_array(values, name, error=InvalidModel) for name, values in zip(ARRAYS, given, strict=True)
        }
        shape = found["weights"].shape
        if len(shape) != 2 or not found["weights"].size:
            raise InvalidModel(f"the weights are an array (visible, hidden); got one of the shape {shape}")
        for name, expected in zip(ARRAYS, (shape, shape[:1], shape[1:], shape, shape[1:]), strict=True):
            if found[name].shape != expected:
                raise InvalidModel(
                    f"{name} must have the shape {expected}, as the weights say; got {found[name].shape}"
                )
        if not all(np.isfinite(array).all() for array in found.values()):
            raise InvalidModel("the weights and biases of a machine must be finite numbers")
        self._set(**{name: read_only(array) for name, array in found.items()})

    @classmethod
    def random(cls, num_visible: int, num_hidden: int, *, scale: float = 0.1, rng: Any = None) -> HelmholtzMachine:
        """A machine with small random weights and biases of 0, from which learning starts."""
        shape = check_count(num_visible, "num_visible", least=1), check_count(num_hidden, "num_hidden", least=1)
        spread, generator = check_number(scale, "scale", least=0), as_generator(rng)
        down, up = (spread * generator.standard_normal(shape) for _ in range(2))
        return cls(down, np.zeros(shape[0]), np.zeros(shape[1]), up, np.zeros(shape[1]))

    @property
    def num_visible(self) -> int:
        return len(self.visible_bias)

    @property
    def num_columns(self) -> int:
        """The number of columns of a row."""
        return self.num_visible

    @property
    def num_hidden(self) -> int:
        return len(self.hidden_bias)

    @property
    def units(self) -> BernoulliUnits:
        """The visible units."""
        return BernoulliUnits(self.num_visible)

    @property
    def hidden_layers(self) -> list[list[Variable]]:
        """The hidden units h0, h1, …: one layer."""
        return [[Variable(f"h{unit}", 2) for unit in range(self.num_hidden)]]

    @property
    def variables(self) -> Scope:
        """The visible units, and the hidden ones after them."""
        return Scope([*visible_variables(self.units, self.feature_names), *self.hidden_layers[0]])

    @property
    def num_parameters(self) -> int:
        """The number of weights and biases, those of the recognition network too."""
        return sum(getattr(self, name).size for name in ARRAYS)

    def _draw_hidden(self, row: np.ndarray, means: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """(draw, unit): draws of the recognition network, whose units are independent with these means (unit,)."""
        return (rng.random((count, len(means))) < means).astype(np.int64)

    def recognize(self, rows: Any) -> np.ndarray:
        """q(h = 1 | x): (row, hidden), or (hidden,) of one row."""
        values, is_single = complete_rows(self, rows)
        shares = sigmoid(values @ self.recognition_weights + self.recognition_bias)
        return shares[0] if is_single else shares

    def __repr__(self) -> str:
        return f"HelmholtzMachine({self.num_visible} visible units, {number_of(self.num_hidden, 'hidden unit')})"


def infer_helmholtz(
    model: HelmholtzMachine,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    draws: int | None = None,
    rng: Any = None,
) -> DeepBeliefs:
    """q(h | row) of the recognition network for one row or many, with a lower bound of log p(row).

    Parameters
    ----------
    model
        The machine.
    evidence
        (row, visible) of zeros and ones, one row, a frame or a `Dataset`; without holes.
    method
        "auto" or "recognition".
    on_impossible
        As in `infer`; no row is impossible.
    draws
        Draws of q for each row, from which the bound is estimated. By default its expectation is summed over all states
        of at most 10 hidden units; else 100.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    DeepBeliefs
    """
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    rows, is_single = complete_rows(model, evidence)
    layers = (np.asarray(model.recognize(rows)),)
    if draws is None and model.num_hidden <= SUMMED_UNITS:
        bounds, facts = sum_ratios(model, rows), Diagnostics(exact=False)
        return DeepBeliefs(model, layers, bounds, np.zeros(len(rows)), is_single, algorithm, facts, rows)
    count, seed = DRAWS if draws is None else check_count(draws, "draws", least=2), as_seed(rng)
    generator = as_generator(seed)
    found = np.stack([log_ratios(model, rows, generator) for _ in range(count)])
    errors, facts = found.std(axis=0, ddof=1) / np.sqrt(count), Diagnostics(exact=False, steps=count)
    return DeepBeliefs(model, layers, found.mean(axis=0), errors, is_single, algorithm, facts, rows, seed)


def sum_ratios(model: HelmholtzMachine, rows: np.ndarray) -> np.ndarray:
    """The expectation of `log_ratios` under q(h | x), by the sum over all hidden states: (row,)."""
    h = all_binary(model.num_hidden)
    odds = rows @ model.recognition_weights + model.recognition_bias
    log_q = odds @ h.T - softplus(odds).sum(axis=1)[:, None]
    down = h @ model.weights.T + model.visible_bias
    joint = rows @ down.T - softplus(down).sum(axis=1) + log_given(h, model.hidden_bias)
    return np.asarray((np.exp(log_q) * (joint - log_q)).sum(axis=1))


def log_prob_helmholtz(model: HelmholtzMachine, rows: Any, *, method: str = "auto") -> Any:
    """log p(row), by the sum over all states of at most 16 hidden units."""
    resolve_method(model, "log_prob", method)
    values, is_single = complete_rows(model, rows)
    if model.num_hidden > MAX_UNITS:
        raise TooLarge(f"log p visits all 2^{model.num_hidden} hidden states; the limit is 2^{MAX_UNITS}")
    h = all_binary(model.num_hidden)
    odds = h @ model.weights.T + model.visible_bias
    given = values @ odds.T - softplus(odds).sum(axis=1)
    found = log_sum_exp(given + log_given(h, model.hidden_bias), axis=1)
    return float(found[0]) if is_single else found


def log_given(states: np.ndarray, odds: np.ndarray) -> np.ndarray:
    """log p of states of independent units with these log odds, summed over the last axis."""
    return np.asarray((states * odds - softplus(odds)).sum(axis=-1))


def sample_helmholtz(model: HelmholtzMachine, n: Any, *, given: Any = None, rng: Any = None) -> Dataset:
    """`n` independent rows v0, v1, … from p(h) and p(x | h); with `given`, one row: `n` draws of q(h | row)."""
    if given is not None:
        beliefs = infer_helmholtz(model, given, draws=2)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count, generator = check_num_rows(n, 32 * model.num_visible), as_generator(rng)
    return name_units(model, dream(model, count, generator)[1])


def dream(model: HelmholtzMachine, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws of h and x from the model."""
    h = (rng.random((count, model.num_hidden)) < sigmoid(model.hidden_bias)).astype(float)
    odds = h @ model.weights.T + model.visible_bias
    return h, (rng.random(odds.shape) < sigmoid(odds)).astype(float)


@dataclass(frozen=True)
class WakeSleep(Options):
    """The wake-sleep algorithm (Hinton, Dayan, Frey and Neal 1995), in epochs over batches of rows.

    Parameters
    ----------
    learning_rate
        The length of a step, which falls to 0 over the second half of the epochs.
    batch_size
        The number of rows of a step.
    epochs
        The number of passes over the rows.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = [[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> start = jt.neural.HelmholtzMachine.random(3, 2, rng=0)
    >>> fitted = jt.fit(start, rows, method=jt.neural.WakeSleep(learning_rate=0.3, epochs=100), rng=0)
    >>> bool(fitted.log_likelihood > jt.log_prob(start, rows).sum())
    True
    """

    learning_rate: float = 0.1
    batch_size: int = 20
    epochs: int = 50

    def __post_init__(self) -> None:
        check_number(self.learning_rate, "learning_rate", least=0)
        check_count(self.batch_size, "batch_size", least=1)
        check_count(self.epochs, "epochs", least=1)


@dataclass(frozen=True)
class HelmholtzOptions(Options):
    """How a Helmholtz machine is learned.

    Parameters
    ----------
    method
        "wake-sleep", or a `WakeSleep` with its options.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"wake-sleep": WakeSleep}


@keep_names
def fit_helmholtz(
    model: HelmholtzMachine,
    data: Any,
    *,
    prior: None = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: HelmholtzOptions,
) -> Fit[HelmholtzMachine]:
    """A machine learned by the wake-sleep algorithm, from the given one on.

    Parameters
    ----------
    model
        Where learning starts: `HelmholtzMachine.random`.
    data
        (row, visible) of zeros and ones, a frame or a `Dataset`; without holes.
    prior
        None.
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each epoch.
    options
        The learner.

    Returns
    -------
    Fit
        Its `trace` need not rise. `log_likelihood` is exact for at most 8 hidden units, else a lower bound;
        `statistics` is a `LikelihoodBound`, with its standard error.
    """
    if prior is not None:
        raise Unsupported("a Helmholtz machine is learned by wake-sleep, which takes no prior: leave it out")
    check_progress(progress)
    rows, _ = complete_rows(model, data)
    if not len(rows):
        raise InvalidData("there are no rows to learn from")
    seed = as_seed(rng)
    generator = as_generator(seed)
    algorithm = WakeSleepEpochs(model, rows, options.method, generator)
    limits: dict[str, Any] = {"tolerance": 0.0, "max_steps": options.method.epochs, "progress": progress}
    (learned, _), trace = iterate(algorithm, is_monotone=False, **limits)
    found = estimate_likelihood(learned, rows, generator)
    return Fit(learned, found.log_likelihood, trace, found, seed)


@dataclass(frozen=True, eq=False)
class WakeSleepEpochs:
    """An epoch of wake and sleep phases over batches of rows, as one step of `iterate`."""

    model: HelmholtzMachine
    rows: np.ndarray
    learner: WakeSleep
    rng: np.random.Generator

    def init(self) -> tuple[HelmholtzMachine, int]:
        return self.model, 0

    def step(self, state: tuple[HelmholtzMachine, int]) -> tuple[HelmholtzMachine, int]:
        """One pass over the rows in random order; the rate falls to 0 over the second half of all passes."""
        model, epoch = state
        rate, size = falling_rate(self.learner, epoch), self.learner.batch_size
        order = self.rng.permutation(len(self.rows))
        for first in range(0, len(order), size):
            model = self.move(model, self.rows[order[first : first + size]], rate)
        return model, epoch + 1

    def move(self, model: HelmholtzMachine, x: np.ndarray, rate: float) -> HelmholtzMachine:
        """The delta rule of both phases: what was drawn less what was expected, times what came before."""
        shares = model.recognize(x)
        h = (self.rng.random(shares.shape) < shares).astype(float)
        seen = x - sigmoid(h @ model.weights.T + model.visible_bias)
        dreamed, image = dream(model, len(x), self.rng)
        recalled = dreamed - model.recognize(image)
        wake = (seen.T @ h, seen.sum(axis=0), (h - sigmoid(model.hidden_bias)).sum(axis=0))
        sleep = (image.T @ recalled, recalled.sum(axis=0))
        steps = zip(ARRAYS, (*wake, *sleep), strict=True)
        moved = (getattr(model, name) + rate / len(x) * step for name, step in steps)
        return HelmholtzMachine(*moved)

    def objective(self, state: tuple[HelmholtzMachine, int]) -> float:
        return estimate_likelihood(state[0], self.rows, self.rng).log_likelihood


def estimate_likelihood(model: HelmholtzMachine, rows: np.ndarray, rng: np.random.Generator) -> LikelihoodBound:
    """The exact log-likelihood for few hidden units, else the bound E_q[log p(x, h) - log q(h | x)] from draws."""
    if model.num_hidden <= MAX_UNITS // 2:
        return LikelihoodBound(float(log_prob_helmholtz(model, rows).sum()), 0.0, True)
    found = np.stack([log_ratios(model, rows, rng) for _ in range(20)])
    error = float(np.sqrt((found.var(axis=0, ddof=1) / len(found)).sum()))
    return LikelihoodBound(float(found.mean(axis=0).sum()), error, False)


class LikelihoodBound(NamedTuple):
    """The log-likelihood of rows, exact with the error 0, or a lower bound estimated from draws of q."""

    log_likelihood: float
    standard_error: float
    exact: bool


def log_ratios(model: HelmholtzMachine, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """log p(x, h) - log q(h | x) at one draw of q for each row, (row,)."""
    odds = rows @ model.recognition_weights + model.recognition_bias
    h = (rng.random(odds.shape) < sigmoid(odds)).astype(float)
    joint = log_given(h, model.hidden_bias) + log_given(rows, h @ model.weights.T + model.visible_bias)
    return joint - log_given(h, odds)


register_methods(HelmholtzMachine, "log_prob", "enumeration")
register_names(HelmholtzMachine, "infer", {"auto": "recognition", "recognition": "recognition"})
