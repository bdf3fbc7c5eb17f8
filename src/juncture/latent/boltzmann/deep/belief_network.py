"""Deep belief networks: directed sigmoid layers below a restricted Boltzmann machine (Hinton, Osindero and Teh 2006).

`infer` is one factorised upward pass, which bounds log p(row) from below; `log_prob` sums over all states of narrow
layers; `sample` runs Gibbs chains of the top machine, then one pass down; `fit` learns a machine for each pair of
layers, each from the features of the one below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_count
from juncture.base.methods import register_methods, register_names, resolve_method
from juncture.base.options import as_generator, as_seed, used_seed
from juncture.data.dataset import Dataset
from juncture.data.rows import keep_names
from juncture.errors import InvalidData, InvalidModel, TooLarge, Unsupported
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.latent.boltzmann.deep.beliefs import DeepBeliefs
from juncture.latent.boltzmann.deep.layers import DeepParameters, all_binary, as_arrays
from juncture.latent.boltzmann.fit import BoltzmannOptions, learn_machine
from juncture.latent.boltzmann.infer import gibbs_step, start
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.partition_function import is_quick
from juncture.latent.boltzmann.visible_rows import complete_rows, name_units
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback
from juncture.numerics.stable import log_sum_exp, sigmoid, softplus

if TYPE_CHECKING:
    from juncture.latent.boltzmann.deep.boltzmann_machine import DeepBoltzmannMachine

SUMMED_UNITS, DRAWS = 10, 100  # of the layers below the top, whose states are summed over; draws of others
MAX_UNITS = 12  # of a hidden layer below the top, whose states are all visited for an exact log p
STEPS = 1000  # of the chain of the top machine of each row that sample draws


class DeepBeliefNetwork(DeepParameters):
    """p(x, h) = p(x | h₁) p(h₁ | h₂) … p(h₍L-1₎, h_L): the two top layers are a restricted Boltzmann machine.

    Each lower layer is independent units given the layer above, with log odds b + W h. A restricted Boltzmann machine
    for each pair of layers, learned from the features of the one below, gives its parameters: `jt.fit`.

    Parameters
    ----------
    weights
        A list of arrays (unit of the lower layer, unit of the upper layer), the lowest first.
    biases
        A list of the biases of the layers, the visible one first.
    recognition
        Biases of the hidden layers below the top in the upward pass q(h_k | h_k-1), whose weights are those of the
        model; None for the biases of the model. They matter to the bound of `infer` only.

    Examples
    --------
    >>> import juncture as jt
    >>> network = jt.neural.DeepBeliefNetwork([[[2.0], [-1.0]], [[1.0]]], [[0.0, 0.0], [0.0], [0.5]])
    >>> network
    DeepBeliefNetwork(2 – 1 – 1 units)
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> round(float(np.exp(jt.log_prob(network, rows)).sum()), 12)
    1.0
    """

    kind: ClassVar[str] = "deep belief network"
    recognition: tuple[np.ndarray, ...]

    def __init__(self, weights: Any, biases: Any, recognition: Any = None) -> None:
        super().__init__(weights, biases)
        found = self.biases[1:-1] if recognition is None else as_arrays(recognition, "recognition", 1)
        if tuple(map(len, found)) != self.sizes[1:-1]:
            raise InvalidModel(
                f"recognition has a bias for each unit of the hidden layers below the top, {list(self.sizes[1:-1])};"
                f" got {[len(bias) for bias in found]}"
            )
        self._set(recognition=found)

    @property
    def top(self) -> RestrictedBoltzmannMachine:
        """The machine of the two top layers."""
        if "top" not in self.derived:
            self.derived["top"] = RestrictedBoltzmannMachine(self.weights[-1], self.biases[-2], self.biases[-1])
        machine: RestrictedBoltzmannMachine = self.derived["top"]
        return machine

    def _draw_hidden(self, row: np.ndarray, means: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
        """(draw, unit): draws of the upward pass, layer by layer."""
        drawn = [np.repeat(row, count, axis=0)]
        for layer in range(1, len(self.sizes)):
            shares = sigmoid(upward_odds(self, layer, drawn[-1]))
            drawn.append((rng.random(shares.shape) < shares).astype(np.int64))
        return np.concatenate(drawn[1:], axis=1)


def infer_belief_network(
    model: DeepBeliefNetwork,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
    draws: int | None = None,
    rng: Any = None,
) -> DeepBeliefs:
    """The factorised upward pass q(h | row) for one row or many, with a lower bound of log p(row) from draws of it.

    Parameters
    ----------
    model
        The network.
    evidence
        (row, visible) of zeros and ones, one row, a frame or a `Dataset`; without holes.
    method
        "auto" or "upward".
    on_impossible
        As in `infer`; no row is impossible.
    draws
        Draws of q for each row, from which the bound is estimated. By default its expectation is summed over all
        states of the hidden layers below the top where these have at most 10 units in all; else 100.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    DeepBeliefs
        Its `bounds` have standard errors, also those of an annealed log Z of the top machine.
    """
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    rows, is_single = complete_rows(model, evidence)
    seed = as_seed(rng)
    generator = as_generator(seed)
    log_z, log_z_error = top_log_partition(model, generator)
    if draws is None and sum(model.sizes[1:-1]) <= SUMMED_UNITS:
        summed, expected = sum_upward(model, rows)
        errors, facts = np.full(len(rows), log_z_error), Diagnostics(exact=False)
        drawn = used_seed(seed, generator)
        return DeepBeliefs(model, summed, expected - log_z, errors, is_single, algorithm, facts, rows, drawn)
    count = DRAWS if draws is None else check_count(draws, "draws", least=2)
    layers, bounds, errors = mean_upward(model, rows, count, generator)
    found, errors = bounds - log_z, np.hypot(errors, log_z_error)
    diagnostics = Diagnostics(exact=False, steps=count)
    return DeepBeliefs(model, layers, found, errors, is_single, algorithm, diagnostics, rows, seed)


def mean_upward(
    model: DeepBeliefNetwork, rows: np.ndarray, count: int, rng: np.random.Generator
) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """Means over so many draws of the upward pass: of the layers, and of the bound with its standard error."""
    means, bounds = draw_upward(model, np.repeat(rows, count, axis=0), rng)
    by_row = bounds.reshape(len(rows), count)
    layers = tuple(mean.reshape(len(rows), count, -1).mean(axis=1) for mean in means)
    return layers, by_row.mean(axis=1), by_row.std(axis=1, ddof=1) / np.sqrt(count)


def estimate_bounds(
    model: DeepBeliefNetwork, rows: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Lower bounds of log p of each row from draws, and their standard errors."""
    log_z, log_z_error = top_log_partition(model, rng)
    _, bounds, errors = mean_upward(model, rows, DRAWS, rng)
    return bounds - log_z, np.hypot(errors, log_z_error)


