"""Maximum entropy under moments: closed forms, a general optimiser, exponential families, margins of tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import entr

from juncture.errors import InvalidData, InvalidModel
from juncture.factors.factor import Factor
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.uniform import Uniform
from juncture.families.continuous.von_mises import VonMises
from juncture.families.discrete.binomial import Binomial
from juncture.information.density import Density
from juncture.information.divergences import kl_divergence
from juncture.information.entropies import entropy, mutual_information
from juncture.information.maximum_entropy import max_entropy
from juncture.information.maximum_entropy_density import max_entropy_density
from juncture.information.maximum_entropy_table import max_entropy_table
from juncture.variables import Variable

DIE = range(1, 7)
A, B, C = Variable("a", 2), Variable("b", 3), Variable("c", 2)


def itself(x):
    return x


def square(x):
    return x**2


# -- finite


def test_kangaroos():
    """S0-164: 3/4 of them are left-handed, 2/3 drink beer; nothing else is known."""
    animals = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    found = max_entropy(animals, animals, [3 / 4, 2 / 3])
    assert found.probabilities == pytest.approx([1 / 2, 1 / 4, 1 / 6, 1 / 12])
    assert found.entropy == pytest.approx(1.198849, abs=1e-6)


def test_mean_two_on_one_to_ten():
    """S0-165: p_k ∝ r^k."""
    found = max_entropy(range(1, 11), itself, 2.0)
    assert found.multipliers == pytest.approx([-0.6880427441], abs=1e-10)
    assert np.exp(found.multipliers) == pytest.approx([0.5025587431], abs=1e-10)
    assert found.entropy == pytest.approx(1.3852923170, abs=1e-10)
    assert found.log_partition == pytest.approx(0.0092068288, abs=1e-10)
    assert found.probabilities[[0, 4, 9]] == pytest.approx([0.497953, 0.031764, 0.001018], abs=1e-6)


def test_the_die_against_a_general_optimiser():
    """S4-053: mean 4.5, by SciPy's SLSQP on the probabilities themselves."""
    found, faces = max_entropy(DIE, itself, 4.5), np.arange(1, 7)
    constraints = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: p @ faces - 4.5},
    ]
    judged = minimize(
        lambda p: -entr(p).sum(), np.full(6, 1 / 6), bounds=[(1e-9, 1)] * 6, constraints=constraints,
        method="SLSQP", options={"ftol": 1e-14},
    )  # fmt: skip
    assert found.probabilities == pytest.approx(judged.x, abs=1e-6)
    assert found.entropy >= -judged.fun - 1e-9


@given(st.integers(0, 9999), st.integers(2, 8), st.integers(1, 3))
def test_strong_duality_and_the_largest_entropy(seed, num_points, num_features):
    """S0-163, S0-199, S4-053: no gap; H(p) - H(q) = KL(q ‖ p) for any other q with these moments."""
    rng = np.random.default_rng(seed)
    features, other = rng.normal(size=(num_points, num_features)), rng.dirichlet(np.ones(num_points))
    moments = other @ features
    found = max_entropy(np.arange(num_points), features, moments)
    assert found.moments == pytest.approx(moments, abs=1e-7)
    assert found.duality_gap == pytest.approx(0.0, abs=1e-7)
    assert found.log_partition - found.multipliers @ moments == pytest.approx(found.entropy, abs=1e-7)
    assert found.entropy - entropy(other) == pytest.approx(kl_divergence(other, found.probabilities), abs=1e-6)


@given(st.integers(0, 9999))
def test_points_without_mass_are_found(seed):
    """S0-199: moments on a face of what is possible leave the points off it without mass."""
    rng = np.random.default_rng(seed)
    features = np.c_[rng.normal(size=6), rng.random(6)]
    features[:3, 1] = 0.0  # E of the second feature is 0: only the first three points can have mass
    shares = rng.dirichlet(np.ones(3))
    found = max_entropy(np.arange(6), features, [shares @ features[:3, 0], 0.0])
    assert (found.probabilities[3:] == 0).all()
    assert found.moments == pytest.approx([shares @ features[:3, 0], 0.0], abs=1e-7)
    assert found.duality_gap == pytest.approx(0.0, abs=1e-7)


