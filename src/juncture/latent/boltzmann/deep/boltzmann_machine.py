"""Deep Boltzmann machines: undirected models of layers, each joined to the next (Salakhutdinov and Hinton 2009).

The posterior of `infer` is a mean field, unit by unit, which bounds log p(row) from below. `log_prob` sums over the
states of every second layer, up to 2^16; `sample` draws by block Gibbs chains. `fit` starts from stacked restricted
machines; its gradient is the statistics under the mean field less those of persistent chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, ClassVar, Literal

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.methods import register_methods, register_names, resolve_method
from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.data.dataset import Dataset
from juncture.data.rows import keep_names
from juncture.errors import InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
from juncture.latent.boltzmann.deep.belief_network import BoundEstimate, stack_machines
from juncture.latent.boltzmann.deep.beliefs import DeepBeliefs
from juncture.latent.boltzmann.deep.layers import DeepParameters, can_sum, log_sum_layers, log_weights, neighbour_input
from juncture.latent.boltzmann.fit import falling_rate
from juncture.latent.boltzmann.layers import visible_variables
from juncture.latent.boltzmann.learners import DEEP_RATE, DEEP_STEPS, STEPS, ContrastiveDivergence, with_defaults
from juncture.latent.boltzmann.visible_rows import complete_rows, name_units
from juncture.learning.fit import Fit
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.iteration import ProgressCallback, check_progress, check_stopping_rule, iterate
from juncture.numerics.stable import sigmoid, softplus

CHAIN_STEPS = 1000  # of the chain of each row that sample draws
Means = list[np.ndarray]
MEAN_FIELD_STEPS = 10  # of each batch


class DeepBoltzmannMachine(DeepParameters):
    """p(s) = exp(Σ_k b_k · s_k + Σ_k s_{k-1} W_k s_k) / Z, with units that are 0 or 1; s_0 is visible.

    Given the even layers the units of the odd ones are independent, and the other way round.

    Parameters
    ----------
    weights
        A list of arrays (unit of the lower layer, unit of the upper layer), the lowest first.
    biases
        A list of the biases of the layers, the visible one first.

    Examples
    --------
    >>> import juncture as jt
    >>> machine = jt.neural.DeepBoltzmannMachine([[[2.0], [-1.0]], [[1.0]]], [[0.0, 0.0], [0.0], [0.5]])
    >>> bool(np.isclose(jt.infer(machine.to_markov_network()).log_evidence, machine.log_partition, rtol=1e-12))
    True
    """

    kind: ClassVar[str] = "deep Boltzmann machine"

    @property
    def log_partition(self) -> float:
        """Log Z, by the sum over all states of every second layer; `TooLarge` beyond 2^16 states."""
        if "log_partition" not in self.derived:
            self.derived["log_partition"] = log_sum_layers(self.weights, self.biases)
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
            The number of steps from independent units to the machine.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        AnnealedEstimate
            Its `log_evidence` estimates log Z.

        Examples
        --------
        >>> import juncture as jt
        >>> machine = jt.neural.DeepBoltzmannMachine.random([5, 4, 3], scale=1.0, rng=0)
        >>> estimate = machine.annealed_log_partition(rng=0)
        >>> abs(estimate.log_evidence - machine.log_partition) < 4 * estimate.standard_error
        True
        """
        count, generator = check_count(particles, "particles", least=1), as_generator(rng)
        steps = np.linspace(0.0, 1.0, check_count(temperatures, "temperatures", least=1) + 1)
        biases = [bias[None] for bias in self.biases]
        states = [(generator.random((count, len(b))) < sigmoid(b)).astype(float) for b in self.biases]
        found = np.full(count, sum(float(softplus(bias).sum()) for bias in self.biases))
        for old, new in pairwise(steps):
            even = [state if layer % 2 == 0 else None for layer, state in enumerate(states)]
            hot, cold = ([heat * matrix for matrix in self.weights] for heat in (old, new))
            found += (log_weights(cold, biases, even, 0) - log_weights(hot, biases, even, 0))[0]
            for parity in (1, 0):
                draw_parity(self, states, parity, generator, heat=new)
        return AnnealedEstimate(found)

    def to_markov_network(self) -> MarkovNetwork:
        """The same distribution over v0, …, h1_0, … as a product of tables, with the same Z."""
        layers = [visible_variables(self.units), *self.hidden_layers]
        factors = [
            Factor.from_logs([unit], [0.0, b])
            for units, bias in zip(layers, self.biases, strict=True)
            for unit, b in zip(units, bias, strict=True)
        ]
        for (below, above), matrix in zip(pairwise(layers), self.weights, strict=True):
            for i, j in product(range(len(below)), range(len(above))):
                factors.append(Factor.from_logs([below[i], above[j]], [[0.0, 0.0], [0.0, matrix[i, j]]]))
        return MarkovNetwork(factors)


