"""Entropies of arrays, named tables and families, as laws over random tables and against printed numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from juncture.errors import InvalidData, InvalidModel, UnknownVariable
from juncture.factors.factor import Factor
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.uniform import Uniform
from juncture.information.atoms import empirical
from juncture.information.density import Density
from juncture.information.divergences import kl_divergence
from juncture.information.entropies import (
    conditional_entropy,
    cross_entropy,
    entropy,
    mutual_information,
    perplexity,
    self_information,
    total_correlation,
)
from juncture.variables import Variable
from support.family_examples import MEMBERS, over

A, B, C = Variable("a", 2), Variable("b", 3), Variable("c", ["no", "yes"])
CONTINUOUS = [m for m in MEMBERS if not m.event_shape and not m.support.is_discrete and hasattr(m.support, "low")]


@st.composite
def joints(draw):
    """Tables over three variables, many entries 0."""
    seed, sparsity = draw(st.integers(0, 10_000)), draw(st.sampled_from([0.0, 0.3, 0.7]))
    rng = np.random.default_rng(seed)
    values = rng.exponential(size=(2, 3, 2)) * (rng.random((2, 3, 2)) >= sparsity)
    values[0, 0, 0] += 0.1
    return Factor([A, B, C], values / values.sum())


def xor():
    """Two fair coins and their sum modulo 2."""
    values = np.zeros((2, 2, 2))
    for x, y in np.ndindex(2, 2):
        values[x, y, x ^ y] = 0.25
    return Factor([Variable(name, 2) for name in "xyz"], values)


def test_self_information_is_the_length_of_the_best_code():
    """S0-153, S2-072."""
    assert self_information(1.0) == 0.0
    assert self_information(1 / 8, base=2) == pytest.approx(3.0)
    assert self_information([0.0, 0.5])[0] == np.inf


@pytest.mark.parametrize("num_states", [1, 2, 7])
def test_entropy_runs_from_certain_to_uniform(num_states):
    """S0-154, S0-156, S2-073, S4-078."""
    uniform = np.full(num_states, 1 / num_states)
    assert entropy(uniform) == pytest.approx(np.log(num_states), abs=1e-15)
    assert entropy(np.eye(num_states)[0]) == 0.0
    assert perplexity(uniform) == pytest.approx(num_states)


@given(joints())
def test_entropy_is_the_gap_to_the_uniform(joint):
    """S0-156, S4-078: H = log(number of states) - KL(p ‖ uniform), and SciPy says the same."""
    uniform = Factor(joint.scope, np.full(joint.values.shape, 1 / joint.values.size))
    assert entropy(joint) == pytest.approx(np.log(joint.values.size) - kl_divergence(joint, uniform), abs=1e-12)
    assert entropy(joint, base=2) == pytest.approx(stats.entropy(joint.values.ravel(), base=2), abs=1e-12)
    assert 0 <= entropy(joint) <= np.log(joint.values.size) + 1e-12


@given(joints(), joints())
def test_cross_entropy_is_entropy_and_divergence(p, q):
    """S0-157, S2-074, S2-075, S4-029; infinite together."""
    assert cross_entropy(p, q) == pytest.approx(entropy(p) + kl_divergence(p, q), abs=1e-12)
    assert cross_entropy(p, p) == pytest.approx(entropy(p), abs=1e-12)


@given(joints())
def test_the_chain_rule(joint):
    """S2-076: H(b | a) = Σ p(a) H(b | a=…), and conditioning never adds entropy."""
    rows = joint.marginal("a", "b").values
    by_hand = sum(row.sum() * stats.entropy(row) for row in rows if row.sum() > 0)
    assert conditional_entropy(joint, "b", "a") == pytest.approx(by_hand, abs=1e-12)
    assert conditional_entropy(joint, "b", "a") <= entropy(joint, of="b") + 1e-12
    assert conditional_entropy(joint, ["a", "b"], "a") == pytest.approx(by_hand, abs=1e-12)
    assert entropy(joint) == pytest.approx(entropy(joint, of=["a", "c"]) + conditional_entropy(joint, "b", ["a", "c"]))


@given(joints())
def test_mutual_information_is_the_divergence_from_independence(joint):
    """S0-158, S2-077: symmetric, KL(p(a,b) ‖ p(a) p(b)), the loss of entropy; conditionally the mean over c."""
    pair, apart = joint.marginal("a", "b"), joint.marginal("a") * joint.marginal("b")
    found = mutual_information(joint, "a", "b")
    assert found == pytest.approx(kl_divergence(pair, apart), abs=1e-12)
    assert found == pytest.approx(mutual_information(joint, B, [A]), abs=1e-15)
    assert found == pytest.approx(entropy(joint, of="a") - conditional_entropy(joint, "a", "b"), abs=1e-12)
    assert mutual_information(joint, "a", "a") == pytest.approx(entropy(joint, of="a"), abs=1e-12)
    slices = [joint.condition({"c": state}) for state in C.states]
    by_hand = sum(part.total * mutual_information(part.normalize(), "a", "b") for part in slices if part.total > 0)
    assert mutual_information(joint, "a", "b", given="c") == pytest.approx(by_hand, abs=1e-12)


def test_mutual_information_of_a_copied_coin_and_of_a_product():
    """S0-158."""
    copied = Factor([A, C], [[0.5, 0.0], [0.0, 0.5]])
    assert mutual_information(copied, "a", "c") == pytest.approx(np.log(2))
    product = Factor([A], [0.3, 0.7]) * Factor([B], [0.2, 0.2, 0.6])
    assert mutual_information(product, "a", "b") == pytest.approx(0.0, abs=1e-15)


def test_pairwise_independence_is_not_independence():
    """S0-103, a7: the XOR of two fair coins."""
    joint = xor()
    assert mutual_information(joint, "x", "y") == pytest.approx(0.0, abs=1e-15)
    assert mutual_information(joint, "x", "z") == pytest.approx(0.0, abs=1e-15)
    assert mutual_information(joint, "x", "y", given="z") == pytest.approx(np.log(2))
    assert entropy(joint) == pytest.approx(1.386294, abs=1e-6)
    assert total_correlation(joint) == pytest.approx(0.693147, abs=1e-6)
    assert total_correlation(joint, base=2) == pytest.approx(1.0)


@given(joints())
def test_total_correlation_adds_up_by_the_chain(joint):
    chained = mutual_information(joint, "a", "b") + mutual_information(joint, ["a", "b"], "c")
    assert total_correlation(joint) == pytest.approx(chained, abs=1e-12)


def test_uncorrelated_is_not_independent():
    """S0-159: a point on a circle. Cov(X, Y) = 0, and E X²Y² = 1/8 is not E X² E Y² = 1/4."""
    angle = Density(lambda x: np.zeros(x.shape), 0.0, 1.0)
    turn = 2 * np.pi

    def mean(function):
        return angle.expectation(lambda x: function(np.sin(turn * x), np.cos(turn * x)))

    assert mean(lambda x, y: x * y) == pytest.approx(0.0, abs=1e-12)
    assert mean(lambda x, y: x**2 * y**2) == pytest.approx(1 / 8)
    assert mean(lambda x, y: x**2) * mean(lambda x, y: y**2) == pytest.approx(1 / 4)


def test_differential_entropy():
    """S4-079, S0-169: it may be negative, and a change of units shifts it by log |scale|."""
    assert entropy(Uniform(0.0, 0.5)) == pytest.approx(-np.log(2))
    assert entropy(Gaussian(0.0, 0.01)) == pytest.approx(-0.883647, abs=1e-6)
    assert entropy(Gaussian(0.0, 0.241971**2)) == pytest.approx(0.0, abs=1e-5)
    assert entropy(Gaussian(0.0, 9.0)) == pytest.approx(entropy(Gaussian(0.0, 1.0)) + np.log(3))


@over([member for member in CONTINUOUS if np.isfinite(member.entropy())])
def test_quadrature_finds_the_entropy_of_every_continuous_family(member):
    known = Density.mixture([1.0], [member])
    assert entropy(known) == pytest.approx(member.entropy(), rel=1e-6, abs=1e-6)


def test_rows_of_an_array_are_a_batch():
    assert entropy([[0.5, 0.5], [1.0, 0.0]], base=2) == pytest.approx([1.0, 0.0])
    assert cross_entropy([0.5, 0.5], [[0.5, 0.5], [1.0, 0.0]]) == pytest.approx([np.log(2), np.inf])


def test_log_loss_is_the_cross_entropy_of_the_data():
    """S4-030."""
    data, model = [0.3, -1.0, 0.3, 2.0], Gaussian(0.5, 2.0)
    assert cross_entropy(empirical(data), model) == pytest.approx(-np.mean(model.log_prob(data)))


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: entropy([0.5, 0.6]), InvalidModel, "sums to 1.1"),
        (lambda: entropy([0.5, -0.5, 1.0]), InvalidModel, "negative"),
        (lambda: entropy(0.5), InvalidData, "at least one probability"),
        (lambda: entropy("often"), InvalidData, "array of probabilities"),
        (lambda: entropy(Factor([A], [1.0, 1.0])), InvalidModel, "normalize"),
        (lambda: entropy([1.0], base=1), InvalidData, "base"),
        (lambda: entropy([0.5, 0.5], of="a"), InvalidData, "Factor"),
        (lambda: self_information(1.5), InvalidData, "from 0 to 1"),
        (lambda: mutual_information(xor(), "x", "w"), UnknownVariable, "'w'"),
        (lambda: cross_entropy([0.5, 0.5], [1.0]), InvalidData, "2 and 1 states"),
        (lambda: cross_entropy(Factor([A], [0.5, 0.5]), [0.5, 0.5]), InvalidData, "with an array"),
        (lambda: cross_entropy(Gaussian(0, 1), [0.5, 0.5]), InvalidData, "compared"),
    ],
)
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
