"""Dirichlet-process mixtures: the bound never falls, it is below the evidence, and empty components stay empty."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.latent.mixtures.dirichlet_process import data_prior, fit_dirichlet_process

SEEDS = st.integers(0, 2**32 - 1)


def learn(rows, weights, number, alpha, seed=0, max_steps=200):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        method = jt.ExpectationMaximization(1e-10, max_steps)
        return fit_dirichlet_process(rows, weights, number, alpha, method, np.random.default_rng(seed))


@given(seed=SEEDS)
def test_the_bound_never_falls(seed):
    """S4-153: with holes and weights."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 2)) + rng.integers(3, size=(40, 1)) * 4.0
    rows[rng.random(rows.shape) < 0.2] = np.nan
    weights = rng.uniform(0.0, 2.0, 40)
    _, trace = learn(rows, weights, 4, 1.0, seed % 100, 30)
    values = np.array(trace.values)
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()


def test_one_component_has_the_evidence_of_its_family():
    """With one component and no holes the posterior is exact, and the bound is the log-evidence."""
    rows = np.random.default_rng(0).normal(size=(30, 2))
    posterior, trace = learn(rows, np.ones(30), 1, 1.0)
    prior = data_prior(rows, np.ones(30))
    assert trace.values[-1] == pytest.approx(prior.log_evidence(jt.MultivariateGaussian.statistics(rows)), rel=1e-9)
    assert posterior.weights.tolist() == [1.0]


def test_the_bound_is_below_the_evidence_by_enumeration():
    """All assignments of six rows to two components, with the weights integrated out."""
    rows, alpha = np.random.default_rng(1).normal(size=(6, 1)) + np.repeat([0.0, 5.0], 3)[:, None], 0.7
    prior = data_prior(rows, np.ones(6))
    logs = []
    for code in range(2**6):
        own = np.array([(code >> row) & 1 for row in range(6)], bool)
        stick = jt.Beta(1.0, alpha).log_evidence(jt.Bernoulli.statistics((~own).astype(float)))
        parts = [
            prior.log_evidence(jt.MultivariateGaussian.statistics(rows[each])) for each in (own, ~own) if each.any()
        ]
        logs.append(float(stick) + float(np.sum(parts)))
    evidence = np.logaddexp.reduce(logs)
    _, trace = learn(rows, np.ones(6), 2, alpha)
    assert evidence - 3.0 < trace.values[-1] < evidence


def test_components_that_are_not_needed_stay_empty():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(mean, 1.0, (150, 2)) for mean in (0.0, 8.0)])
    rows[::6, 0] = np.nan
    posterior, _ = learn(rows, np.ones(300), 6, 0.1)
    assert (posterior.weights > 0.02).sum() == 2
    assert posterior.weights.sum() == pytest.approx(1.0)