def test_extreme_moments():
    assert max_entropy(DIE, itself, 6.0).probabilities == pytest.approx(np.eye(6)[5], abs=1e-12)
    assert max_entropy(DIE, [itself, square], [3.5, 12.5]).probabilities == pytest.approx([0, 0, 0.5, 0.5, 0, 0])
    assert max_entropy(DIE, itself, 1.0001).entropy == pytest.approx(0.0, abs=2e-3)


def test_features_that_depend_on_each_other():
    constant = np.c_[np.arange(1, 7), np.ones(6), 2 * np.arange(1, 7)]
    assert max_entropy(DIE, constant, [4.5, 1.0, 9.0]).probabilities == pytest.approx(
        max_entropy(DIE, itself, 4.5).probabilities
    )


def test_counting_states_makes_it_binomial():
    """S4-053: the mean of the number of ones among n free coins."""
    coins = np.array(list(np.ndindex(2, 2, 2, 2)))
    counts = coins.sum(axis=1)
    found = max_entropy(coins, counts, 1.2)
    by_count = np.bincount(counts, weights=found.probabilities)
    assert by_count == pytest.approx(Binomial(4, 0.3).prob(np.arange(5)))


# -- continuous


@pytest.mark.parametrize(
    ("features", "interval", "member"),
    [
        ([itself, square], (-np.inf, np.inf), Gaussian(0.0, 1.0)),
        ([itself, square], (-np.inf, np.inf), Gaussian(3.0, 1e-4)),
        ([itself, square], (-np.inf, np.inf), Gaussian(-100.0, 25.0)),
        ([itself], (0.0, np.inf), Exponential(0.4)),
        ([itself, np.log], (0.0, np.inf), Gamma(2.5, 0.7)),
        ([np.log, lambda x: np.log1p(-x)], (0.0, 1.0), Beta(2.0, 5.0)),
        ([np.abs], (-np.inf, np.inf), Laplace(0.0, 1.5)),
        ([np.cos, np.sin], (-np.pi, np.pi), VonMises(0.0, 2.0)),
        ([], (2.0, 5.0), Uniform(2.0, 5.0)),
    ],
)
def test_the_exponential_family_with_these_moments(features, interval, member):
    """S0-166, S0-167, S4-053: E u of a member gives the member back, with its entropy and no duality gap."""
    known = Density.mixture([1.0], [member])
    moments = [known.expectation(feature) for feature in features]
    found = max_entropy_density(features, moments, *interval)
    points = np.asarray(member.quantile(np.array([0.05, 0.5, 0.95])))
    assert found.distribution.log_prob(points) == pytest.approx(member.log_prob(points), abs=1e-6)
    assert found.entropy == pytest.approx(member.entropy(), abs=1e-7)
    assert found.duality_gap == pytest.approx(0.0, abs=1e-9)


def test_other_densities_with_the_same_variance_have_less_entropy():
    """S0-166."""
    best = max_entropy_density([itself, square], [0.0, 1.0]).entropy
    assert best == pytest.approx(0.5 * np.log(2 * np.pi * np.e))
    assert best > entropy(Laplace(0.0, np.sqrt(0.5)))
    assert best > entropy(Uniform(-np.sqrt(3), np.sqrt(3)))