def draw_parity(
    model: DeepBoltzmannMachine, states: list[np.ndarray], parity: int, rng: np.random.Generator, *, heat: float = 1.0
) -> None:
    """Draw the layers of one parity given the others, in place; weights are times `heat`."""
    for layer in range(parity, len(model.sizes), 2):
        odds = model.biases[layer] + heat * neighbour_input(model.weights, states, layer)
        states[layer] = (rng.random(odds.shape) < sigmoid(odds)).astype(float)


def infer_deep_machine(
    model: DeepBoltzmannMachine,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
    tolerance: float = 1e-10,
    max_steps: int = 1000,
    log_partition: float | None = None,
    rng: Any = None,
) -> DeepBeliefs:
    """The mean field of the hidden units of one row, or of each of many, with a lower bound of log p(row).

    Parameters
    ----------
    model
        The machine.
    evidence
        (row, visible) of zeros and ones, one row, a frame or a `Dataset`; without holes.
    method
        "auto" or "mean-field".
    on_impossible
        As in `infer`; no row is impossible.
    tolerance, max_steps
        Steps end when one gains less than `tolerance` of what the bound rose, or after `max_steps`.
    log_partition
        log Z or an estimate; the exact sum by default, by annealed importance sampling where it is too large.
    rng
        A seed or a `numpy.random.Generator`, for the annealed estimate.

    Returns
    -------
    DeepBeliefs
        Its `errors` are those of an annealed log Z.
    """
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    check_stopping_rule(tolerance, max_steps)
    rows, is_single = complete_rows(model, evidence)
    means, trace = iterate(MeanFieldSteps(model, rows), tolerance=tolerance, max_steps=max_steps)
    seed = as_seed(rng)
    generator = as_generator(seed)
    log_z, error = find_log_partition(model, log_partition, generator)
    diagnostics = Diagnostics(exact=False, converged=trace.converged, steps=trace.num_steps)
    bounds, errors = bounds_of(model, means) - log_z, np.full(len(rows), error)
    drawn = used_seed(seed, generator)
    return DeepBeliefs(model, tuple(means[1:]), bounds, errors, is_single, algorithm, diagnostics, rows, drawn)


@dataclass(frozen=True, eq=False)
class MeanFieldSteps:
    """Coordinate ascent of the bound: odd hidden layers given the others, then even ones."""

    model: DeepBoltzmannMachine
    rows: np.ndarray

    def init(self) -> Means:
        """The upward pass with doubled weights below the top, which stand for the layer above that is not known yet."""
        means = [self.rows]
        for layer, matrix in enumerate(self.model.weights, start=1):
            double = 1.0 if layer == len(self.model.weights) else 2.0
            means.append(sigmoid(double * (means[-1] @ matrix) + self.model.biases[layer]))
        return means

    def step(self, state: Means) -> Means:
        means = list(state)
        for parity in (1, 0):
            for layer in range(2 - parity, len(means), 2):
                means[layer] = sigmoid(self.model.biases[layer] + neighbour_input(self.model.weights, means, layer))
        return means

    def objective(self, state: Means) -> float:
        return float(bounds_of(self.model, state).sum())


def bounds_of(model: DeepBoltzmannMachine, means: Means) -> np.ndarray:
    """E_q[-E(x, h)] + H(q) of each row, (row,): with log Z less, a lower bound of log p(x)."""
    total = np.zeros(len(means[0]))
    for mean, bias in zip(means, model.biases, strict=True):
        total += mean @ bias
    for below, above, matrix in zip(means, means[1:], model.weights, strict=False):
        total += ((below @ matrix) * above).sum(axis=1)
    return total + sum((entropies(mean) for mean in means[1:]), np.zeros(len(total)))


def entropies(mean: np.ndarray) -> np.ndarray:
    """The entropy of independent units, (row,)."""
    shares = np.stack([mean, 1 - mean])
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=(0, 2)))


