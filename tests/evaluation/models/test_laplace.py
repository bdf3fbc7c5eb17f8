"""Laplace's evidence against closed forms and quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.special import betaln

import juncture as jt
from juncture.supervised import GeneralizedLinearModel, LinearBasis

Candidate, compare = jt.evaluation.Candidate, jt.evaluation.compare_models


@pytest.mark.parametrize("number", [10, 100])
def test_a_hidden_markov_model_of_one_state_is_a_coin(number):
    """S0-344: in log-odds, around the mode, where the information is (n + 2α) p (1 - p)."""
    ones = 3 * number // 10
    symbols, alpha = [1] * ones + [0] * (number - ones), 1.5
    coin = jt.HiddenMarkovModel([1.0], [[1.0]], [[0.6, 0.4]])
    found = compare({"m": Candidate(coin, alpha)}, symbols, ["evidence"]).scores[0]
    mode = (ones + alpha) / (number + 2 * alpha)
    height = (ones + alpha) * math.log(mode) + (number - ones + alpha) * math.log(1 - mode) - betaln(alpha, alpha)
    wanted = height + 0.5 * math.log(2 * math.pi / ((number + 2 * alpha) * mode * (1 - mode)))
    assert found.score == pytest.approx(wanted, abs=1e-5)
    exact = betaln(ones + alpha, number - ones + alpha) - betaln(alpha, alpha)
    assert found.score == pytest.approx(exact, abs=1 / number)
    assert found.quality == "approximate"


def test_hidden_markov_models_without_laplace_say_why():
    left_to_right = jt.HiddenMarkovModel([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], [[0.6, 0.4], [0.2, 0.8]])
    found = compare({"m": Candidate(left_to_right, 1.0)}, [[0, 1, 1], [0, 0, 1]], ["evidence"]).scores[0]
    assert (found.quality, "zeros" in found.note) == ("undefined", True)


def test_a_poisson_regression_with_a_gaussian_prior():
    """One coefficient by quadrature: Laplace is close with forty rows, and leave-one-out of its draws is reliable."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 40)
    counts, basis = rng.poisson(np.exp(0.8 * x)), LinearBasis(intercept=False)
    prior = jt.MultivariateGaussian([0.0], [[1.0]])
    fitted = jt.fit(GeneralizedLinearModel, x, counts, basis=basis, family=jt.Poisson)
    found = compare({"m": Candidate(fitted, prior)}, (x, counts), ("evidence", "loo", "cv"), draws=400, rng=0)

    def height(weight):
        logs = GeneralizedLinearModel(jt.Poisson, [weight], basis=basis).predict(x).log_prob(counts)
        return math.exp(float(np.sum(logs)) + prior.log_prob([weight]) + 50)

    exact = math.log(integrate.quad(height, -3, 4, limit=100)[0]) - 50
    score = found.ranked("evidence")[0]
    assert score.score == pytest.approx(exact, abs=0.01)
    assert score.quality == "approximate"
    assert found.ranked("loo")[0].score == pytest.approx(found.ranked("cv")[0].score, abs=1.0)
    for wrong in (1.0, jt.MultivariateGaussian([0.0, 0.0], np.eye(2))):
        with pytest.raises(jt.errors.InvalidData, match="MultivariateGaussian"):
            compare({"m": Candidate(fitted, wrong)}, (x, counts), ["evidence"])
