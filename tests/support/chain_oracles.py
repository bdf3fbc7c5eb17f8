"""Every path of a short hidden Markov chain, one by one, and random chains to ask about."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.special import logsumexp

import juncture as jt
from juncture.numerics.stable import log, log_sum_exp


@dataclass(frozen=True)
class Paths:
    """All paths (path, step) and the log of their joint probability with what was observed."""

    codes: np.ndarray
    log_joint: np.ndarray
    num_states: int

    @property
    def log_evidence(self) -> float:
        return float(log_sum_exp(self.log_joint))

    @property
    def weights(self) -> np.ndarray:
        return np.exp(self.log_joint - self.log_evidence)

    def distribution(self, step: int) -> np.ndarray:
        """p(state at a step | everything observed)."""
        return np.bincount(self.codes[:, step], self.weights, self.num_states)

    @property
    def smoothed(self) -> np.ndarray:
        distributions = [self.distribution(step) for step in range(self.codes.shape[1])]
        return np.array(distributions).reshape(-1, self.num_states)

    @property
    def pairwise(self) -> np.ndarray:
        found = np.zeros((max(0, self.codes.shape[1] - 1), self.num_states, self.num_states))
        for codes, weight in zip(self.codes, self.weights, strict=True):
            for step in range(len(found)):
                found[step, codes[step], codes[step + 1]] += weight
        return found

    @property
    def ranking(self) -> list[tuple[int, ...]]:
        """Possible paths, best first; of equals (to 12 digits) the one with earlier states."""
        order = sorted(range(len(self.codes)), key=lambda path: (-round(self.log_joint[path], 10), path))
        return [tuple(self.codes[path].tolist()) for path in order if self.log_joint[path] > -np.inf]


def all_paths(hmm, observations, states=None) -> Paths:
    """Σ over paths by brute force; `observations` may be cut short to see what was known earlier."""
    part = hmm.sequences(jt.Sequence(observations, states=states) if states is not None else observations)
    return enumerate_paths(hmm.initial, hmm.transition, log_likelihoods(hmm, part))


def log_likelihoods(hmm, part) -> np.ndarray:
    """log p(observation | state) of one sequence, -inf for states other than the labelled one: (step, state)."""
    found = np.array(hmm.emissions.log_prob(part.observations), dtype=float).reshape(-1, hmm.num_states)
    if part.states is not None:
        label = part.states[:, None]
        found[(label >= 0) & (label != np.arange(hmm.num_states))] = -np.inf
    return found


def enumerate_paths(initial: np.ndarray, transition: np.ndarray, log_likelihoods: np.ndarray) -> Paths:
    """All paths of a chain, from log p(observation | state): (step, state)."""
    num_steps, num_states = log_likelihoods.shape
    codes = np.array(list(product(range(num_states), repeat=num_steps)), np.int64).reshape(num_states**num_steps, -1)
    log_joint = np.zeros(len(codes))
    for step in range(num_steps):
        log_joint += log_likelihoods[step, codes[:, step]]
        log_joint += log(initial)[codes[:, 0]] if not step else log(transition)[codes[:, step - 1], codes[:, step]]
    return Paths(codes, log_joint, num_states)


@np.errstate(invalid="ignore")
def beliefs_in_logs(initial: np.ndarray, transition: np.ndarray, seen: np.ndarray) -> tuple[Any, ...]:
    """log p(x), log filtered, smoothed, expected transitions by the recursion in logarithms; NaN where impossible."""
    ahead, back, log_matrix = np.empty_like(seen), np.zeros_like(seen), log(transition)
    for step in range(len(seen)):
        before = log(initial) if not step else logsumexp(ahead[step - 1][:, None] + log_matrix, axis=0)
        ahead[step] = before + seen[step]
    for step in range(len(seen) - 2, -1, -1):
        back[step] = logsumexp(log_matrix + (seen[step + 1] + back[step + 1]), axis=1)
    log_evidence = logsumexp(ahead[-1])
    pairs = ahead[:-1, :, None] + log_matrix + (seen + back)[1:, None] - log_evidence
    filtered = ahead - logsumexp(ahead, axis=1, keepdims=True)
    return log_evidence, filtered, np.exp(ahead + back - log_evidence), np.exp(pairs).sum(axis=0)


def random_sparse_rows(rng: np.random.Generator, shape: tuple[int, ...], zeros: float) -> np.ndarray:
    """Distributions along the last axis in which a share of entries is zero."""
    rows = rng.random(shape) * (rng.random(shape) >= zeros) + 1e-300 * (rng.random(shape) < zeros / 4)
    rows[rows.sum(axis=-1) == 0] = 1.0
    return rows / rows.sum(axis=-1, keepdims=True)


@st.composite
def chains(draw, zeros=(0.0, 0.4), num_symbols: int = 3) -> jt.HiddenMarkovModel:
    """A chain of 1 to 4 states over a few symbols, with or without zeros."""
    rng, share = np.random.default_rng(draw(st.integers(0, 10**6))), draw(st.sampled_from(zeros))
    size = draw(st.integers(1, 4))
    table = random_sparse_rows(rng, (size, num_symbols), share / 2)
    return jt.HiddenMarkovModel(
        random_sparse_rows(rng, (size,), share), random_sparse_rows(rng, (size, size), share), table
    )


observed = st.lists(st.sampled_from([0, 1, 2, None]), max_size=5)