def find_log_partition(model: DeepBoltzmannMachine, given: float | None, rng: Any) -> tuple[float, float]:
    """Log Z as given, exact or annealed, and its standard error."""
    if given is not None:
        return check_number(given, "log_partition"), 0.0
    if can_sum(model.sizes):
        return model.log_partition, 0.0
    estimate = model.annealed_log_partition(rng=rng)
    return estimate.log_evidence, estimate.standard_error


def log_prob_deep_machine(
    model: DeepBoltzmannMachine, rows: Any, *, method: str = "auto", log_partition: float | None = None
) -> Any:
    """log p(row), by sums over every second layer; `TooLarge` beyond 2^16 states, where `infer` gives a bound.

    `log_partition` is log Z or an estimate of it; the exact sum by default.
    """
    resolve_method(model, "log_prob", method)
    values, is_single = complete_rows(model, rows)
    log_z = model.log_partition if log_partition is None else check_number(log_partition, "log_partition")
    found = log_sums(model, values) - log_z
    return float(found[0]) if is_single else found


def log_sums(model: DeepBoltzmannMachine, rows: np.ndarray) -> np.ndarray:
    """log Σ_h exp(-E(x, h)) of complete rows, (row,)."""
    first = rows @ model.weights[0] + model.biases[1]
    return np.asarray(rows @ model.biases[0] + log_sum_layers(model.weights[1:], [first, *model.biases[2:]]))


def sample_deep_machine(
    model: DeepBoltzmannMachine, n: Any, *, given: Any = None, rng: Any = None, steps: int = CHAIN_STEPS
) -> Dataset:
    """`n` rows v0, v1, …, each the end of its own chain of block Gibbs steps.

    Parameters
    ----------
    model
        The machine.
    n
        The number of rows.
    given
        One row, complete: draws of the hidden units from the mean field.
    rng
        A seed or a `numpy.random.Generator`.
    steps
        The length of each chain.
    """
    if given is not None:
        beliefs = infer_deep_machine(model, given, log_partition=0.0)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count, generator = check_num_rows(n, 32 * sum(model.sizes)), as_generator(rng)
    states = [(generator.random((count, len(b))) < sigmoid(b)).astype(float) for b in model.biases]
    for _ in range(check_count(steps, "steps", least=1)):
        for parity in (1, 0):
            draw_parity(model, states, parity, generator)
    return name_units(model, states[0])


@dataclass(frozen=True)
class DeepBoltzmannOptions(Options):
    """How a deep Boltzmann machine is learned.

    Parameters
    ----------
    start
        "stacked": restricted Boltzmann machines are learned layer by layer first, with half their weights, as a middle
        layer has two neighbours; "given": the model as it is.
    method
        "contrastive-divergence", or a `ContrastiveDivergence` with its options, whose chains always go on.
    """

    start: Literal["stacked", "given"] = "stacked"
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"contrastive-divergence": ContrastiveDivergence}

    def __post_init__(self) -> None:
        check_choice(self.start, ("stacked", "given"), "start")


@keep_names
def fit_deep_machine(
    model: DeepBoltzmannMachine,
    data: Any,
    *,
    prior: None = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: DeepBoltzmannOptions,
) -> Fit[DeepBoltzmannMachine]:
    """A machine learned by stochastic gradient ascent of its mean-field bound.

    Parameters
    ----------
    model
        The sizes of the layers, and where learning starts: `DeepBoltzmannMachine.random`.
    data
        (row, visible) of zeros and ones, a frame or a `Dataset`; without holes.
    prior
        None; a penalty of the learner holds the weights small.
    rng, progress
        A seed or a `numpy.random.Generator`; a function that is called after each epoch.
    options
        Where learning starts, and the learner.

    Returns
    -------
    Fit
        `log_likelihood` is the mean-field bound, whose `trace` need not rise; `statistics` is a `BoundEstimate`, with
        the error of an annealed log Z.
    """
    if prior is not None:
        raise Unsupported("a deep Boltzmann machine has no conjugate prior: leave prior out, give a penalty")
    check_progress(progress)
    learner, seed = with_defaults(options.method, DEEP_RATE, DEEP_STEPS), as_seed(rng)
    if not learner.persistent:
        raise Unsupported("the chains of a deep Boltzmann machine go on from step to step: leave persistent=False out")
    rows, _ = complete_rows(model, data)
    if not len(rows):
        raise InvalidData("there are no rows to learn from")
    generator = as_generator(seed)
    if options.start == "stacked":
        model = stacked_start(model, rows, generator, replace(learner, steps=STEPS, penalty=None, tolerance=0.0))
    algorithm = VariationalSteps(model, rows, learner, generator)
    limits: dict[str, Any] = {"tolerance": learner.tolerance, "max_steps": learner.epochs, "progress": progress}
    state, trace = iterate(algorithm, is_monotone=False, **limits)
    found = estimate_bound(state.model, rows, generator)
    return Fit(state.model, found.log_bound, trace, found, seed)


