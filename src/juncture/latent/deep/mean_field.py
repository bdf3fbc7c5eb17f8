"""`infer`, `log_prob` and `sample` for deep Boltzmann machines; the posterior is a mean field, unit by unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.verb_options import check_num_rows, check_policy
from juncture.latent.boltzmann.rows import as_dataset, complete_rows
from juncture.latent.deep.beliefs import DeepBeliefs
from juncture.latent.deep.boltzmann_machine import DeepBoltzmannMachine, draw_parity, log_sums
from juncture.latent.deep.layer_sums import can_sum, neighbour_input
from juncture.numerics.iteration import check_stopping_rule, iterate
from juncture.numerics.stable import sigmoid

STEPS = 1000  # of the chain of each row that sample draws
Means = list[np.ndarray]


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
        Steps end when one gains less than `tolerance` of the bound, or after `max_steps`.
    log_partition
        log Z or an estimate; the exact sum by default, by annealed importance sampling where it is too large.
    rng
        A seed or a `numpy.random.Generator`, for the annealed estimate.

    Returns
    -------
    DeepBeliefs
        Its `errors` are those of an annealed log Z.
    """
    check_choice(method, ("auto", "mean-field"), "method")
    check_policy(on_impossible)
    check_stopping_rule(tolerance, max_steps)
    rows, is_single = complete_rows(model, evidence)
    means, trace = iterate(MeanFieldSteps(model, rows), tolerance=tolerance, max_steps=max_steps)
    log_z, error = find_log_partition(model, log_partition, rng)
    diagnostics = Diagnostics(exact=False, converged=trace.converged, steps=trace.num_steps)
    bounds, errors = bounds_of(model, means) - log_z, np.full(len(rows), error)
    return DeepBeliefs(model, tuple(means[1:]), bounds, errors, is_single, "mean-field", diagnostics)


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
    check_choice(method, ("auto", "exact", "enumeration"), "method")
    values, is_single = complete_rows(model, rows)
    log_z = model.log_partition if log_partition is None else check_number(log_partition, "log_partition")
    found = log_sums(model, values) - log_z
    return float(found[0]) if is_single else found


def sample_deep_machine(
    model: DeepBoltzmannMachine, n: Any, *, given: Any = None, rng: Any = None, steps: int = STEPS
) -> Dataset:
    """`n` rows v0, v1, …, each the end of its own chain of block Gibbs steps.

    Parameters
    ----------
    model
        The machine.
    n
        The number of rows.
    given
        None: rows with holes are not taken.
    rng
        A seed or a `numpy.random.Generator`.
    steps
        The length of each chain.
    """
    if given is not None:
        raise InvalidData("sample of a deep Boltzmann machine takes no given=; use to_markov_network()")
    count, generator = check_num_rows(n, 32 * sum(model.sizes)), as_generator(rng)
    states = [(generator.random((count, len(b))) < sigmoid(b)).astype(float) for b in model.biases]
    for _ in range(check_count(steps, "steps", least=1)):
        for parity in (1, 0):
            draw_parity(model, states, parity, generator)
    return as_dataset(model, states[0])
