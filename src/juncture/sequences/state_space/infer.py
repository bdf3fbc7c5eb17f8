"""Exact inference in linear-Gaussian state spaces: the Kalman filter and the Rauch-Tung-Striebel smoother; and draws.

Both carry factors L of the covariances L Lᵀ and turn them triangular by reflections (square-root form), so that no
covariance loses its positive semidefiniteness, however small or singular the noises are. Cost per step: the cube of the
number of states; where the model does not vary and nothing is missing, factors come to rest after some steps and the
rest costs a square. Kailath, Sayed and Hassibi, Linear Estimation (2000), chapter 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from juncture.base.checks import check_counts, check_iterable
from juncture.base.methods import register_methods, resolve_method
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.sequences import Sequence, Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.drawing.courses import Course, Panel
from juncture.drawing.notebook import diagram_html
from juncture.errors import InvalidData
from juncture.inference.engines.contract import EXACT, Cost, Diagnosed, Diagnostics
from juncture.inference.engines.verb_options import check_limits, check_policy
from juncture.kernels.state_space import draw_forward
from juncture.numerics.stable import LOG_TWO_PI, log
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.infer import draw_paths_given
from juncture.sequences.state_space.beliefs import StateSpaceBeliefs
from juncture.sequences.state_space.forecast import as_future_inputs, name_part
from juncture.sequences.state_space.kalman import filtered, pack_model, smoothed
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.parts import additions, each_step


def infer_states(
    model: LinearGaussianStateSpace,
    evidence: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> StateSpaceBeliefs | list[StateSpaceBeliefs]:
    """The beliefs of one sequence, or a list of them for many; no sequence has density zero."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    given = read_sequences(model, evidence, lengths, group).all()
    if budget is not None or memory_limit is not None:
        check_cost(model, given, budget, memory_limit)
    forward = filtered(model, given)
    backward = smoothed(model, given, forward)
    found = [
        StateSpaceBeliefs(model, one, forward.of(given.steps(position)), backward.of(given.steps(position)), algorithm)
        for position, one in enumerate(given)
    ]
    return found[0] if given.is_single else found


def check_cost(model: LinearGaussianStateSpace, given: Sequences, budget: Any, memory_limit: Any) -> None:
    """Raise `TooLarge` for a run beyond the limits."""
    states, steps = model.state_dimension, given.num_steps
    size = states + model.observation_dimension
    cost = Cost(2 * states - 1, (2 * states) ** 2, 8 * steps * (3 * states + 5 * states**2), steps * 6 * size**3)
    check_limits(cost, f"the states of {number_of(steps, 'step')}", budget, memory_limit)


def log_prob_sequences(
    model: LinearGaussianStateSpace, rows: Any, *, lengths: Any = None, group: str | None = None, method: Any = "auto"
) -> Any:
    """Log p(observations) of one sequence, a float, or of many, an array; what is missing is integrated out."""
    resolve_method(model, "log_prob", method)
    return read_sequences(model, rows, lengths, group).answer(partial(log_prob_of, model))


def log_prob_of(model: LinearGaussianStateSpace, sequences: Sequences) -> np.ndarray:
    return sums(filtered(model, sequences, keep=False).log_densities, sequences.offsets)


def sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The sum over the steps of each sequence, also of those that have none."""
    found = np.zeros(len(offsets) - 1)
    is_filled = offsets[1:] > offsets[:-1]
    if is_filled.any():
        found[is_filled] = np.add.reduceat(values, offsets[:-1][is_filled])
    return found


def most_probable_states(
    model: LinearGaussianStateSpace,
    evidence: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> MostProbableStates | list[MostProbableStates]:
    """The most probable states of one sequence, or a list of them for many."""
    algorithm = resolve_method(model, "most_probable", method)
    limits: dict[str, Any] = {"budget": budget, "memory_limit": memory_limit}
    limits |= {"lengths": lengths, "group": group}
    beliefs = infer_states(model, evidence, method=algorithm, on_impossible=on_impossible, **limits)
    return [mode_of(one) for one in beliefs] if isinstance(beliefs, list) else mode_of(beliefs)


@dataclass(frozen=True, eq=False, repr=False)
class MostProbableStates(Diagnosed):
    """The path of states with the highest density given the observations, which is that of the smoothed means.

    `log_prob` is its log-density given the observations, `log_joint` that of states and observations together. Both are
    inf where some state has no density: where it follows without noise from others, as noises may be singular.
    """

    path: np.ndarray  # (step, state)
    log_prob: float
    log_joint: float
    method: str = "kalman"
    diagnostics: Diagnostics = EXACT

    @property
    def impossible(self) -> tuple[int, ...]:
        """No sequence has density zero under Gaussian noise: always ()."""
        return ()

    def to_diagram(self) -> Course:
        """Each coordinate of the state over the steps."""
        num = self.path.shape[1]
        return Course(tuple(Panel(name_part("state", at, num), part) for at, part in enumerate(self.path.T)))

    def _repr_html_(self) -> str:
        return diagram_html(repr(self), self.to_diagram())

    def __repr__(self) -> str:
        steps, states = map(number_of, self.path.shape, ("step", "state"))
        return f"MostProbableStates({steps} of {states}; log_joint={self.log_joint:.6g})"


def mode_of(beliefs: StateSpaceBeliefs) -> MostProbableStates:
    """The density at the mode, as a product over each state given the next: Π |2π rest restᵀ|^-½."""
    scales = np.diagonal(beliefs.backward.rests, axis1=-2, axis2=-1)
    log_density = float(-log(scales).sum() - 0.5 * scales.size * LOG_TWO_PI)
    return MostProbableStates(beliefs.smoothed_mean, log_density, log_density + beliefs.log_evidence, beliefs.method)


def sample_state_space(
    model: LinearGaussianStateSpace,
    n: Any,
    *,
    given: Any = None,
    covariates: Any = None,
    rng: Any = None,
    method: Any = "auto",
) -> Any:
    """A sequence of `n` steps with its states; with a list of lengths, a list of such sequences.

    `covariates` are the inputs of the steps, where the model takes any; for several sequences, a list of them.
    With `given`, one sequence of observations: `n` paths of states from the posterior, (path, step, state).
    """
    resolve_method(model, "sample", method)
    if given is not None:
        return draw_paths_given(infer_states(model, given, method=method), n, rng)
    stream = as_generator(rng)
    lengths = check_counts(n, "the length of a sequence, or each of a list of lengths,")
    if isinstance(lengths, int):
        return draw_sequence(model, lengths, covariates, stream)
    each = [None] * len(lengths) if covariates is None else check_iterable(covariates, "covariates")
    if len(each) != len(lengths):
        raise InvalidData(f"there are {len(lengths)} sequences, and covariates for {len(each)}")
    return [draw_sequence(model, length, own, stream) for length, own in zip(lengths, each, strict=True)]


def draw_sequence(model: LinearGaussianStateSpace, length: int, covariates: Any, rng: np.random.Generator) -> Sequence:
    model.check_length(length, f"a sequence of {length} steps")
    size = model.state_dimension * model.observation_dimension
    check_table_fits((length, size), f"a sequence of {length:,} steps", "draw shorter ones", copies=8)
    inputs, times, parts = as_future_inputs(model, covariates, length), np.arange(length), pack_model(model)
    shifts, levels = additions(model, times, inputs)
    states = rng.standard_normal(shifts.shape)
    draw_forward(shifts, parts.transition, parts.transition_noise, parts.initial_mean, parts.initial_factor, states)
    noises = rng.standard_normal(levels.shape)
    noise = parts.observation_noise[np.minimum(times, len(parts.observation_noise) - 1)]
    look = each_step(model.observation, 2, times)
    observations = levels + np.einsum("tos,ts->to", look, states) + np.einsum("top,tp->to", noise, noises)
    return Sequence(observations, states=states, covariates=inputs)


register_methods(LinearGaussianStateSpace, "infer", "kalman")
register_methods(LinearGaussianStateSpace, "log_prob", "kalman")
register_methods(LinearGaussianStateSpace, "sample", "kalman")
register_methods(LinearGaussianStateSpace, "most_probable", "kalman")
