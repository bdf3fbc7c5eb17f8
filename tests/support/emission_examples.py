"""Emissions of every kind, drawn at random, with a prior for those that take one; a new kind is added here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import juncture as jt
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.convert import as_emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import MixtureEmissions, MixturePrior
from juncture.components.shared import SharedEmissions
from juncture.data.sequences import Sequence
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

Rng = np.random.Generator


def covariances(rng: Rng, number: int, size: int = 2) -> np.ndarray:
    roots = rng.normal(size=(number, size, size))
    return roots @ np.swapaxes(roots, 1, 2) + 0.5 * np.eye(size)


def means(rng: Rng, number: int, size: int = 2) -> np.ndarray:
    return rng.normal(scale=3.0, size=(number, size))


def mixtures(rng: Rng, number: int) -> MixtureEmissions:
    parts = GaussianEmissions(means(rng, 2 * number), rng.gamma(4.0, 0.25, (2 * number, 2)))
    return MixtureEmissions(rng.dirichlet(np.ones(2), number), parts)


def columns(rng: Rng, number: int) -> Any:
    return jt.Independent(
        [
            jt.Gaussian(rng.normal(size=number), rng.gamma(4.0, 0.25, number)),
            jt.Poisson(rng.gamma(4.0, 1.0, number)),
            jt.Bernoulli(rng.uniform(0.1, 0.9, number)),
        ]
    )


def different(rng: Rng, number: int) -> list[Any]:
    families = [lambda: jt.Gaussian(rng.normal(), 1.0), lambda: jt.Laplace(rng.normal(), 1.0)]
    return [families[place % 2]() for place in range(number)]


EMISSIONS: dict[str, Callable[[Rng, int], Any]] = {
    "categorical": lambda rng, number: rng.dirichlet(np.ones(4), number),
    "gaussian numbers": lambda rng, number: jt.Gaussian(means(rng, number, 1)[:, 0], rng.gamma(4.0, 0.25, number)),
    "full": lambda rng, number: GaussianEmissions(means(rng, number), covariances(rng, number), "full"),
    "diagonal": lambda rng, number: GaussianEmissions(means(rng, number), rng.gamma(4.0, 0.25, (number, 2))),
    "spherical": lambda rng, number: GaussianEmissions(means(rng, number), rng.gamma(4.0, 0.25, number), "spherical"),
    "tied": lambda rng, number: GaussianEmissions(means(rng, number), covariances(rng, 1)[0], "tied"),
    "poisson": lambda rng, number: jt.Poisson(rng.gamma(2.0, 3.0, number)),
    "binomial": lambda rng, number: jt.Binomial(7, rng.uniform(0.1, 0.9, number)),
    "exponential": lambda rng, number: jt.Exponential(rng.gamma(2.0, 1.0, number)),
    "gamma": lambda rng, number: jt.Gamma(rng.gamma(8.0, 0.5, number), rng.gamma(8.0, 0.2, number)),
    "laplace": lambda rng, number: jt.Laplace(3 * rng.normal(size=number), rng.gamma(4.0, 0.25, number)),
    "beta": lambda rng, number: jt.Beta(rng.gamma(8.0, 0.5, number), rng.gamma(8.0, 0.5, number)),
    "angles": lambda rng, number: jt.families.VonMises(rng.uniform(-3, 3, number), rng.gamma(4.0, 0.5, number)),
    "columns of zeros and ones": lambda rng, number: BernoulliEmissions(rng.uniform(0.1, 0.9, (number, 3))),
    "mixture": mixtures,
    "columns of different families": columns,
    "states of different families": different,
    "shared": lambda rng, number: SharedEmissions(
        GaussianEmissions(means(rng, max(1, number - 1)), covariances(rng, max(1, number - 1))),
        [max(0, place - 1) for place in range(number)],
    ),
}

PRIORS: dict[str, Any] = {
    "categorical": jt.Dirichlet([2.0, 1.5, 1.0, 3.0]),
    "gaussian numbers": jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0),
    "full": jt.NormalInverseWishart([0.0, 0.0], 0.5, 5.0, np.eye(2)),
    "diagonal": jt.NormalGamma(0.0, 0.5, 2.0, 1.0),
    "spherical": jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0),
    "tied": jt.NormalInverseWishart([0.0, 0.0], 0.5, 5.0, np.eye(2)),
    "poisson": jt.Gamma(2.0, 0.5),
    "binomial": jt.Beta(2.0, 3.0),
    "exponential": jt.Gamma(2.0, 1.0),
    "columns of zeros and ones": jt.Beta(2.0, 3.0),
    "mixture": MixturePrior(weights=jt.Dirichlet([2.0, 2.0]), components=jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0)),
    "columns of different families": [jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0), jt.Gamma(2.0, 0.5), None],
    "shared": jt.NormalInverseWishart([0.0, 0.0], 0.5, 5.0, np.eye(2)),
}

CAN_MISS_IN_PART = {
    "full",
    "diagonal",
    "spherical",
    "tied",
    "mixture",
    "columns of different families",
    "columns of zeros and ones",
    "shared",
}


def random_rows(rng: Rng, shape: tuple[int, ...], zeros: float = 0.0) -> np.ndarray:
    """Rows that sum to 1, with zeros here and there."""
    rows = rng.dirichlet(np.ones(shape[-1]), shape[:-1]) * (rng.random(shape) >= zeros)
    rows[..., 0] += rows.sum(axis=-1) == 0
    return rows / rows.sum(axis=-1, keepdims=True)


def random_hidden_markov(rng: Rng, kind: str, num_states: int = 3, zeros: float = 0.0) -> HiddenMarkovModel:
    return HiddenMarkovModel(
        random_rows(rng, (num_states,), zeros),
        random_rows(rng, (num_states, num_states), zeros),
        as_emissions(EMISSIONS[kind](rng, num_states), num_states),
    )


def walk(hmm: HiddenMarkovModel, length: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """(states, observations) that the model could have given."""
    states = np.zeros(length, dtype=np.int64)
    for step in range(length):
        row = hmm.initial if not step else hmm.transition[states[step - 1]]
        states[step] = rng.choice(hmm.num_states, p=row)
    return states, np.asarray(hmm.emissions.sample(states, rng))


def with_holes(observations: np.ndarray, rng: Rng, share: float, *, in_part: bool) -> np.ndarray:
    """The observations with some of them missing; with `in_part`, also single entries of a vector."""
    shape = observations.shape if in_part else (len(observations),) + (1,) * (observations.ndim - 1)
    return np.where(rng.random(shape) < share, np.nan, observations.astype(float))


def some_sequences(hmm, rng, *, lengths=(9, 0, 1, 14), share=0.0, in_part=False, labels=0.0):
    """Sequences that the model drew, some steps missing, some states labelled, of different weights."""
    found = []
    for length in lengths:
        states, seen = walk(hmm, length, rng)
        known = np.where(rng.random(length) < labels, states, -1) if labels else None
        seen = with_holes(seen, rng, share, in_part=in_part) if share else seen
        found.append(Sequence(seen, states=known, weight=float(rng.choice([0.5, 1.0, 2.0]))))
    return found
