"""Problem 5.3 of the lecture notes: the features of a restricted Boltzmann machine beside the principal component."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
def test_weights_point_along_the_principal_component(seed):
    """S4-187: 1,000 rows of 10 zeros and ones, two hidden units, contrastive divergence one row at a time, rate 0.1."""
    rng = np.random.default_rng(seed)
    first_half = np.arange(10) < 5
    shares = np.where(first_half == (rng.random((1000, 1)) < 0.5), 0.9, 0.1)
    rows = (rng.random((1000, 10)) < shares).astype(float)
    component = jt.clusters.principal_components(rows, 1).components.reshape(10)
    start = jt.RestrictedBoltzmannMachine(rng.random((10, 2)), rng.random(10), rng.random(2))
    learner = jt.ContrastiveDivergence(learning_rate=0.1, batch_size=1, epochs=1, persistent=False)
    weights = jt.fit(start, rows, method=learner, rng=seed).model.weights
    cosines = component @ weights / np.linalg.norm(weights, axis=0) / np.linalg.norm(component)
    assert np.all(np.abs(cosines) > 0.95)
