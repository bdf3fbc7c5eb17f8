"""Questions to Markov chains: probabilities of sequences, looked up in tables, and what holes in sequences hide.

States that are missing are summed out by `log_prob`; `infer` and `most_probable` tell what they may have been, as of a
hidden Markov model whose states are seen as themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from juncture.base.checks import check_counts
from juncture.base.methods import register_methods, resolve_method
from juncture.base.options import as_generator
from juncture.data.sequences import Sequence, Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.data.tables.labels import label_array
from juncture.errors import Unsupported
from juncture.numerics.stable import log
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.infer import ChainOptions, draw_paths_given, infer_sequences
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.most_probable import decode_sequences
from juncture.sequences.markov_chains.evolution import next_distribution, power
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.windows import Sightings, cells, own_steps, owners


def infer_missing(
    model: MarkovChain,
    evidence: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The beliefs about each state of a sequence, or of each of many sequences."""
    options = ChainOptions.of(model, "infer", method, on_impossible, budget, memory_limit)
    hidden = as_hidden(model)
    return infer_sequences(model, hidden, read_sequences(model, evidence, lengths, group).all(), options)


def most_probable_missing(  # noqa: PLR0913 (one verb, many options)
    model: MarkovChain,
    evidence: Any,
    *,
    k: int | None = None,
    trellis: bool = False,
    lengths: Any = None,
    group: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The most probable states of a sequence, or of each of many sequences."""
    options = ChainOptions.of(model, "most_probable", method, on_impossible, budget, memory_limit)
    hidden = as_hidden(model)
    sequences = read_sequences(model, evidence, lengths, group).all()
    return decode_sequences(model, hidden, sequences, options, k, trellis)


def as_hidden(model: MarkovChain) -> HiddenMarkovModel:
    if model.order > 1:
        raise Unsupported(
            f"missing states are inferred in chains of order 1, and this one has order {model.order}: put the question"
            " to the network chain.to_bayesian_network(length), whose variables are state0, state1, …"
        )
    return model.to_hidden_markov_model()


def log_prob_chain(
    model: MarkovChain, rows: Any, *, lengths: Any = None, group: str | None = None, method: Any = "auto"
) -> Any:
    """log p of each sequence of states: a float for one, an array for several."""
    resolve_method(model, "log_prob", method)
    return read_sequences(model, rows, lengths, group).answer(partial(log_prob_of, model))


def log_prob_of(model: MarkovChain, sequences: Sequences) -> np.ndarray:
    """log p of each sequence."""
    if sequences.observations.dtype.kind != "f":
        return log_prob_complete(model, sequences)
    if model.order == 1:
        return log_prob_across_gaps(model, sequences)
    return np.array([log_prob_forward(model, one.observations) for one in sequences])


def log_prob_complete(model: MarkovChain, sequences: Sequences) -> np.ndarray:
    """log p(first states) + Σ log p(next | before)."""
    values, first, size = np.zeros(sequences.num), model.initial_distribution(), model.num_states
    for known in range(1, model.order + 1):
        marginal = log(first.sum(axis=tuple(range(known, model.order)))).ravel()
        which = np.flatnonzero(np.minimum(sequences.lengths, model.order) == known)
        values[which] = marginal[cells(sequences, sequences.offsets[which] + known - 1, known - 1, size)]
    steps = np.flatnonzero(own_steps(sequences) >= model.order)
    terms = log(model.transition).ravel()[cells(sequences, steps, model.order, size)]
    return values + np.bincount(owners(sequences, steps), terms, sequences.num)


def log_prob_across_gaps(model: MarkovChain, sequences: Sequences) -> np.ndarray:
    """log p(first state observed) + Σ log p(next observed | last observed), by the transitions of as many steps."""
    values, seen = np.zeros(sequences.num), Sightings.of(sequences)
    for time in np.unique(seen.first_time):
        at = seen.first_time == time
        values[seen.first_owner[at]] = log(model.distribution_at(time))[seen.first[at]]
    for gap in np.unique(seen.gap):
        at = seen.gap == gap
        terms = log(power(model.transition, int(gap)))[seen.before[at], seen.after[at]]
        values += np.bincount(seen.owner[at], terms, sequences.num)
    return values


def log_prob_forward(model: MarkovChain, observations: np.ndarray) -> float:
    """The distribution of the last states goes on step by step; where a state is observed, the others are ruled out."""
    distribution, total = model.initial_distribution(), 0.0
    for step, state in enumerate(observations):
        if step >= model.order:
            distribution = next_distribution(model.transition, distribution)
        if not np.isnan(state):
            kept = np.zeros_like(distribution)
            position = (slice(None),) * min(step, model.order - 1) + (int(state),)
            kept[position] = distribution[position]
            if not kept.any():
                return -np.inf
            total += float(np.log(kept.sum()))
            distribution = kept / kept.sum()
    return total


register_methods(MarkovChain, "infer", "forward-backward")
register_methods(MarkovChain, "log_prob", "forward-backward")
register_methods(MarkovChain, "sample", "forward-backward")
register_methods(MarkovChain, "most_probable", "viterbi")


def sample_chain(model: MarkovChain, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Any:
    """One `Sequence` of `n` states, which are its observations too; with a list of lengths, a list of such sequences.

    With `given`, one sequence of states with holes: `n` paths of states from the posterior, (path, step).
    """
    resolve_method(model, "sample", method)
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
