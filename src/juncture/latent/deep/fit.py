"""`fit` for deep Boltzmann machines: stacked machines to start from, then mean field against persistent chains."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.data.feature_names import keep_names
from juncture.errors import InvalidData, Unsupported
from juncture.latent.boltzmann.rows import complete_rows
from juncture.latent.deep.boltzmann_machine import DeepBoltzmannMachine, draw_parity
from juncture.latent.deep.mean_field import MeanFieldSteps, bounds_of, find_log_partition
from juncture.latent.deep.upward import BoundEstimate, stack_machines
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress, check_stopping_rule, iterate
from juncture.numerics.stable import sigmoid

MEAN_FIELD_STEPS = 10  # of each batch


@dataclass(frozen=True, eq=False)
class State:
    """A machine with its persistent chains: the states of all layers."""

    model: DeepBoltzmannMachine
    chains: list[np.ndarray]
    epoch: int = 0


@dataclass(frozen=True, eq=False)
class VariationalSteps:
    """An epoch of gradient steps: statistics under the mean field of a batch less those of the chains."""

    model: DeepBoltzmannMachine
    rows: np.ndarray
    chain_steps: int
    rate: float
    decay: float
    batch_size: int
    num_chains: int
    max_steps: int
    rng: np.random.Generator

    def init(self) -> State:
        biases = self.model.biases
        return State(
            self.model, [(self.rng.random((self.num_chains, len(b))) < sigmoid(b)).astype(float) for b in biases]
        )

    def step(self, state: State) -> State:
        """One pass over the rows in random order; the rate falls to 0 over the second half of all passes."""
        rate = self.rate * min(1.0, 2 * (1 - state.epoch / self.max_steps))
        order, model, chains = self.rng.permutation(len(self.rows)), state.model, list(state.chains)
        for first in range(0, len(order), self.batch_size):
            ascent = MeanFieldSteps(model, self.rows[order[first : first + self.batch_size]])
            means = ascent.init()
            for _ in range(MEAN_FIELD_STEPS):
                means = ascent.step(means)
            for _ in range(self.chain_steps):
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
            matrix + rate * (products(means, at) - products(chains, at) - self.decay * matrix)
            for at, matrix in enumerate(model.weights)
        ]
        return DeepBoltzmannMachine(weights, biases)

    def objective(self, state: State) -> float:
        return estimate_bound(state.model, self.rows, self.rng).log_bound


def products(layers: list[np.ndarray], at: int) -> np.ndarray:
    """The mean of s_{k-1} s_kᵀ over rows."""
    return np.asarray(layers[at].T @ layers[at + 1] / len(layers[at]))


def estimate_bound(model: DeepBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator) -> BoundEstimate:
    """The mean-field bound of the log-likelihood of the rows, with the error of an annealed log Z."""
    means, _ = iterate(MeanFieldSteps(model, rows), tolerance=1e-8, max_steps=200)
    log_z, error = find_log_partition(model, None, rng)
    return BoundEstimate(float(bounds_of(model, means).sum()) - len(rows) * log_z, len(rows) * error)


@keep_names
def fit_deep_machine(  # noqa: PLR0913 (the options of learning)
    model: DeepBoltzmannMachine,
    data: Any,
    prior: None = None,
    *,
    start: str = "stacked",
    chain_steps: int = 5,
    rate: float = 0.05,
    decay: float = 0.0,
    batch_size: int = 50,
    num_chains: int = 100,
    tolerance: float = 0.0,
    max_steps: int = 20,
    progress: ProgressCallback | None = None,
    rng: Any = None,
) -> Fit[DeepBoltzmannMachine]:
    """A machine learned by stochastic gradient ascent of its mean-field bound.

    Parameters
    ----------
    model
        The sizes of the layers, and where learning starts: `DeepBoltzmannMachine.random`.
    data
        (row, visible) of zeros and ones, a frame or a `Dataset`; without holes.
    prior
        None; `decay` holds the weights small.
    start
        "stacked": restricted Boltzmann machines are learned layer by layer first, with half their weights, as a middle
        layer has two neighbours; "given": the model as it is.
    chain_steps, rate, decay, batch_size, num_chains
        Block Gibbs steps of the persistent chains before each step; the rate, which falls to 0 over the second half of
        the epochs; how strongly weights are pulled to 0; rows of a step; chains.
    tolerance, max_steps, progress
        Learning ends after `max_steps` epochs, or when an epoch moves the bound by less than the tolerance.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    Fit
        `log_likelihood` is the mean-field bound, whose `trace` need not rise; `statistics` is a `BoundEstimate`, with
        the error of an annealed log Z.
    """
    if prior is not None:
        raise Unsupported("a deep Boltzmann machine has no conjugate prior: leave prior out, use decay")
    check_choice(start, ("stacked", "given"), "start")
    check_stopping_rule(tolerance, max_steps)
    check_progress(progress)
    rows, _ = complete_rows(model, data)
    if not len(rows):
        raise InvalidData("there are no rows to learn from")
    generator, size = as_generator(rng), check_count(batch_size, "batch_size", least=1)
    chains, pace = check_count(num_chains, "num_chains", least=1), check_number(rate, "rate", least=0)
    if start == "stacked":
        learner = {"rate": pace, "batch_size": size, "num_chains": chains, "max_steps": max_steps}
        model = stacked_start(model, rows, generator, learner)
    steps = check_count(chain_steps, "chain_steps", least=1)
    pull = check_number(decay, "decay", least=0)
    algorithm = VariationalSteps(model, rows, steps, pace, pull, size, chains, max_steps, generator)
    options: dict[str, Any] = {"tolerance": tolerance, "max_steps": max_steps, "progress": progress}
    state, trace = iterate(algorithm, is_monotone=False, **options)
    found = estimate_bound(state.model, rows, generator)
    return Fit(state.model, found.log_bound, trace, found)


def stacked_start(
    model: DeepBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator, options: dict[str, Any]
) -> DeepBoltzmannMachine:
    """Stacked machines as one, with half their weights where there are middle layers, and the mean of both biases."""
    learned, _ = stack_machines(model, rows, rng, options)
    share = 1.0 if len(learned) == 1 else 0.5
    middle = [0.5 * (low.hidden_bias + high.visible_bias) for low, high in pairwise(learned)]
    biases = [learned[0].visible_bias, *middle, learned[-1].hidden_bias]
    return DeepBoltzmannMachine([share * machine.weights for machine in learned], biases)
