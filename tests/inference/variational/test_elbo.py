"""The evidence lower bound in its forms, and the variational form of log Z on small models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import juncture as jt
from juncture.errors import InvalidData, TooLarge, Unsupported
from support.builders import random_evidence, random_network

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS)
def test_three_forms_and_the_gap(seed):
    """S4-155, S4-156, S0-070, S1-154, S4-240: equal forms below log p(x), with equality at the posterior."""
    rng = np.random.default_rng(seed)
    model = random_network(rng)
    evidence = random_evidence(model, rng)
    exact = jt.infer(model, evidence)
    at_posterior = jt.elbo(model, exact, evidence)
    assert at_posterior.gap == pytest.approx(0.0, abs=1e-12)
    assert at_posterior.value == pytest.approx(exact.log_evidence, abs=1e-11)
    hidden = [one for one in model.variables if not exact.findings.is_observed(one.name)[0]]
    q = {one.name: rng.dirichlet(np.ones(one.num_states)) for one in hidden}
    try:
        bound = jt.elbo(model, q, evidence)
    except InvalidData as error:
        assert "excludes" in str(error)  # noqa: PT017
        return
    assert len(bound.forms) == 3
    assert list(bound.forms.values()) == pytest.approx([bound.value] * 3, abs=1e-12 * (1 + abs(bound.value)))
    assert bound.value <= exact.log_evidence + 1e-12
    assert bound.gap == pytest.approx(exact.log_evidence - bound.value, abs=1e-11)
    assert bound.multi_sample(1) == pytest.approx(bound.value, abs=1e-11)


def two_components(theta=1.0, x=2.75):
    """Problem 5.2: z is 1 or 2, x given z = k is N(kθ, ½)."""
    model = jt.BayesianNetwork([jt.Conditional(jt.Variable("z", [1, 2]), [], [0.5, 0.5])])
    return model, {"z": [float(np.exp(jt.Gaussian(k * theta, 0.5).log_prob(x))) for k in (1, 2)]}


def test_numbers_of_the_two_component_example():
    """S4-156, S4-157: with θ = 1 and q uniform; the multi-sample bound rises towards log p(x)."""
    model, evidence = two_components()
    bound = jt.elbo(model, {"z": [0.5, 0.5]}, evidence)
    assert bound.log_evidence == pytest.approx(-1.7491223892, abs=1e-10)
    assert bound.value == pytest.approx(-2.3848649429, abs=1e-10)
    expected = {1: -2.384865, 2: -2.066994, 3: -1.939307, 5: -1.844830, 10: -1.789891}
    assert [bound.multi_sample(k) for k in expected] == pytest.approx(list(expected.values()), abs=1e-6)
    assert "gap=0.635743" in repr(bound)


def test_a_bound_from_draws():
    """S4-157 by draws: within five standard errors of the exact numbers."""
    _, evidence = two_components()

    def log_joint(z):
        return np.log(0.5 * np.array(evidence["z"]))[np.asarray(z, dtype=int)]

    found = jt.elbo(log_joint, jt.Categorical([0.5, 0.5]), draws=4000, rng=0)
    assert found.value == pytest.approx(-2.384865, abs=5 * found.standard_error)
    assert found.multi_sample(2) == pytest.approx(-2.066994, abs=0.1)
    assert found.log_evidence == pytest.approx(-1.749122, abs=0.1)
    tight = jt.elbo(lambda z: jt.Gaussian(1.0, 2.0).log_prob(z) + 3.0, jt.Gaussian(1.0, 2.0), rng=0)
    assert (tight.value, tight.standard_error) == (pytest.approx(3.0), pytest.approx(0.0, abs=1e-12))


def test_an_undirected_model_has_two_forms():
    a, b = jt.Variable("a", 2), jt.Variable("b", 3)
    model = jt.MarkovNetwork([jt.Factor([a, b], [[1, 2, 3], [3, 1, 1]])])
    bound = jt.elbo(model, jt.Factor([b, a], [[0.1, 0.2], [0.3, 0.1], [0.2, 0.1]]))
    assert len(bound.forms) == 2
    assert bound.value + bound.gap == pytest.approx(math.log(11), abs=1e-12)
    assert bound.prior_divergence is None


def test_what_elbo_refuses():
    model, evidence = two_components()
    with pytest.raises(InvalidData, match="nothing for 'z'"):
        jt.elbo(model, {}, evidence)
    with pytest.raises(InvalidData, match="'y', which is not one"):
        jt.elbo(model, {"z": [0.5, 0.5], "y": [1]}, evidence)
    with pytest.raises(InvalidData, match="one row"):
        jt.elbo(model, {"z": [0.5, 0.5]}, [{}, {}])
    with pytest.raises(InvalidData, match="over the unobserved variables z"):
        jt.elbo(model, jt.Factor([jt.Variable("y", 2)], [0.5, 0.5]), evidence)
    with pytest.raises(TooLarge, match="sets of 9000 draws"):
        jt.elbo(jt.example("asia"), jt.infer(jt.example("asia"))).multi_sample(9000)
    with pytest.raises(Unsupported, match="sample and log_prob"):
        jt.elbo(lambda z: z, 3)
    with pytest.raises(InvalidData, match="gives as many numbers"):
        jt.elbo(lambda z: 1.0, jt.Gaussian())
    impossible = jt.BayesianNetwork([jt.Conditional(jt.Variable("z", 2), [], [1.0, 0.0])])
    with pytest.raises(InvalidData, match="excludes"):
        jt.elbo(impossible, {"z": [0.5, 0.5]})


# --- the marginal polytope ---------------------------------------------------------------------------------------


def spins(edges, rng):
    """Random Ising models on some edges, the tables of all pairs free."""
    nodes = {name: jt.Variable(name, 2) for name in "abc"}
    return jt.MarkovNetwork([jt.Factor([nodes[i], nodes[j]], np.exp(rng.normal(size=(2, 2)))) for i, j in edges])


@given(seed=SEEDS)
def test_log_z_is_the_maximum_over_the_polytope(seed):
    """S0-310, S0-311: any q is below, the model's own moments are at log Z, and so is the maximum found by SciPy."""
    rng = np.random.default_rng(seed)
    model = spins(["ab", "bc", "ac"], rng)
    polytope, beliefs = jt.messages.marginal_polytope(model), jt.infer(model)
    own = polytope.moments(beliefs.joint("a", "b", "c"))
    assert polytope.log_partition == pytest.approx(beliefs.log_evidence, abs=1e-10)
    assert polytope.objective(own) == pytest.approx(beliefs.log_evidence, abs=1e-7)
    other = rng.dirichlet(np.ones(8))
    entropy = -np.sum(other * np.log(other))
    bound = polytope.parameters @ polytope.moments(other) + polytope.log_constant + entropy
    assert bound <= polytope.objective(polytope.moments(other)) + 1e-7  # H(μ) is the largest entropy
    assert polytope.objective(polytope.moments(other)) < beliefs.log_evidence + 1e-9


