"""Diagnostics of chains of states: R-hat, effective sample size and standard errors of the indicator of each state.

The indicator of a state has two values, so that its ranks are a linear function of it: the rank-normalised R-hat of
`diagnostics.r_hat` follows from the shares of the state in the half chains alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from juncture.inference.sampling.diagnostics import LEAST_DRAWS, effective_sample_size, split_chains

HIGH_R_HAT = 1.05  # above it, chains disagree
LEAST_SIZE = 25  # effective draws a chain, below which standard errors are not to be trusted
MEMORY = 4.0  # autocorrelation times, after which batches of draws are about independent
MOST_NODES = 32  # whose effective sample size is computed: those of the largest R-hat


def indicator_r_hat(codes: np.ndarray, num_states: int) -> np.ndarray:
    """(state, node): the R-hat of the indicators, from codes (chain, draw, node)."""
    halves = split_chains(codes)
    num_draws = halves.shape[1]
    values = []
    for state in range(num_states):
        shares = (halves == state).mean(axis=1)
        within = (shares * (1.0 - shares)).mean(axis=0) * num_draws / (num_draws - 1.0)
        between = num_draws * shares.var(axis=0, ddof=1)
        is_still = within == 0.0
        ratios = np.divide(between, within, out=np.full_like(within, np.inf), where=~is_still)
        ratios[is_still & (between == 0.0)] = 1.0
        values.append(np.sqrt((ratios + num_draws - 1.0) / num_draws))
    return np.array(values)


def worst_r_hat(draws: np.ndarray) -> float:
    """The largest R-hat of a state's indicator, from codes (row, chain, draw, node); NaN of fewer than 4 draws."""
    if draws.shape[2] < LEAST_DRAWS:
        return float("nan")
    num_states = int(draws.max(initial=0)) + 1
    return max((float(indicator_r_hat(row, num_states).max(initial=1.0)) for row in draws), default=1.0)


def worst_size(draws: np.ndarray) -> float | None:
    """The smallest effective sample size of a state's indicator, one of each of the nodes whose R-hat is largest."""
    if draws.shape[2] < LEAST_DRAWS or not draws.size:
        return None
    num_states = int(draws.max(initial=0)) + 1
    sizes = []
    for row in draws:
        values = indicator_r_hat(row, num_states)
        states = values.argmax(axis=0)
        nodes = np.argsort(values.max(axis=0))[::-1][:MOST_NODES]
        states = states[nodes]
        sizes.append(effective_sample_size((row[:, :, nodes] == states).astype(float), "mean").min())
    return float(min(sizes))


def standard_errors(codes: np.ndarray, num_states: int, least_size: float | None = None) -> np.ndarray:
    """(state,): standard errors of the shares of the states, from codes (chain, draw) of one variable.

    √(p (1 - p) / ESS), with half a draw of each kind added to the effective ones: a state that was never drawn has a
    standard error too. States that were always or never drawn have the least effective sample size of the others, and
    at most `least_size`, that of the slowest variable. What depends a little on a slow variable has small correlations
    over many draws, which are lost in the noise of its own effective sample size: its error is at least that of the
    means of batches that are long enough for the slowest variable.
    """
    indicators = (codes[:, :, np.newaxis] == np.arange(num_states)).astype(float)
    shares = indicators.mean(axis=(0, 1))
    if codes.shape[1] < LEAST_DRAWS:
        return np.full(num_states, np.inf)
    sizes = effective_sample_size(indicators, "mean")
    is_seen = (shares > 0) & (shares < 1)
    sizes[~is_seen] = sizes[is_seen].min(initial=codes.size if least_size is None else min(least_size, codes.size))
    smoothed = (shares * sizes + 0.5) / (sizes + 1.0)
    errors = np.sqrt(smoothed * (1.0 - smoothed) / sizes)
    return errors if least_size is None else np.maximum(errors, batch_errors(indicators, least_size))


def batch_errors(indicators: np.ndarray, least_size: float) -> np.ndarray:
    """(state,): standard errors of means of (chain, draw, state), from batches of the slowest variable's memory."""
    num_chains, num_draws, num_states = indicators.shape
    memory = MEMORY * num_chains * num_draws / max(least_size, 1.0)
    length = int(min(max(1, np.ceil(memory)), num_draws // 2))
    count = num_draws // length
    batches = indicators[:, num_draws - count * length :].reshape(num_chains * count, length, num_states).mean(axis=1)
    return np.asarray(batches.std(axis=0, ddof=1) / np.sqrt(len(batches)))


@dataclass(frozen=True, eq=False)
class ChainErrors(Mapping[str, np.ndarray]):
    """Name → the standard errors of the shares of its states, (state,) or (row, state), computed when asked for."""

    draws: np.ndarray  # (row, chain, draw, node)
    names: tuple[str, ...]
    sizes: np.ndarray  # (node,): numbers of states
    is_free: np.ndarray  # (row, node): whether the node has several states; others have no error
    is_single: bool
    least_size: float | None  # that of the slowest variable
    is_stuck: np.ndarray | None = None  # (row, node): whether nothing is known of the error

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise KeyError(name)
        node = self.names.index(name)
        rows = np.array(
            [standard_errors(row[:, :, node], int(self.sizes[node]), self.least_size) for row in self.draws]
        )
        rows[~self.is_free[:, node]] = 0.0
        if self.is_stuck is not None:
            rows[self.is_stuck[:, node]] = np.inf
        return np.asarray(rows[0] if self.is_single else rows)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
