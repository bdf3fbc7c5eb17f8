"""Restricted Boltzmann machines: an epoch of persistent contrastive divergence beside scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from timing import Options, measure

import juncture as jt

MACHINES = [(10_000, 64, 64, 10), (10_000, 64, 64, 100), (5_000, 784, 256, 100)]  # rows, visible, hidden, batch


def machine_rows(num_rows: int, visible: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    prototypes = rng.random((10, visible)) < 0.3
    return (prototypes[rng.integers(0, 10, num_rows)] ^ (rng.random((num_rows, visible)) < 0.05)).astype(float)


def our_epochs(rows: np.ndarray, hidden: int, batch: int, epochs: int) -> Any:
    """Epochs at a constant rate and without the objective, as those of scikit-learn."""
    from juncture.latent.boltzmann.fit import GradientSteps

    model = jt.RestrictedBoltzmannMachine.random(rows.shape[1], hidden, rng=0)
    ones, rng = np.ones(len(rows)), np.random.default_rng(0)
    learner = jt.ContrastiveDivergence(learning_rate=0.1, steps=1, batch_size=batch, chains=batch, epochs=2 * epochs)
    steps = GradientSteps(model, rows, ones, learner, rng)
    state = steps.init()
    for _ in range(epochs):
        state = steps.step(state)
    return state.model


def their_machine(rows: np.ndarray, hidden: int, batch: int, epochs: int) -> Any:
    from sklearn.neural_network import BernoulliRBM

    options = {"learning_rate": 0.1, "batch_size": batch, "n_iter": epochs, "random_state": 0}
    return BernoulliRBM(hidden, **options).fit(rows)


def measure_machines(options: Options) -> None:
    print("restricted Boltzmann machine, an epoch of persistent contrastive divergence")
    rows = machine_rows(2000, 16)
    theirs = their_machine(rows, 8, 20, 20)
    same = jt.RestrictedBoltzmannMachine(theirs.components_.T, theirs.intercept_visible_, theirs.intercept_hidden_)
    likelihoods = [jt.log_prob(model, rows).mean() for model in (our_epochs(rows, 8, 20, 20), same)]
    print("  log-likelihood a row after 20 epochs, 16 x 8 units: {:.3f}; scikit-learn {:.3f}".format(*likelihoods))
    for num_rows, visible, hidden, batch in MACHINES:
        rows = machine_rows(num_rows, visible)
        quick = measure(
            lambda rows=rows, hidden=hidden, batch=batch: our_epochs(rows, hidden, batch, 1), options.runs
        ).wall
        line = f"  {num_rows:,} x {visible}, {hidden} hidden units, batches of {batch}: {1e3 * quick:.0f} ms"
        for name, kind in (("double", np.float64), ("single", np.float32)):
            given = rows.astype(kind)
            slow = measure(
                lambda rows=given, hidden=hidden, batch=batch: their_machine(rows, hidden, batch, 1), options.runs
            ).wall
            line += f"; scikit-learn {name} {1e3 * slow:.0f} ms ({slow / quick:.1f} x)"
        print(line)
