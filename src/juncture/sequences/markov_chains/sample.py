"""`sample` of Markov chains: sequences of states."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np

from juncture.checks import check_counts
from juncture.data.sequences.sequences import Sequence
from juncture.data.tables.labels import label_array
from juncture.memory import check_table_fits
from juncture.options import as_generator
from juncture.sequences.hidden_markov.sample import draw_paths_given
from juncture.sequences.markov_chains.infer import infer_missing
from juncture.sequences.markov_chains.model import MarkovChain


def sample_chain(model: MarkovChain, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Any:
    """One `Sequence` of `n` states, which are its observations too; with a list of lengths, a list of such sequences.

    With `given`, one sequence of states with holes: `n` paths of states from the posterior, (path, step).
    """
    if given is not None:
        return draw_paths_given(infer_missing(model, given, method=method), n, rng)
    stream, first = as_generator(rng), cumulative(model.initial_distribution().reshape(1, -1))
    later = cumulative(model.transition.reshape(-1, model.num_states))
    states = label_array(model.states)
    lengths = check_counts(n, "the length of a sequence, or each of a list of lengths,")
    if isinstance(lengths, int):
        return as_sequence(states[draw_codes(model, first, later, lengths, stream)])
    return [as_sequence(states[draw_codes(model, first, later, length, stream)]) for length in lengths]


def as_sequence(labels: np.ndarray) -> Sequence:
    return Sequence(labels, states=labels)


def draw_codes(
    model: MarkovChain, first: list[list[float]], later: list[list[float]], length: int, rng: np.random.Generator
) -> np.ndarray:
    """The codes of one sequence."""
    check_table_fits((length,), f"a sequence of {length:,} states", "draw shorter ones", copies=8)
    uniforms = iter(rng.random(max(length, 1)).tolist())
    history = bisect_right(first[0], next(uniforms))
    early = np.unravel_index(history, (model.num_states,) * model.order)
    codes = [*map(int, early), *draw_states(later, history, uniforms, model.num_states)]
    return np.array(codes[:length], dtype=np.int64)


def draw_states(later: list[list[float]], history: int, uniforms: Iterator[float], num_states: int) -> Iterator[int]:
    """The states that follow a history, one for each of the numbers drawn."""
    num_histories = len(later)
    for uniform in uniforms:
        state = bisect_right(later[history], uniform)
        history = (history * num_states + state) % num_histories
        yield state


def cumulative(probabilities: np.ndarray) -> list[list[float]]:
    """The running sums of each row, which end in exactly 1, so that a state of probability 0 is never drawn."""
    sums = np.cumsum(probabilities, axis=1)
    rows: list[list[float]] = (sums / sums[:, -1:]).tolist()
    return rows
