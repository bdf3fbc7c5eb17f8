"""The joint of real-valued variables and variables with states: a Gaussian for every configuration of a clique."""

from __future__ import annotations

import numpy as np

from juncture.inference.engines.mixed_joint import Components
from juncture.inference.exact.hybrid.clique_tables import align
from juncture.inference.exact.hybrid.groups import of_case
from juncture.inference.exact.hybrid.run import Run


def joint_components(run: Run, names: tuple[str, ...]) -> Components:
    """The weight, the states, the means and the covariances of every configuration, in each row."""
    free = [name for name in names if name not in run.rows.observed]
    states = run.part.joint_states(free)
    weights = run.weights(states)
    shape = weights.shape
    weights = weights.reshape(shape[0], -1)
    real = [name for name in names if run.model.variable(name).is_real]
    discrete = [name for name in names if not run.model.variable(name).is_real]
    means = np.stack([*(mean_of(run, name, states, shape) for name in real), np.empty(weights.shape)], axis=-1)[
        ..., :-1
    ]
    covariances = np.zeros((*weights.shape, len(real), len(real)))
    for one, first in enumerate(real):
        for other, second in enumerate(real[: one + 1]):
            covariance = covariance_of(run, first, second, states, shape)
            covariances[..., one, other] = covariances[..., other, one] = covariance
    codes = np.zeros((*weights.shape, len(discrete)), np.int64)
    index = np.unravel_index(np.arange(weights.shape[1]), shape[1:]) if states else ()
    for at, name in enumerate(discrete):
        seen = name in run.rows.observed
        codes[..., at] = run.rows.codes[name][:, None] if seen else index[states.index(name)]
    return Components(weights, codes, means, covariances)


def mean_of(run: Run, name: str, states: tuple[str, ...], shape: tuple[int, ...]) -> np.ndarray:
    """The mean of a real-valued variable, (row, configuration)."""
    if name in run.rows.reals:
        return np.repeat(run.rows.reals[name][:, None], int(np.prod(shape[1:])), axis=1)
    solved, case = run.solved_of(name)
    means = solved.mean(solved.form(name), run.rows.reals, case)
    return np.broadcast_to(align(means, solved.group.states, states), shape).reshape(shape[0], -1)


def covariance_of(
    run: Run, one: str, other: str, states: tuple[str, ...], shape: tuple[int, ...]
) -> np.ndarray | float:
    """The covariance of two real-valued variables given the configuration, (row, configuration)."""
    group_of = run.part.group_of
    if one in run.rows.reals or other in run.rows.reals or group_of[one] is not group_of[other]:
        return 0.0
    solved, case = run.solved_of(one)
    values = of_case(solved.covariance(solved.form(one), solved.form(other)), case)
    return np.broadcast_to(align(values, solved.group.states, states), shape).reshape(shape[0], -1)