def sum_upward(model: DeepBeliefNetwork, rows: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """As the expectations of `draw_upward`, by the sum over all states of the hidden layers below the top."""
    if len(model.sizes) == 2:
        return (sigmoid(upward_odds(model, 1, rows)),), model.top.log_weight(rows)
    sizes = model.sizes[1:-1]
    parts = np.split(all_binary(sum(sizes)), np.cumsum(sizes)[:-1], axis=1)
    odds = upward_odds(model, 1, rows)
    log_q = odds @ parts[0].T - softplus(odds).sum(axis=1)[:, None]
    down = parts[0] @ model.weights[0].T + model.biases[0]
    gains = rows @ down.T - softplus(down).sum(axis=1)
    for layer in range(2, len(model.sizes) - 1):
        lower, upper = parts[layer - 2], parts[layer - 1]
        odds = upward_odds(model, layer, lower)
        log_q = log_q + (upper * odds - softplus(odds)).sum(axis=1)
        gains = gains + log_prob_below(model, layer - 1, lower, upper)
    q = np.exp(log_q)
    bounds = (q * (gains + model.top.log_weight(parts[-1]) - log_q)).sum(axis=1)
    top = q @ sigmoid(upward_odds(model, len(model.sizes) - 1, parts[-1]))
    return (*(q @ part for part in parts), top), bounds


def top_log_partition(model: DeepBeliefNetwork, rng: np.random.Generator) -> tuple[float, float]:
    """Log Z of the top machine, and its standard error: 0 where it is exact."""
    if is_quick(model.top):
        return model.top.log_partition, 0.0
    estimate = model.top.annealed_log_partition(rng=rng)
    return estimate.log_evidence, estimate.standard_error


def draw_upward(
    model: DeepBeliefNetwork, rows: np.ndarray, rng: np.random.Generator
) -> tuple[list[np.ndarray], np.ndarray]:
    """q(h = 1 | the layer below) of each layer, and log p(x, h) + log Z - log q(h | x), the top layer summed out."""
    means, below, total = [], rows, np.zeros(len(rows))
    for layer in range(1, len(model.sizes) - 1):
        odds = upward_odds(model, layer, below)
        means.append(sigmoid(odds))
        drawn = (rng.random(odds.shape) < means[-1]).astype(float)
        total += log_prob_below(model, layer - 1, below, drawn) - (drawn * odds - softplus(odds)).sum(axis=1)
        below = drawn
    means.append(sigmoid(upward_odds(model, len(model.sizes) - 1, below)))
    return means, total + model.top.log_weight(below)


def upward_odds(model: DeepBeliefNetwork, layer: int, below: np.ndarray) -> np.ndarray:
    """The log odds of q(h | the layer below) for a hidden layer, (row, unit)."""
    bias = (*model.recognition, model.biases[-1])[layer - 1]
    return np.asarray(below @ model.weights[layer - 1] + bias)


def log_prob_below(model: DeepBeliefNetwork, layer: int, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """log p(lower | upper) of a layer given the next one, (row,)."""
    odds = upper @ model.weights[layer].T + model.biases[layer]
    return np.asarray((lower * odds - softplus(odds)).sum(axis=1))


def log_prob_belief_network(model: DeepBeliefNetwork, rows: Any, *, method: str = "auto") -> Any:
    """log p(row), exactly, for up to 12 units in each hidden layer below the top; `infer` bounds larger ones."""
    resolve_method(model, "log_prob", method)
    values, is_single = complete_rows(model, rows)
    found = exact_log_prob(model, values)
    return float(found[0]) if is_single else found


def exact_log_prob(model: DeepBeliefNetwork, rows: np.ndarray) -> np.ndarray:
    """log p(row) by the sum over all states of the hidden layers below the top, (row,)."""
    check_widths(model.sizes[1:-1])
    if len(model.weights) == 1:
        return model.top.log_weight(rows) - model.top.log_partition
    states = all_binary(model.sizes[-2])
    log_states = model.top.log_weight(states) - model.top.log_partition
    for layer in range(len(model.sizes) - 3, -1, -1):
        lower = rows if layer == 0 else all_binary(model.sizes[layer])
        odds = states @ model.weights[layer].T + model.biases[layer]
        given = lower @ odds.T - softplus(odds).sum(axis=1)
        states, log_states = lower, log_sum_exp(given + log_states, axis=1)
    return log_states


def check_widths(sizes: Sequence[int]) -> None:
    if any(size > MAX_UNITS for size in sizes):
        raise TooLarge(
            f"log p of a deep belief network with {max(sizes)} units in a hidden layer below the top visits all their"
            f" states; the limit is {MAX_UNITS} units: infer gives a lower bound, as log_evidence"
        )


def sample_belief_network(
    model: DeepBeliefNetwork, n: Any, *, given: Any = None, rng: Any = None, steps: int = STEPS
) -> Dataset:
    """`n` rows v0, v1, …: block Gibbs chains of the top machine, then one pass down.

    Parameters
    ----------
    model
        The network.
    n
        The number of rows.
    given
        One row, complete: draws of the hidden units by the upward pass.
    rng
        A seed or a `numpy.random.Generator`.
    steps
        The length of each chain of the top machine.
    """
    if given is not None:
        beliefs = infer_belief_network(model, given, draws=2)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count, generator = check_num_rows(n, 32 * sum(model.sizes)), as_generator(rng)
    states, _ = start(model.top, np.full((count, model.sizes[-2]), np.nan), generator)
    for _ in range(check_count(steps, "steps", least=1)):
        states = gibbs_step(model.top, states, generator)
    for layer in range(len(model.sizes) - 3, -1, -1):
        odds = states @ model.weights[layer].T + model.biases[layer]
        states = (generator.random(odds.shape) < sigmoid(odds)).astype(float)
    return name_units(model, states)


@keep_names
def fit_belief_network(
    model: DeepBeliefNetwork,
    data: Any,
    *,
    prior: None = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: BoltzmannOptions,
) -> Fit[DeepBeliefNetwork]:
    """A network learned layer by layer: a restricted Boltzmann machine from the features of the one below.

    Parameters
    ----------
    model
        Where learning starts: `DeepBeliefNetwork.random`.
    data
        (row, visible) of zeros and ones, a frame or a `Dataset`; without holes.
    prior
        None.
    weights
        Of the rows, (row,).
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each epoch of each layer.
    options
        The learner of each layer, a restricted Boltzmann machine.

    Returns
    -------
    Fit
        `log_likelihood` is an estimated lower bound and `statistics` a `BoundEstimate` with its standard error; `trace`
        is that of the top layer.
    """
    if prior is not None:
        raise Unsupported("a deep belief network has no conjugate prior: leave prior out, give a penalty")
    rows, _ = complete_rows(model, data)
    if not len(rows):
        raise InvalidData("there are no rows to learn from")
    seed = as_seed(rng)
    generator = as_generator(seed)
    learned, trace = stack_machines(model, rows, generator, options.method, weights, progress)
    hidden = [machine.hidden_bias for machine in learned]
    biases = [*(machine.visible_bias for machine in learned), hidden[-1]]
    found = DeepBeliefNetwork([machine.weights for machine in learned], biases, hidden[:-1])
    bounds, errors = estimate_bounds(found, rows, generator)
    estimate = BoundEstimate(float(bounds.sum()), float(np.sqrt((errors**2).sum())))
    return Fit(found, estimate.log_bound, trace, estimate, seed)


def stack_machines(
    model: DeepBeliefNetwork | DeepBoltzmannMachine,
    rows: np.ndarray,
    rng: np.random.Generator,
    learner: Any,
    weights: Any = None,
    progress: ProgressCallback | None = None,
) -> tuple[list[RestrictedBoltzmannMachine], Any]:
    """A machine for each pair of layers, each learned from draws of the hidden units of the one below."""
    learned, trace = [], None
    for matrix, below, above in zip(model.weights, model.biases, model.biases[1:], strict=False):
        machine = RestrictedBoltzmannMachine(matrix, below, above)
        fitted = learn_machine(machine, rows, weights, learner, rng, progress)
        learned.append(fitted.model)
        shares, trace = fitted.model.hidden_probabilities(rows), fitted.trace
        rows = (rng.random(shares.shape) < shares).astype(float)
    return learned, trace


class BoundEstimate(NamedTuple):
    """A lower bound of the log-likelihood of rows, estimated, and its standard error."""

    log_bound: float
    standard_error: float


register_methods(DeepBeliefNetwork, "log_prob", "enumeration")
register_names(DeepBeliefNetwork, "infer", {"auto": "upward", "upward": "upward"})
