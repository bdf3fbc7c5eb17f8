"""Exact inference in linear-Gaussian state spaces: the Kalman filter and the Rauch-Tung-Striebel smoother.

Both carry factors L of the covariances L Lᵀ and turn them triangular by reflections (square-root form), so that no
covariance loses its positive semidefiniteness, however small or singular the noises are. Cost per step: the cube of the
number of states; where the model does not vary and nothing is missing, factors come to rest after some steps and the
rest costs a square. Kailath, Sayed and Hassibi, Linear Estimation (2000), chapter 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.numerics import LOG_TWO_PI, log
from juncture.sequences.state_space.beliefs import StateSpaceBeliefs
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.passes import filtered, smoothed
from juncture.values import number_of


def infer_states(
    model: LinearGaussianStateSpace, evidence: Any, *, lengths: Any = None
) -> StateSpaceBeliefs | list[StateSpaceBeliefs]:
    """The beliefs of one sequence, or a list of them for many."""
    given = model.sequences(evidence, lengths)
    forward = filtered(model, given)
    backward = smoothed(model, given, forward)
    found = [
        StateSpaceBeliefs(model, one, forward.of(given.steps(position)), backward.of(given.steps(position)))
        for position, one in enumerate(given)
    ]
    return found[0] if given.is_single else found


def log_prob_sequences(model: LinearGaussianStateSpace, rows: Any, *, lengths: Any = None) -> Any:
    """Log p(observations) of one sequence, a float, or of many, an array; what is missing is integrated out."""
    given = model.sequences(rows, lengths)
    values = sums(filtered(model, given, keep=False).log_densities, given.offsets)
    return float(values[0]) if given.is_single else values


def sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The sum over the steps of each sequence, also of those that have none."""
    found = np.zeros(len(offsets) - 1)
    is_filled = offsets[1:] > offsets[:-1]
    if is_filled.any():
        found[is_filled] = np.add.reduceat(values, offsets[:-1][is_filled])
    return found


@dataclass(frozen=True, eq=False, repr=False)
class BestStates:
    """The path of states with the highest density given the observations, which is that of the smoothed means.

    `log_prob` is its log-density given the observations, `log_joint` that of states and observations together. Both are
    inf where some state has no density: where it follows without noise from others, as noises may be singular.
    """

    path: np.ndarray  # (step, state)
    log_prob: float
    log_joint: float

    def __repr__(self) -> str:
        steps, states = map(number_of, self.path.shape, ("step", "state"))
        return f"BestStates({steps} of {states}; log_joint={self.log_joint:.6g})"


def most_probable_states(
    model: LinearGaussianStateSpace, evidence: Any, *, lengths: Any = None
) -> BestStates | list[BestStates]:
    """The most probable states of one sequence, or a list of them for many."""
    beliefs = infer_states(model, evidence, lengths=lengths)
    return [best_states(one) for one in beliefs] if isinstance(beliefs, list) else best_states(beliefs)


def best_states(beliefs: StateSpaceBeliefs) -> BestStates:
    """The density at the mode, as a product over each state given the next: Π |2π rest restᵀ|^-½."""
    scales = np.diagonal(beliefs.backward.rests, axis1=-2, axis2=-1)
    log_density = float(-log(scales).sum() - 0.5 * scales.size * LOG_TWO_PI)
    return BestStates(beliefs.smoothed_mean, log_density, log_density + beliefs.log_evidence)
