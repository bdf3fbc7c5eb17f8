"""The partition function of a restricted Boltzmann machine, and what else a sum over all states of one layer answers.

The sum over the smaller layer gives log Z and the expectations of the statistics exactly; the sum over the hidden layer
answers rows with holes. Both visit up to 2^20 states. For larger machines annealed importance sampling, from
independent units to the machine, estimates log Z (Salakhutdinov and Murray 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.errors import TooLarge
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
from juncture.latent.boltzmann.layers import BoltzmannParameters, all_states
from juncture.numerics.stable import log_sum_exp, sigmoid, softplus

MAX_BITS = 20  # log2 of the largest number of joint states that are visited
BLOCK = 4096  # joint states at a time
ROWS = 1024  # rows with holes at a time
MAX_WORK = 2e10  # multiplications that "auto" spends on an exact answer, about 10 s


def exact_log_partition(model: BoltzmannParameters) -> float:
    return float(log_sum_exp(np.concatenate([layer.log_weight for layer in layers(model)])))


def layers(model: BoltzmannParameters) -> Iterator[Layer]:
    """All joint states of the smaller layer, in blocks."""
    check_small(model)
    if model.num_hidden <= visible_bits(model):
        for h in hidden_states(model):
            theta = model.visible_input(h)
            log_weight = h @ model.hidden_bias + model.units.log_partition(theta).sum(axis=1)
            yield Layer(model.units.mean(theta), h, log_weight)
        return
    states = all_states(model.units)
    for start in range(0, len(states), BLOCK):
        u = model.units.encode(states[start : start + BLOCK])
        yield Layer(u, sigmoid(model.hidden_input(u)), model.log_weight(u))


class Layer(NamedTuple):
    """Joint states of one layer with the other one summed out: statistics or their expectations, and log weights."""

    u: np.ndarray  # (state, entry)
    h: np.ndarray  # (state, hidden)
    log_weight: np.ndarray  # (state,)


def hidden_states(model: BoltzmannParameters) -> Iterator[np.ndarray]:
    """All joint states of the hidden units, in blocks (state, hidden)."""
    bits = np.arange(model.num_hidden)
    for start in range(0, 2**model.num_hidden, BLOCK):
        numbers = np.arange(start, min(start + BLOCK, 2**model.num_hidden))
        yield (numbers[:, None] >> bits & 1).astype(float)


def check_small(model: BoltzmannParameters) -> None:
    if not is_small(model):
        raise TooLarge(
            f"log Z of a machine with {model.num_visible} visible and {model.num_hidden} hidden units is a sum over at"
            f" least 2^{min(model.num_hidden, visible_bits(model)):.0f} states; the limit is 2^{MAX_BITS}:"
            " estimate it by annealed_log_partition()"
        )


def is_small(model: BoltzmannParameters) -> bool:
    """Whether log Z can be summed."""
    return min(model.num_hidden, visible_bits(model)) <= MAX_BITS


def visible_bits(model: BoltzmannParameters) -> float:
    """log2 of the number of joint states of the visible units."""
    states = model.units.num_states
    return model.num_visible * float(np.log2(states)) if states else np.inf


def is_quick(model: BoltzmannParameters, num_rows: int = 1, most: float = MAX_WORK) -> bool:
    """Whether the sum over the hidden units for so many rows, or over the smaller layer, takes few multiplications."""
    bits = model.num_hidden if num_rows > 1 else min(model.num_hidden, visible_bits(model))
    return bits <= MAX_BITS and 2.0**bits * model.matrix.size * num_rows <= most


def model_moments(model: BoltzmannParameters) -> Moments:
    """The exact expectations of the statistics under a small machine."""
    total = Moments(np.zeros_like(model.matrix), np.zeros(len(model.matrix)), np.zeros(model.num_hidden))
    log_partition = exact_log_partition(model)
    for layer in layers(model):
        share = np.exp(layer.log_weight - log_partition)
        part = Moments((layer.u * share[:, None]).T @ layer.h, share @ layer.u, share @ layer.h)
        total = Moments(*(mine + new for mine, new in zip(total, part, strict=True)))
    return total


class Moments(NamedTuple):
    """Expectations of the statistics of a machine: of u hᵀ, u and h."""

    products: np.ndarray  # (entry, hidden)
    visible: np.ndarray  # (entry,)
    hidden: np.ndarray  # (hidden,)


def with_holes(model: BoltzmannParameters, rows: np.ndarray) -> HoleAnswers:
    """Answers about rows with holes, which are summed or integrated out, by the sum over all hidden states."""
    if model.num_hidden > MAX_BITS:
        raise TooLarge(
            f"holes are summed out over all 2^{model.num_hidden} hidden states; the limit is 2^{MAX_BITS}:"
            ' infer with method="gibbs"'
        )
    parts = [sum_holes(model, rows[first : first + ROWS]) for first in range(0, max(1, len(rows)), ROWS)]
    return HoleAnswers(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def sum_holes(model: BoltzmannParameters, rows: np.ndarray) -> HoleAnswers:
    """The answers about a block of rows; sums are kept relative to the largest weight so far."""
    units, u, seen = model.units, model.units.encode(rows), ~np.isnan(rows)
    top, total = np.full(len(rows), -np.inf), np.zeros(len(rows))
    hidden, visible = np.zeros((len(rows), model.num_hidden)), np.zeros_like(u)
    for h in hidden_states(model):
        theta = model.visible_input(h)
        log_weight = u @ theta.T + (~seen).astype(float) @ units.log_partition(theta).T + h @ model.hidden_bias
        old, top = top, np.maximum(top, log_weight.max(axis=1))
        scale, shares = np.exp(old - top), np.exp(log_weight - top[:, None])
        total = scale * total + shares.sum(axis=1)
        hidden = scale[:, None] * hidden + shares @ h
        visible = scale[:, None] * visible + shares @ units.mean(theta)
    seen_entries = np.repeat(seen, u.shape[1] // rows.shape[1], axis=1)
    filled = np.where(seen_entries, u, visible / total[:, None])
    return HoleAnswers(top + np.log(total) + units.log_base(u), hidden / total[:, None], filled)


class HoleAnswers(NamedTuple):
    """Of rows with holes: log Σ exp(-E), and the expectations of h and u given what is seen."""

    log_weight: np.ndarray  # (row,)
    hidden: np.ndarray  # (row, hidden)
    visible: np.ndarray  # (row, entry)


def anneal(model: BoltzmannParameters, particles: int, temperatures: int, rng: Any) -> AnnealedEstimate:
    """Chains through the machines with the weights β W, hidden biases β a and visible biases b, for β from 0 to 1."""
    count = check_count(particles, "particles", least=1)
    steps = np.linspace(0.0, 1.0, check_count(temperatures, "temperatures", least=1) + 1)
    generator, units, bias = as_generator(rng), model.units, model.visible_bias.ravel()
    theta = np.broadcast_to(bias, (count, len(bias)))
    u = units.draw(theta, generator)
    at_zero = model.num_hidden * np.log(2) + float(units.log_partition(theta[:1]).sum())
    log_weights = np.full(count, at_zero)
    for old, new in pairwise(steps):
        odds = model.hidden_input(u)
        log_weights += (softplus(new * odds) - softplus(old * odds)).sum(axis=1)
        hidden = generator.random(odds.shape) < sigmoid(new * odds)
        u = units.draw(new * (hidden @ model.matrix.T) + bias, generator)
    return AnnealedEstimate(log_weights)
