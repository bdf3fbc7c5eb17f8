"""`sample` of hidden Markov models: a path of states, then what they emit; or paths given a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_counts
from juncture.base.options import as_generator
from juncture.components.categorical import CategoricalEmissions
from juncture.data.sequences import Sequence
from juncture.data.tables.labels import decode_labels
from juncture.errors import InvalidData
from juncture.kernels.chains.forward_backward import draw_paths
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.infer import infer_chain
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def sample_chain(model: HiddenMarkovModel, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Any:
    """One `Sequence` of `n` steps with its states, or a list of them for a list of lengths.

    With `given`, one sequence of observations: `n` paths of states from the posterior, (path, step).
    """
    if given is not None:
        return draw_paths_given(infer_chain(model, given, method=method), n, rng)
    stream, lengths = as_generator(rng), check_counts(n, "the number of steps")
    if isinstance(lengths, int):
        return draw_sequence(model, lengths, stream)
    return [
        draw_sequence(model, length, child) for length, child in zip(lengths, stream.spawn(len(lengths)), strict=True)
    ]


def draw_paths_given(beliefs: Any, n: Any, rng: Any) -> np.ndarray:
    """`n` paths from the beliefs of one sequence."""
    if isinstance(beliefs, list):
        raise InvalidData("given= takes one sequence of observations; sample once for each sequence")
    paths: np.ndarray = beliefs.sample(n, rng=rng)
    return paths


def draw_sequence(model: HiddenMarkovModel, num_steps: int, rng: np.random.Generator) -> Sequence:
    check_table_fits((num_steps,), f"a sequence of {num_steps:,} steps", "draw shorter ones", copies=8)
    chain = Chain.of(model)
    codes, ones = np.empty((1, num_steps), np.int64), np.ones((1, chain.num_states))
    draw_paths(chain.initial, chain.transition, ones, np.zeros(num_steps, np.int64), rng.random((1, num_steps)), codes)
    observations = model.emissions.sample(codes[0], rng)
    if isinstance(model.emissions, CategoricalEmissions):
        observations = decode_labels(model.emissions.symbols, observations)
    return Sequence(observations, states=decode_labels(model.states, codes[0]))
