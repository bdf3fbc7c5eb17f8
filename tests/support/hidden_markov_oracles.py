"""Slow and obvious answers for hidden Markov models: every path one by one, or messages in logarithms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture import ExpectationMaximization
from juncture.errors import NotConvergedWarning, RegularizedWarning, UnvisitedStatesWarning
from juncture.numerics.stable import log, log_sum_exp
from support.chain_oracles import enumerate_paths, log_likelihoods


@dataclass(frozen=True)
class Expected:
    """What a pass over sequences expects of them."""

    log_evidence: np.ndarray  # (num,)
    initial: np.ndarray  # (state,)
    transitions: np.ndarray  # (from, to)
    emissions: Any


def beliefs_by_enumeration(hmm, part):
    """(log-evidence, (step, state) beliefs, (from, to) expected transitions) of one sequence, path by path."""
    paths = enumerate_paths(hmm.initial, hmm.transition, log_likelihoods(hmm, part))
    return paths.log_evidence, paths.smoothed, paths.pairwise.sum(axis=0)


def beliefs_in_logarithms(hmm, part):
    """The same by messages, each the logarithm of a sum of exponentials."""
    seen, steps = log_likelihoods(hmm, part), len(part.observations)
    forward, backward = np.zeros_like(seen), np.zeros_like(seen)
    moves = log(hmm.transition)
    if not steps:
        return 0.0, seen, np.zeros_like(moves)
    for step in range(steps):
        before = log(hmm.initial) if not step else log_sum_exp(forward[step - 1][:, None] + moves, axis=0)
        forward[step] = before + seen[step]
    for step in range(steps - 2, -1, -1):
        backward[step] = log_sum_exp(moves + seen[step + 1] + backward[step + 1], axis=1)
    log_evidence = float(log_sum_exp(forward[-1]))
    shift = log_evidence if np.isfinite(log_evidence) else 0.0
    transitions = np.zeros_like(moves)
    for step in range(1, steps):
        transitions += np.exp(forward[step - 1][:, None] + moves + seen[step] + backward[step] - shift)
    return log_evidence, np.exp(forward + backward - shift), transitions


def expected_slowly(hmm, sequences, beliefs=beliefs_in_logarithms) -> Expected:
    """All that Baum-Welch expects, a sequence at a time."""
    logs, smoothed = [], [np.zeros((0, hmm.num_states))]
    initial, transitions = np.zeros(hmm.num_states), np.zeros((hmm.num_states, hmm.num_states))
    for part, weight in zip(sequences, sequences.weights, strict=True):
        log_evidence, own, moves = beliefs(hmm, part)
        logs.append(log_evidence)
        smoothed.append(weight * own)
        transitions += weight * moves
        if len(own):
            initial += weight * own[0]
    emissions = hmm.emissions.statistics(sequences.observations, np.concatenate(smoothed))
    return Expected(np.array(logs), initial, transitions, emissions)


def calmly(function, *arguments, **options):
    """The answer, without warnings of steps that ran out, of states without visits or that shrank to a point."""
    with warnings.catch_warnings():
        for kind in (NotConvergedWarning, RegularizedWarning, UnvisitedStatesWarning):
            warnings.simplefilter("ignore", kind)
        return function(*arguments, **options)


def few(steps):
    """So many steps of EM, however small the gain."""
    return ExpectationMaximization(max_steps=steps, tolerance=0.0)


def assert_rises(trace):
    """No step of EM lowered the objective."""
    values = np.array(trace.values)
    assert np.isfinite(values).all()
    assert (np.diff(values) >= -1e-9 * np.maximum(1, np.abs(values[1:]))).all()