def test_von_mises_has_more_entropy_than_the_wrapped_normal():
    """S0-167, with the same mean resultant length."""
    angle = VonMises(0.0, 2.0)
    length = Density.mixture([1.0], [angle]).expectation(np.cos)
    turns = [Gaussian(2 * np.pi * turn, -2 * np.log(length)) for turn in range(-5, 6)]
    wrapped = Density(lambda x: np.log(sum(normal.prob(x) for normal in turns)), -np.pi, np.pi)
    assert entropy(angle) == pytest.approx(1.266321, abs=1e-6)
    assert entropy(wrapped) == pytest.approx(1.253867, abs=1e-6)
    assert max_entropy_density([np.cos, np.sin], [length, 0.0], -np.pi, np.pi).entropy == pytest.approx(entropy(angle))


def test_a_fourth_moment_makes_two_humps():
    found = max_entropy_density([itself, square, lambda x: x**4], [0.0, 1.0, 1.5])
    assert found.moments == pytest.approx([0.0, 1.0, 1.5], abs=1e-8)
    assert found.distribution.log_prob(1.0) > found.distribution.log_prob(0.0)


# -- margins


def test_single_margins_give_independence():
    """S0-168."""
    a, b = Factor([A], [0.25, 0.75]), Factor([B], [0.2, 0.3, 0.5])
    table = max_entropy_table([a, b])
    assert table.values == pytest.approx((a * b).values)


def test_pairwise_margins_are_reproduced_with_the_largest_entropy():
    """S0-168: against the dual, whose features are the indicators of the margins."""
    joint = Factor([A, B, C], np.random.default_rng(0).dirichlet(np.ones(12)).reshape(2, 3, 2))
    margins = [joint.marginal("a", "b"), joint.marginal("b", "c"), joint.marginal("c", "a")]
    table = max_entropy_table(margins)
    for margin in margins:
        assert table.marginal(*margin.scope.names).values == pytest.approx(margin.values, abs=1e-10)
    cells = np.array(list(np.ndindex(2, 3, 2)))
    axes = {"a": 0, "b": 1, "c": 2}
    features = np.stack(
        [(cells[:, [axes[name] for name in margin.scope.names]] == cell).all(axis=1)
         for margin in margins for cell in np.ndindex(margin.values.shape)], axis=1,
    )  # fmt: skip
    moments = np.concatenate([margin.values.ravel() for margin in margins])
    assert table.values.ravel() == pytest.approx(max_entropy(cells, features, moments).probabilities, abs=1e-7)
    assert entropy(table) >= entropy(joint)


def test_a_chain_of_margins_is_conditionally_independent():
    joint = Factor([A, B, C], np.random.default_rng(1).dirichlet(np.ones(12)).reshape(2, 3, 2))
    table = max_entropy_table([joint.marginal("a", "b"), joint.marginal("b", "c")])
    assert mutual_information(table, "a", "c", given="b") == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: max_entropy(DIE, itself, 7.0), InvalidData, "moment 0 is impossible"),
        (lambda: max_entropy(DIE, [itself, square], [3.5, 12.0]), InvalidData, r"misses moment 1 \(12\)"),
        (lambda: max_entropy(DIE, itself, [1.0, 2.0]), InvalidData, "one finite moment per feature"),
        (lambda: max_entropy(DIE, np.ones((3, 2)), [1.0, 2.0]), InvalidData, "one row"),
        (lambda: max_entropy_density(itself, 3.0, 0.0, 1.0), InvalidData, "moment 0 is impossible"),
        (lambda: max_entropy_density([itself, square], [0.5, 0.2]), InvalidData, "moment 1, 0.2"),
        (lambda: max_entropy_density(square, -1.0), InvalidData, "moment 0 is impossible"),
        (lambda: max_entropy_density(itself, 0.0), InvalidData, "without end"),
        (lambda: max_entropy_table([]), InvalidData, "at least one margin"),
        (lambda: max_entropy_table([Factor([A], [0.5, 0.6])]), InvalidModel, "normalize"),
        (lambda: max_entropy_table([Factor([A], [0.5, 0.5]), Factor([A, C], [[0.5, 0.2], [0.2, 0.1]])]),
         InvalidData, "contradicts"),
    ],
)  # fmt: skip
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
