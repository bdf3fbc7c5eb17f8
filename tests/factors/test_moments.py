"""Expectation, variance, covariance and the rules of probability on random joint tables."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel

X, Y, Z = jt.Variable("x", [-1, 0, 2.5]), jt.Variable("y", [0, 1]), jt.Variable("z", ["low", "mid", "high"])
SEEDS = st.integers(0, 2**32)
SCALARS = st.floats(-10, 10)


def random_joint(seed, scope=(X, Y), *, zeros=0.0):
    rng = np.random.default_rng(seed)
    shape = [variable.num_states for variable in scope]
    values = (rng.random(shape) + 1e-3) * (rng.random(shape) >= zeros)
    values.flat[rng.integers(values.size)] = 1.0
    return jt.Factor(scope, values / values.sum())


def expectation(joint, function):
    """Σ f(states) p(states), written out."""
    codes = np.ndindex(joint.values.shape)
    labels = [tuple(v.labels[c] for v, c in zip(joint.scope, place, strict=True)) for place in codes]
    return sum(joint[place] * function(*place) for place in labels)


@given(SEEDS, SCALARS, SCALARS)
def test_expectation_is_linear_also_for_dependent_variables(seed, first, second):
    """S2-043, S0-001: E[λx + λ'y] = λ E x + λ' E y."""
    joint = random_joint(seed)
    together = joint.expectation(lambda x, y: first * x + second * y)
    apart = first * joint.expectation("x") + second * joint.expectation("y")
    assert together == pytest.approx(apart, abs=1e-9)
    assert together == pytest.approx(expectation(joint, lambda x, y: first * x + second * y), abs=1e-9)


@given(SEEDS)
def test_variance_identities(seed):
    """S2-044: Var x = E[(x - μ)²] = E[x²] - E[x]²; S2-049: the marginal has the joint's moments."""
    joint = random_joint(seed)
    mean = joint.expectation("x")
    assert joint.variance("x") == pytest.approx(joint.expectation(lambda x, y: (x - mean) ** 2), abs=1e-12)
    assert joint.variance("x") == pytest.approx(joint.expectation(lambda x, y: x**2) - mean**2, abs=1e-12)
    assert joint.marginal("x").expectation("x") == pytest.approx(mean)
    assert joint.marginal("x").variance("x") == pytest.approx(joint.variance("x"))


@given(SEEDS, SCALARS)
def test_variance_rules(seed, scale):
    """S2-045: Var[λx] = λ² Var x; Var[x + y] exceeds the sum of variances by twice the covariance."""
    joint = random_joint(seed)
    assert joint.variance(lambda x, y: scale * x) == pytest.approx(scale**2 * joint.variance("x"), abs=1e-9)
    total = joint.variance(lambda x, y: x + y)
    assert total == pytest.approx(joint.variance("x") + joint.variance("y") + 2 * joint.covariance("x", "y"))
    independent = joint.marginal("x") * joint.marginal("y")
    assert independent.covariance("x", "y") == pytest.approx(0, abs=1e-12)
    assert independent.variance(lambda x, y: x + y) == pytest.approx(joint.variance("x") + joint.variance("y"))


@given(SEEDS)
def test_covariance_and_correlation(seed):
    """S2-049: σ_xy = Σ (x - μ_x)(y - μ_y) p; symmetric; |ρ| ≤ 1."""
    joint = random_joint(seed, zeros=0.4)
    mean_x, mean_y = joint.expectation("x"), joint.expectation("y")
    assert joint.covariance("x", "y") == pytest.approx(
        expectation(joint, lambda x, y: (x - mean_x) * (y - mean_y)), abs=1e-12
    )
    assert joint.covariance("x", "y") == joint.covariance("y", "x")
    assert joint.covariance("x", "x") == joint.variance("x") >= 0
    if np.count_nonzero(joint.marginal("x").values) > 1 and np.count_nonzero(joint.marginal("y").values) > 1:
        assert -1 <= joint.correlation("x", "y") <= 1


@given(SEEDS, st.floats(0.01, 10), SCALARS)
def test_correlation_is_one_for_a_straight_line(seed, slope, shift):
    """S2-049: ρ = ±1 for y = ax + b."""
    joint = random_joint(seed)
    assert joint.correlation("x", lambda x, y: slope * x + shift) == pytest.approx(1)
    assert joint.correlation("x", lambda x, y: -slope * x + shift) == pytest.approx(-1)


def test_binary_and_categorical_moments():
    """S2-046, S2-050: E = p, Var = p(1 - p), Cov of two one-hot entries = -p_i p_j."""
    coin = jt.Factor([Y], [0.7, 0.3])
    assert coin.expectation("y") == pytest.approx(0.3)
    assert coin.variance("y") == pytest.approx(0.21)
    die = jt.Factor([Z], [0.2, 0.3, 0.5])
    assert die.variance(lambda z: z == "mid") == pytest.approx(0.3 * 0.7)
    assert die.covariance(lambda z: z == "low", lambda z: z == "high") == pytest.approx(-0.2 * 0.5)


def test_binomial_as_a_sum_of_coins():
    """S2-047: n coins by enumeration have E = np and Var = np(1 - p)."""
    coins = [jt.Factor([jt.Variable(f"c{n}", 2)], [0.7, 0.3]) for n in range(5)]
    joint = coins[0] * coins[1] * coins[2] * coins[3] * coins[4]
    assert joint.expectation(lambda *heads: sum(heads)) == pytest.approx(5 * 0.3)
    assert joint.variance(lambda *heads: sum(heads)) == pytest.approx(5 * 0.3 * 0.7)


def test_the_table_need_not_be_normalised():
    assert jt.Factor([Y], [7, 3]).expectation("y") == pytest.approx(0.3)


def test_impossible_states_are_not_asked():
    """0 · log 0 = 0: the entropy of a table with zeros, and functions that fail where p = 0."""
    certain = jt.Factor([Y], [0, 1])
    assert certain.expectation(math.log) == 0.0
    joint = jt.Factor([X, Y], [[0.5, 0], [0, 0.25], [0, 0.25]])
    assert joint.expectation(lambda x, y: -math.log(joint[x, y])) == pytest.approx(1.5 * math.log(2))


def test_moments_refuse():
    joint = random_joint(1, (X, Z))
    with pytest.raises(InvalidModel, match="states of 'z' are not numbers"):
        joint.expectation("z")
    with pytest.raises(InvalidModel, match="one of these is constant"):
        joint.correlation("x", lambda x, z: 0.1)
    with pytest.raises(InvalidModel, match="not a finite number"):
        joint.expectation(lambda x, z: float("nan"))
    with pytest.raises(InvalidModel, match="table of numbers"):
        joint.expectation(lambda x, z: z)
    with pytest.raises(InvalidModel, match="zero everywhere"):
        jt.Factor([X], [0, 0, 0]).expectation("x")


# --- the rules of probability --------------------------------------------------------------------------------------


@given(SEEDS)
def test_chain_rule_in_any_order_gives_the_joint_back(seed):
    """S2-053: p(x, y, z) = p(x | y, z) p(y | z) p(z), for every order."""
    joint = random_joint(seed, (X, Y, Z), zeros=0.3)
    for first, second, third in permutations(["x", "y", "z"]):
        last, pair = joint.marginal(third), joint.marginal(second, third)
        product = (joint / pair) * (pair / last) * last
        assert product.reorder("x", "y", "z").values == pytest.approx(joint.values)
        assert first in (joint / pair).scope.names


@given(SEEDS)
def test_bayes_rule_and_its_conditional_form(seed):
    """S2-056: p(y | x) = p(x | y) p(y) / p(x), and the same given z; S2-052: conditioning slices and normalises."""
    joint = random_joint(seed, (X, Y, Z))
    pair, prior = joint.marginal("x", "y"), joint.marginal("y")
    likelihood = pair / prior
    evidence = (likelihood * prior).sum_out("y")
    assert evidence.values == pytest.approx(joint.marginal("x").values)
    posterior = likelihood * prior / evidence
    assert posterior.condition({"x": 2.5}).values == pytest.approx(pair.condition({"x": 2.5}).normalize().values)
    given_z = joint / joint.marginal("y", "z") * (joint.marginal("y", "z") / joint.marginal("z"))
    conditional_form = given_z / (joint.marginal("x", "z") / joint.marginal("z"))
    seen = {"x": -1, "z": "mid"}
    assert conditional_form.condition(seen).values == pytest.approx(joint.condition(seen).normalize().values)


@given(SEEDS)
def test_independence(seed):
    """S2-054: p(x, y) = p(x) p(y) exactly when p(x | y) = p(x)."""
    dependent = random_joint(seed)
    independent = dependent.marginal("x") * dependent.marginal("y")
    for joint, answer in ((independent, True), (dependent, False)):
        product = joint.marginal("x") * joint.marginal("y")
        given_y = joint / joint.marginal("y")
        assert np.allclose(joint.values, product.values, atol=1e-9) is answer
        assert np.allclose(given_y.values, joint.marginal("x").values[:, np.newaxis], atol=1e-9) is answer
