"""Block Gibbs sampling: all hidden units given the visible ones, then all visible units given the hidden ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.numerics.stable import sigmoid


def draw_hidden(model: RestrictedBoltzmannMachine, u: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """h given statistics of the visible units, (row, hidden)."""
    odds = model.hidden_input(u)
    return (rng.random(odds.shape) < sigmoid(odds)).astype(float)


def gibbs_step(
    model: RestrictedBoltzmannMachine, u: np.ndarray, rng: np.random.Generator, seen: np.ndarray | None = None
) -> np.ndarray:
    """Statistics of the visible units after one step of each row; entries that are seen stay."""
    drawn = model.units.draw(model.visible_input(draw_hidden(model, u, rng)), rng)
    return drawn if seen is None else np.where(seen, u, drawn)


def start(
    model: RestrictedBoltzmannMachine, rows: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Statistics of rows whose holes are drawn with no hidden unit on, and which entries are seen."""
    u = model.units.encode(rows)
    seen = np.repeat(~np.isnan(rows), u.shape[1] // rows.shape[1], axis=1)
    bias = np.broadcast_to(model.visible_bias.ravel(), u.shape)
    return np.where(seen, u, model.units.draw(bias, rng)), seen


class ChainMeans(NamedTuple):
    """Means over the draws of chains, with standard errors from the spread of the chains."""

    hidden: np.ndarray  # (row, hidden)
    visible: np.ndarray  # (row, entry)
    hidden_errors: np.ndarray  # (row, hidden)


def chain_means(
    model: RestrictedBoltzmannMachine,
    rows: np.ndarray,
    rng: np.random.Generator,
    *,
    draws: int = 500,
    warmup: int = 100,
    chains: int = 8,
) -> ChainMeans:
    """Expectations of h and u given the entries that are seen, by chains for each row."""
    u, seen = start(model, np.tile(rows, (chains, 1)), rng)
    hidden, visible = np.zeros((len(u), model.num_hidden)), np.zeros_like(u)
    for step in range(warmup + draws):
        theta = model.visible_input(draw_hidden(model, u, rng))
        u = np.where(seen, u, model.units.draw(theta, rng))
        if step >= warmup:
            hidden += sigmoid(model.hidden_input(u)) / draws
            visible += np.where(seen, u, model.units.mean(theta)) / draws
    by_chain = hidden.reshape(chains, len(rows), -1)
    errors = by_chain.std(axis=0, ddof=1) / np.sqrt(chains)
    return ChainMeans(by_chain.mean(axis=0), visible.reshape(chains, len(rows), -1).mean(axis=0), errors)
