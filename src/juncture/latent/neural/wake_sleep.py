"""`fit` for Helmholtz machines: the wake-sleep algorithm (Hinton, Dayan, Frey and Neal 1995).

The wake phase draws h from q(h | x) for rows and moves p(x | h) p(h) towards them; the sleep phase draws x and h from
the model and moves q(h | x) towards them, which minimises KL(p ‖ q) and not KL(q ‖ p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.base.options import as_generator
from juncture.data.feature_names import keep_names
from juncture.errors import InvalidData, Unsupported
from juncture.latent.boltzmann.rows import complete_rows
from juncture.latent.neural.helmholtz import ARRAYS, MAX_UNITS, HelmholtzMachine, dream, log_prob_helmholtz, log_ratios
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress, iterate
from juncture.numerics.stable import sigmoid


class LikelihoodBound(NamedTuple):
    """The log-likelihood of rows, exact with the error 0, or a lower bound estimated from draws of q."""

    log_likelihood: float
    standard_error: float
    exact: bool


@dataclass(frozen=True, eq=False)
class WakeSleep:
    """An epoch of wake and sleep phases over batches of rows, as one step of `iterate`."""

    model: HelmholtzMachine
    rows: np.ndarray
    rate: float
    batch_size: int
    max_steps: int
    rng: np.random.Generator

    def init(self) -> tuple[HelmholtzMachine, int]:
        return self.model, 0

    def step(self, state: tuple[HelmholtzMachine, int]) -> tuple[HelmholtzMachine, int]:
        """One pass over the rows in random order; the rate falls to 0 over the second half of all passes."""
        model, epoch = state
        rate = self.rate * min(1.0, 2 * (1 - epoch / self.max_steps))
        order = self.rng.permutation(len(self.rows))
        for first in range(0, len(order), self.batch_size):
            model = self.move(model, self.rows[order[first : first + self.batch_size]], rate)
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


@keep_names
def fit_helmholtz(
    model: HelmholtzMachine,
    data: Any,
    prior: None = None,
    *,
    rate: float = 0.1,
    batch_size: int = 20,
    max_steps: int = 50,
    progress: ProgressCallback | None = None,
    rng: Any = None,
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
    rate, batch_size, max_steps, progress
        The learning rate, which falls to 0 over the second half of the epochs; rows of a step; epochs.
    rng
        A seed or a `numpy.random.Generator`.

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
    pace, size = check_number(rate, "rate", least=0), check_count(batch_size, "batch_size", least=1)
    epochs, generator = check_count(max_steps, "max_steps", least=1), as_generator(rng)
    algorithm = WakeSleep(model, rows, pace, size, epochs, generator)
    (learned, _), trace = iterate(algorithm, tolerance=0.0, max_steps=epochs, progress=progress, is_monotone=False)
    found = estimate_likelihood(learned, rows, generator)
    return Fit(learned, found.log_likelihood, trace, found)
