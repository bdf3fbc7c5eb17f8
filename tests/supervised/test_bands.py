"""Bands of 90 % hold 90 % of new targets, and intervals of 90 % the coefficients, in units, thousands and millionths.

A table is drawn from a known line with noise and learned from; the bands are those of new rows. Where a model takes its
estimates as true, the bands of few rows are too narrow, as the guide says; a posterior that integrates the weights and
the noise covers for tables of any size.
"""

from __future__ import annotations

from functools import partial
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from juncture import supervised as sv

SCALES = (1.0, 1e3, 1e-6)
SLOPES, NOISE, NEW = np.array([1.0, -0.5]), 1.5, 20
HALF_WIDTH = NormalDist().inv_cdf(0.95)
TABLES, FEW = 200, 40
LEAST, MOST = 0.87, 0.93


def draw_line(rng, num_rows, scale):
    inputs = rng.normal(5.0, 2.0, (num_rows, 2))
    return scale * inputs, scale * (3.0 + inputs @ SLOPES + rng.normal(0.0, NOISE, num_rows))


def ends(distribution):
    return [np.asarray(distribution.quantile(share)) for share in (0.05, 0.95)]


def ask(kind, inputs, y, new, **options):
    return ends(jt.infer(jt.fit(kind, inputs, y, **options).model, new)["y"])


def ask_network(inputs, y, new):
    rows = pd.DataFrame(inputs, columns=["a", "b"])
    network = jt.fit(jt.DirectedGraph.parse("a -> y <- b"), rows.assign(y=y)).model
    return ends(jt.infer(network, pd.DataFrame(new, columns=["a", "b"]), targets=["y"])["y"])


def ask_estimator(inputs, y, new):
    from juncture.estimators import BayesianLinearRegression

    mean, deviation = BayesianLinearRegression().fit(inputs, y).predict(new, return_std=True)
    return mean - HALF_WIDTH * deviation, mean + HALF_WIDTH * deviation


BANDS = {  # how a band is asked for, and the least number of rows for which it covers
    "ConjugateLinearRegression": (partial(ask, sv.ConjugateLinearRegression), 15),
    "BayesianLinearRegression": (partial(ask, sv.BayesianLinearRegression), 100),
    "LinearRegression": (partial(ask, sv.LinearRegression), 100),
    "GeneralizedLinearModel": (partial(ask, sv.GeneralizedLinearModel, family=jt.Gaussian), 100),
    "BayesianNetwork": (ask_network, 100),
    "estimator": (ask_estimator, 100),
}


def share_inside(band, num_rows, scale, num_tables, seed=7):
    """The share of new targets in their bands, over tables drawn anew."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(num_tables):
        table, (new, truth) = draw_line(rng, num_rows, scale), draw_line(rng, NEW, scale)
        low, high = band(*table, new)
        hits += int(((low <= truth) & (truth <= high)).sum())
    return hits / (NEW * num_tables)


@pytest.mark.parametrize("kind", BANDS)
def test_bands_are_the_same_in_all_units(kind):
    band, num_rows = BANDS[kind]
    rng = np.random.default_rng(0)
    table, new = draw_line(rng, num_rows, 1.0), draw_line(rng, NEW, 1.0)[0]
    expected = np.array(band(*table, new))
    for scale in SCALES[1:]:
        found = np.array(band(scale * table[0], scale * table[1], scale * new))
        np.testing.assert_allclose(found / scale, expected, rtol=1e-6)


@pytest.mark.parametrize("kind", BANDS)
def test_bands_of_a_few_tables_cover(kind):
    band, num_rows = BANDS[kind]
    assert LEAST <= share_inside(band, num_rows, 1.0, FEW) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", BANDS)
def test_bands_cover(kind, scale):
    band, num_rows = BANDS[kind]
    for size in (num_rows, 2 * num_rows):
        assert LEAST <= share_inside(band, size, scale, TABLES) <= MOST


def draw_target(kind, rng, inputs, scale):
    score = 0.3 + inputs @ [0.5, -0.4]
    if kind == "logistic":
        return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(int)
    return rng.poisson(np.exp(score)) if kind == "counts" else scale * (score + rng.normal(size=len(score)))


INTERVALS = {
    "LinearRegression": (sv.LinearRegression, "line", {}),
    "BayesianLinearRegression": (sv.BayesianLinearRegression, "line", {}),
    "ConjugateLinearRegression": (sv.ConjugateLinearRegression, "line", {}),
    "Gaussian": (sv.GeneralizedLinearModel, "line", {"family": jt.Gaussian}),
    "Poisson": (sv.GeneralizedLinearModel, "counts", {"family": jt.Poisson}),
    "LogisticRegression": (sv.LogisticRegression, "logistic", {}),
}


def share_of_coefficients(name, scale, num_tables, num_rows=200):
    """The share of coefficients within 1.645 standard errors of their estimates, over tables drawn anew."""
    kind, target, options = INTERVALS[name]
    unit = scale if target == "line" else 1.0
    truth, rng, hits = np.array([0.3 * unit, 0.5 * unit / scale, -0.4 * unit / scale]), np.random.default_rng(3), 0
    for _ in range(num_tables):
        inputs = rng.normal(1.0, 1.0, (num_rows, 2))
        fitted = jt.fit(kind, scale * inputs, draw_target(target, rng, inputs, scale), **options)
        weights = fitted.model.mean if hasattr(fitted, "prior") else fitted.model.coefficients
        hits += int((abs(np.ravel(weights) - truth) <= HALF_WIDTH * np.ravel(fitted.standard_errors)).sum())
    return hits / (3 * num_tables)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_of_coefficients_cover(name, scale):
    assert LEAST <= share_of_coefficients(name, scale, TABLES) <= MOST


@pytest.mark.parametrize("name", INTERVALS)
def test_intervals_of_coefficients_are_the_same_in_all_units(name):
    shares = {scale: share_of_coefficients(name, scale, 10) for scale in SCALES}
    assert len(set(shares.values())) == 1
    assert shares[1.0] > 0.7
