"""Problems of the lecture notes on choosing a model: errors on rows kept back, and how they change with the rows."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.evaluation import hold_out, root_mean_squared_error
from juncture.supervised import LinearRegression, PolynomialBasis
from support.learned import fit_classifier

NOISE = 0.3


def draw_sines(num_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.random(num_rows)
    return x, np.sin(2 * np.pi * x) + NOISE * rng.normal(size=num_rows)


def degree_errors(x: np.ndarray, t: np.ndarray, degrees: range, rng: int) -> tuple[np.ndarray, np.ndarray]:
    """The errors of polynomials of each degree on the rows they are learned from, and on others."""
    train, test = hold_out(len(x), (0.5, 0.5), rng=rng)
    found = []
    for degree in degrees:
        model = jt.fit(LinearRegression, x[train], t[train], basis=PolynomialBasis(degree)).model
        found.append([root_mean_squared_error(t[part], model.mean(x[part])) for part in (train, test)])
    return np.array(found)[:, 0], np.array(found)[:, 1]


@pytest.mark.parametrize("seed", range(5))
def test_rows_kept_back_choose_the_degree(seed):
    """S4-007, problem 2d: the error of training falls with the degree, the error of other rows is least at 3 to 8."""
    x, t = draw_sines(60, np.random.default_rng(seed))
    training, other = degree_errors(x, t, range(10), seed)
    assert (np.diff(training) <= 1e-9).all()
    assert 3 <= other.argmin() <= 8


def test_both_errors_meet_at_the_noise():
    """S4-009, problem 2f: with degree 7, errors of training rise to the noise, and errors of other rows fall to it."""
    rng = np.random.default_rng(0)

    def mean_errors(num_rows: int, num_draws: int) -> np.ndarray:
        draws = [degree_errors(*draw_sines(num_rows, rng), range(7, 8), seed) for seed in range(num_draws)]
        return np.mean(draws, axis=0)[:, 0]

    few, more, many = mean_errors(60, 60), mean_errors(600, 60), mean_errors(40_000, 1)
    assert few[0] < more[0] < NOISE < more[1] < few[1]
    np.testing.assert_allclose(many, NOISE, rtol=5 / np.sqrt(40_000))  # five standard errors of a deviation


def test_few_rows_want_few_features():
    """S4-037, problem 1.5: of features whose weights decrease, few rows choose the first two, many rows all five."""
    rng, weights = np.random.default_rng(0), np.array([1.0, 1.0, 0.2, 0.2, 0.2])

    def errors(num_rows: int, number: int) -> float:
        found = []
        for _ in range(100):
            x = rng.normal(size=(num_rows, 5))
            model = jt.fit(LinearRegression, x[:, :number], x @ weights + rng.normal(size=num_rows)).model
            miss = weights - np.append(model.coefficients[1:], np.zeros(5 - number))
            found.append(1 + miss @ miss + model.coefficients[0] ** 2)
        return float(np.mean(found))

    assert errors(9, 2) < errors(9, 5)
    assert errors(500, 5) < errors(500, 2)


def test_a_generative_classifier_is_bayes_rule():
    """S4-024, S2-215: the posterior of classes is their joint density over its sum; rows of a class can be drawn."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(2, 1, (30, 2))])
    model = fit_classifier("qda", x, np.repeat(["a", "b"], [50, 30])).model
    joint = np.exp(model.log_joint(x))
    np.testing.assert_allclose(model.predict_proba(x), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    drawn = jt.sample(model, 4000, given={"y": "b"}, rng=0)
    assert set(drawn.columns["y"]) == {1}
    rows = np.stack([drawn.columns[name] for name in model.inputs.names], axis=1)
    np.testing.assert_allclose(rows.mean(axis=0), x[50:].mean(axis=0), atol=5 * rows.std() / np.sqrt(4000))
