"""`sample` of linear-Gaussian state spaces: sequences of states and observations."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_counts, check_iterable
from juncture.base.options import as_generator
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData
from juncture.kernels.state_space import draw_forward
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.sample import draw_paths_given
from juncture.sequences.state_space.forecast import as_future_inputs
from juncture.sequences.state_space.infer import infer_states
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.packing import pack_model
from juncture.sequences.state_space.parts import additions, each_step


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
