"""Published hybrid networks: textbook numbers, and every answer against enumeration of the states."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from support.hybrid_oracle import Oracle, published


def test_the_waste_incinerator():
    """Lauritzen 1992: the prior, and two sets of evidence."""
    model = published("waste")
    prior = jt.infer(model)
    expected = {
        "E": (-3.253571429, 0.708880275),
        "D": (3.039285714, 0.770005977),
        "L": (1.480357143, 0.631052534),
        "Mout": (2.825, 0.860298370),
    }
    for name, (mean, deviation) in expected.items():
        assert (prior[name].mean, prior[name].standard_deviation) == pytest.approx((mean, deviation), abs=1e-9)
    burned = jt.infer(model, {"W": "industrial", "L": 1.1, "C": -0.9})
    expected = {
        "E": (-3.898338214, 0.076285645),
        "D": (3.607666610, 0.325851024),
        "Mout": (4.107666610, 0.343771566),
    }
    for name, (mean, deviation) in expected.items():
        assert (burned[name].mean, burned[name].standard_deviation) == pytest.approx((mean, deviation), abs=1e-9)
    assert burned["F"]["intact"] == pytest.approx(0.9995262722, abs=1e-10)
    assert burned["B"]["stable"] == pytest.approx(0.0122527598, abs=1e-10)
    assert burned.log_evidence == pytest.approx(-3.813723886523, abs=1e-11)
    emitted = jt.infer(model, {"Mout": 3.0})
    assert emitted["W"]["industrial"] == pytest.approx(0.8204114911, abs=1e-10)
    assert emitted.log_evidence == pytest.approx(-0.721201402630, abs=1e-11)
    assert (emitted.method, emitted.exact) == ("strong-junction-tree", True)


@pytest.mark.parametrize("name", ["waste", "clgaussian.test", "healthcare", "sangiovese"])
def test_published_networks_against_enumeration(name):
    model = published(name)
    rows = jt.sample(model, 6 if len(model.variables) < 10 else 2, rng=3)  # fractions of many digits
    rng = np.random.default_rng(5)
    for number in range(len(rows)):
        row = {key: values[number] for key, values in rows.to_dict().items() if rng.random() < 0.4}
        check(model, row)
        if number == 0:
            check(model, {})


def check(model, evidence):
    oracle, beliefs = Oracle(model, evidence), jt.infer(model, evidence)
    assert beliefs.log_evidence == pytest.approx(oracle.log_evidence, rel=1e-10, abs=1e-10)
    for variable in model.variables:
        if not variable.is_real:
            assert beliefs[variable.name].values == pytest.approx(oracle.probabilities(variable.name), abs=1e-10)
            continue
        mean, covariance = oracle.moments(variable.name)
        marginal, deviation = beliefs[variable.name], float(np.sqrt(covariance[0, 0]))
        assert marginal.mean == pytest.approx(mean[0], rel=1e-9, abs=1e-9)
        assert marginal.variance == pytest.approx(covariance[0, 0], rel=1e-7, abs=1e-9 * (1 + mean[0] ** 2))
        if variable.name not in evidence and deviation > 1e-6:
            x = float(mean[0] + 0.7 * deviation)
            assert marginal.cdf(x) == pytest.approx(oracle.cdf(variable.name, x), abs=1e-8)
            top = marginal.quantile(0.9)
            assert marginal.cdf(top + 1e-9 * deviation) > 0.9 - 1e-9
            assert marginal.cdf(top - 1e-6 * deviation) < 0.9


def test_many_rows_are_a_batch():
    """One target for many rows with the same columns observed, and for rows with holes in any of them."""
    model = published("sangiovese")
    names = [name for name in model.variables.names if name not in {"Treatment", "Brix"}]
    rows = jt.sample(model, 40, rng=0).to_pandas()[names]
    rows.iloc[30:, 3] = np.nan
    rows.iloc[35:, 7] = np.nan
    beliefs = jt.infer(model, rows, targets=["Brix", "Treatment"])
    for number in (0, 17, 32, 39):
        alone = jt.infer(model, rows.iloc[number].to_dict(), targets=["Brix", "Treatment"])
        assert beliefs.log_evidence[number] == pytest.approx(alone.log_evidence, rel=1e-12)
        assert beliefs["Brix"].mean[number] == pytest.approx(alone["Brix"].mean, rel=1e-12)
        assert beliefs["Brix"].quantile([0.05, 0.95])[number] == pytest.approx(alone["Brix"].quantile([0.05, 0.95]))
        assert beliefs["Treatment"].values[number] == pytest.approx(alone["Treatment"].values, abs=1e-12)
    assert jt.log_prob(model, rows) == pytest.approx(beliefs.log_evidence, rel=1e-12)


def test_the_marginal_is_the_mixture_and_not_a_gaussian_of_its_moments():
    """The emissions of dust have two modes far apart; draws agree with the distribution."""
    marginal = jt.infer(published("waste"), targets=["E"])["E"]
    gaussian = jt.Gaussian(marginal.mean, marginal.variance)
    assert marginal.log_prob(-2.0) < -1000 < gaussian.log_prob(-2.0)
    assert marginal.quantile(marginal.cdf(-3.2)) == pytest.approx(-3.2, abs=1e-9)
    draws = np.sort(marginal.sample(20_000, rng=0))
    steps = np.arange(1, len(draws) + 1) / len(draws)
    assert np.abs(marginal.cdf(draws) - steps).max() < 0.015  # Kolmogorov: 1.36 / sqrt(n) is 0.0096
    mixture = jt.infer(published("waste"), targets=["E"]).mixture("E")
    assert mixture.log_prob([-3.9, -0.5]) == pytest.approx(marginal.log_prob([-3.9, -0.5]))
