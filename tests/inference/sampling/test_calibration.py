"""Simulation-based calibration of every sampler (Talts, Betancourt, Simpson, Vehtari and Gelman 2018).

A world is drawn from the model and some of its variables are observed. Among draws given what was observed, the world
has a uniform rank, whatever is ranked.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

import juncture as jt
from support.samplers import COVERAGE_MODELS, QUICK_SAMPLERS, SAMPLERS

NUM_OBSERVED, NUM_DRAWS, NUM_BINS = 2, 20, 7  # the ranks 0 to 20, three to a bin
THIN = {True: 25, False: 1}  # of chains, and of independent draws
LEVEL = 0.001
DRAWERS = [name for name, entry in SAMPLERS.items() if entry.draws_rows]


def posterior_draws(model, evidence, count, sampler, rng):
    """About independent draws of all variables, (draw, variable), without weights."""
    entry = SAMPLERS[sampler]
    thin = THIN[entry.is_chain]
    draws = jt.sample(model, count * thin, given=evidence, method=entry.engine, rng=rng)
    codes = np.stack([draws[name] for name in model.variables.names], axis=-1)  # (chain, draw, variable)
    if draws.log_weights is not None:
        many = jt.sample(model, 20 * count, given=evidence, method=entry.engine, rng=rng)
        codes = np.stack([many[name] for name in model.variables.names], axis=-1).reshape(20 * count, -1)
        return codes[rng.choice(20 * count, count, p=many.weights.reshape(-1))]
    return rng.permutation(codes[:, thin - 1 :: thin].reshape(-1, codes.shape[-1]))[:count]


def log_joint(model, codes):
    return jt.log_prob(
        model, jt.Dataset.from_codes(model.variables, dict(zip(model.variables.names, codes.T, strict=True)))
    )


def ranks(sampler, name, num_worlds, rng):
    """(world, statistic): ranks of the logarithm of the joint probability and of every unobserved variable."""
    model, _ = COVERAGE_MODELS[name]
    names = model.variables.names
    worlds = jt.sample(model, num_worlds, rng=rng, method="exact")
    truth = np.stack([worlds.columns[name] for name in names], axis=-1)  # (world, variable)
    found = []
    for observed in np.unique(truth[:, -NUM_OBSERVED:], axis=0):
        same = truth[(truth[:, -NUM_OBSERVED:] == observed).all(axis=1)]
        labels = [model.variable(name).states[code] for name, code in zip(names[-NUM_OBSERVED:], observed, strict=True)]
        evidence = dict(zip(names[-NUM_OBSERVED:], labels, strict=True))
        drawn = posterior_draws(model, evidence, len(same) * NUM_DRAWS, sampler, rng)
        drawn[:, -NUM_OBSERVED:] = observed  # so that the joint probability sees draws that do not fit them
        values = [np.column_stack([log_joint(model, codes), codes[:, :-NUM_OBSERVED]]) for codes in (same, drawn)]
        true, others = values[0], values[1].reshape(len(same), NUM_DRAWS, -1)
        below = (others < true[:, np.newaxis] - 1e-9).sum(axis=1)
        ties = (np.abs(others - true[:, np.newaxis]) <= 1e-9).sum(axis=1)
        found.append(below + rng.integers(0, ties + 1))
    return np.concatenate(found)


def p_values(sampler, num_worlds, seed, model=None):
    found = ranks(sampler, model or SAMPLERS[sampler].models[-1], num_worlds, np.random.default_rng(seed))
    counts = [np.bincount(column * NUM_BINS // (NUM_DRAWS + 1), minlength=NUM_BINS) for column in found.T]
    return [float(chisquare(one).pvalue) for one in counts]


@pytest.mark.parametrize("sampler", [name for name in DRAWERS if name in QUICK_SAMPLERS])
def test_ranks_are_uniform(sampler):
    found = p_values(sampler, 140, seed=1)
    assert min(found) > LEVEL / (len(DRAWERS) * len(found)), found


@pytest.mark.slow
@pytest.mark.parametrize("sampler", DRAWERS)
def test_ranks_of_many_worlds_are_uniform(sampler):
    found = p_values(sampler, 4000, seed=2)
    assert min(found) > LEVEL / (len(DRAWERS) * len(found)), found


def test_a_wrong_posterior_is_seen(monkeypatch):
    """Draws without the evidence have ranks that are not uniform."""
    sample = jt.sample
    monkeypatch.setattr(jt, "sample", lambda model, n, given=None, **options: sample(model, n, given={}, **options))
    assert min(p_values("gibbs", 1000, seed=3, model="student")) < 1e-6