def stacked_start(
    model: DeepBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator, learner: ContrastiveDivergence
) -> DeepBoltzmannMachine:
    """Stacked machines as one, with half their weights where there are middle layers, and the mean of both biases."""
    learned, _ = stack_machines(model, rows, rng, learner)
    share = 1.0 if len(learned) == 1 else 0.5
    middle = [0.5 * (low.hidden_bias + high.visible_bias) for low, high in pairwise(learned)]
    biases = [learned[0].visible_bias, *middle, learned[-1].hidden_bias]
    return DeepBoltzmannMachine([share * machine.weights for machine in learned], biases)


@dataclass(frozen=True, eq=False)
class VariationalSteps:
    """An epoch of gradient steps: statistics under the mean field of a batch less those of the chains."""

    model: DeepBoltzmannMachine
    rows: np.ndarray
    learner: ContrastiveDivergence
    rng: np.random.Generator

    def init(self) -> State:
        biases = self.model.biases
        return State(
            self.model, [(self.rng.random((self.learner.chains, len(b))) < sigmoid(b)).astype(float) for b in biases]
        )

    def step(self, state: State) -> State:
        """One pass over the rows in random order; the rate falls to 0 over the second half of all passes."""
        rate, size = falling_rate(self.learner, state.epoch), self.learner.batch_size
        order, model, chains = self.rng.permutation(len(self.rows)), state.model, list(state.chains)
        for first in range(0, len(order), size):
            ascent = MeanFieldSteps(model, self.rows[order[first : first + size]])
            means = ascent.init()
            for _ in range(MEAN_FIELD_STEPS):
                means = ascent.step(means)
            for _ in range(self.learner.steps or DEEP_STEPS):
                for parity in (1, 0):
                    draw_parity(model, chains, parity, self.rng)
            model = self.moved(model, means, chains, rate)
        return State(model, chains, state.epoch + 1)

    def moved(
        self, model: DeepBoltzmannMachine, means: list[np.ndarray], chains: list[np.ndarray], rate: float
    ) -> DeepBoltzmannMachine:
        """The machine after a step up the difference of both phases."""
        biases = [
            bias + rate * (mean.mean(axis=0) - chain.mean(axis=0))
            for bias, mean, chain in zip(model.biases, means, chains, strict=True)
        ]
        weights = [
            matrix + rate * (products(means, at) - products(chains, at) - self.learner.decay * matrix)
            for at, matrix in enumerate(model.weights)
        ]
        return DeepBoltzmannMachine(weights, biases)

    def objective(self, state: State) -> float:
        return estimate_bound(state.model, self.rows, self.rng).log_bound


@dataclass(frozen=True, eq=False)
class State:
    """A machine with its persistent chains: the states of all layers."""

    model: DeepBoltzmannMachine
    chains: list[np.ndarray]
    epoch: int = 0


def products(layers: list[np.ndarray], at: int) -> np.ndarray:
    """The mean of s_{k-1} s_kᵀ over rows."""
    return np.asarray(layers[at].T @ layers[at + 1] / len(layers[at]))


def estimate_bound(model: DeepBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator) -> BoundEstimate:
    """The mean-field bound of the log-likelihood of the rows, with the error of an annealed log Z."""
    means, _ = iterate(MeanFieldSteps(model, rows), tolerance=1e-8, max_steps=200)
    log_z, error = find_log_partition(model, None, rng)
    return BoundEstimate(float(bounds_of(model, means).sum()) - len(rows) * log_z, len(rows) * error)


register_methods(DeepBoltzmannMachine, "log_prob", "enumeration")
register_names(DeepBoltzmannMachine, "infer", {"auto": "mean-field", "mean-field": "mean-field"})