def test_on_a_tree_the_polytope_is_local_and_the_entropy_is_that_of_bethe():
    """S0-311: the maximum of θ·μ + H over pairwise consistent moments is log Z on a chain."""
    model = spins(["ab", "bc"], np.random.default_rng(1))
    polytope = jt.messages.marginal_polytope(model)
    assert [len(event) for event in polytope.events] == [1, 1, 1, 2, 2]
    faces, limits = polytope.inequalities
    assert len(faces) == 8  # P(both) ≥ 0, ≤ each, ≥ sum - 1, on both edges

    def tables(moments):
        a, b, c, ab, bc = moments
        return [np.array([[1 - x - y + xy, y - xy], [x - xy, xy]]) for x, y, xy in ((a, b, ab), (b, c, bc))]

    def bethe(moments):
        pairs = -sum(np.sum(t * np.log(np.maximum(t, 1e-12))) for t in tables(moments))
        middle = np.array([1 - moments[1], moments[1]])
        return pairs + np.sum(middle * np.log(np.maximum(middle, 1e-12)))

    def negative(moments):
        return -(polytope.parameters @ moments + polytope.log_constant + bethe(moments))

    inside = np.array([0.5, 0.5, 0.5, 0.25, 0.25])
    found = minimize(negative, inside, constraints={"type": "ineq", "fun": lambda m: limits - faces @ m - 1e-9})
    assert -found.fun == pytest.approx(jt.infer(model).log_evidence, abs=1e-6)
    assert polytope.entropy(found.x) == pytest.approx(bethe(found.x), abs=1e-5)


def test_on_a_triangle_local_consistency_is_not_enough():
    """S0-311: three variables that all differ pairwise; and a vertex, where the entropy is 0."""
    polytope = jt.messages.marginal_polytope(spins(["ab", "bc", "ac"], np.random.default_rng(0)))
    frustrated = np.array([0.5, 0.5, 0.5, 0.0, 0.0, 0.0])
    assert not polytope.contains(frustrated)
    assert polytope.contains(np.array([0.5, 0.5, 0.5, 0.25, 0.25, 0.25]))
    faces, limits = polytope.inequalities
    assert len(faces) == 16  # twelve local ones and the four of the triangle
    assert (faces @ frustrated > limits + 1e-9).any()
    assert (faces @ polytope.vertices.T <= limits[:, None] + 1e-9).all()
    assert polytope.entropy(polytope.vertices[5]) == pytest.approx(0.0, abs=1e-9)


def test_what_a_polytope_refuses():
    polytope = jt.messages.marginal_polytope(spins(["ab"], np.random.default_rng(0)))
    with pytest.raises(InvalidData, match="3 moments"):
        polytope.contains([0.5])
    big = jt.ising((4, 4), coupling=1.0, field=0.0)
    with pytest.raises(TooLarge, match="vertices"):
        jt.messages.marginal_polytope(big)
    with pytest.raises(TooLarge, match="faces"):
        _ = jt.messages.marginal_polytope(jt.ising((2, 4), coupling=1.0, field=0.0)).inequalities
    with pytest.raises(InvalidData, match="must be a FactorProduct"):
        jt.messages.marginal_polytope(jt.example("asia"))
