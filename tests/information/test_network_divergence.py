"""The divergence of two networks: that of their joint tables, or Gaussians, which are made here for few variables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, Unsupported
from juncture.factors.factor import product_of
from support.builders import random_network, random_rows

SEEDS = st.integers(0, 2**32)
kl = jt.information.kl_divergence
X, Y = jt.Variable("x"), jt.Variable("y")
S, T = jt.Variable("s", ["a", "b"]), jt.Variable("t", 3)


def parents_before(rng, names):
    """A random order of the names, and some of those before each."""
    order = [names[place] for place in rng.permutation(len(names))]
    return {name: [other for other in order[:place] if rng.random() < 0.5] for place, name in enumerate(order)}


def other_tables(rng, p, zeros):
    """A network over the same names, with another graph, and with the states in another order."""
    known = {v.name: jt.Variable(v.name, [v.labels[i] for i in rng.permutation(v.num_states)]) for v in p.variables}
    parts = []
    for name, parents in parents_before(rng, p.variables.names).items():
        scope = [known[parent] for parent in parents]
        shape = tuple(v.num_states for v in (*scope, known[name]))
        parts.append(jt.Conditional(known[name], scope, random_rows(rng, shape, zeros=zeros)))
    return jt.BayesianNetwork(parts)


def by_labels(network, scope):
    """The joint table of a network with the axes and states of a scope."""
    joint = product_of(network.factors).reorder(*scope.names)
    return joint.values[np.ix_(*([own.code(s) for s in v.labels] for own, v in zip(joint.scope, scope, strict=True)))]


@given(SEEDS)
def test_of_tables_it_is_that_of_the_joints(seed):
    """All kinds of conditionals, other graphs, zeros; infinite where the joints say so."""
    rng = np.random.default_rng(seed)
    p = random_network(rng, int(rng.integers(1, 5)))
    q = other_tables(rng, p, zeros=float(rng.choice([0.0, 0.15])))
    ours, theirs = (by_labels(each, p.variables).ravel() for each in (p, q))
    assert kl(p, q) == pytest.approx(kl(ours, theirs), rel=1e-9, abs=1e-12)
    assert kl(q, p) == pytest.approx(kl(theirs, ours), rel=1e-9, abs=1e-12)
    assert kl(p, p) == 0.0


def random_lines(rng, names, parents, switch=None):
    """Linear Gaussians along a graph; with a switch, other lines for each of its states."""
    known, parts = {name: jt.Variable(name) for name in names}, []
    for name, above in parents.items():
        scope = [known[parent] for parent in above]
        if switch is not None and rng.random() < 0.7:
            scope.insert(int(rng.integers(len(scope) + 1)), switch)
        shape = (switch.num_states,) if switch in scope else ()
        lines = rng.normal(size=(*shape, len(above))), rng.normal(size=shape), rng.uniform(0.2, 2.0, size=shape)
        parts.append(jt.LinearGaussian(known[name], scope, *lines))
    return parts


@given(SEEDS)
def test_of_linear_gaussians_it_is_that_of_the_joint_gaussians(seed):
    rng, names = np.random.default_rng(seed), ("x0", "x1", "x2", "x3")[: int(seed % 3) + 2]
    p, q = (jt.BayesianNetwork(random_lines(rng, names, parents_before(rng, names))) for _ in range(2))
    turned = jt.BayesianNetwork(random_lines(rng, names, {name: p.graph.parents(name)[::-1] for name in names}))
    for one, other in ((p, q), (p, turned)):
        joints = [jt.infer(each).joint(*names) for each in (one, other)]
        assert kl(one, other) == pytest.approx(joints[0].kl_divergence(joints[1]), rel=1e-8, abs=1e-11)


@given(SEEDS)
def test_of_mixed_networks_it_is_that_of_the_states_and_of_the_gaussians_given_them(seed):
    """KL(p(s)) + Σ p(s) KL(p(x | s)): the Gaussians are asked for one state after another."""
    rng, names = np.random.default_rng(seed), ("x0", "x1", "x2")
    kept = parents_before(rng, names)
    switches = [jt.Variable("t", labels) for labels in ([0, 1, 2], [2, 0, 1])]
    p, q = (
        jt.BayesianNetwork(
            [jt.Conditional(switch, [], rng.dirichlet(np.ones(3))), *random_lines(rng, names, parents, switch)]
        )
        for switch, parents in zip(switches, (kept, kept if seed % 2 else parents_before(rng, names)), strict=True)
    )
    total = kl([p["t"][t] for t in range(3)], [q["t"][t] for t in range(3)])
    for t in range(3):
        mixtures = (jt.infer(each, {"t": t}).joint(*names) for each in (p, q))  # of one Gaussian each
        joints = [jt.MultivariateGaussian(joint.mean, joint.covariance) for joint in mixtures]
        total += p["t"][t] * joints[0].kl_divergence(joints[1])
    assert kl(p, q) == pytest.approx(total, rel=1e-8, abs=1e-11)


def lines(slope, variance, intercept=0.0):
    start = jt.LinearGaussian(X, [], [], 0.5, 1.0)
    return jt.BayesianNetwork([start, jt.LinearGaussian(Y, [X], [slope], intercept, variance)])


def test_determined_variables_have_the_same_line_or_no_common_support():
    assert kl(lines(2.0, 0.0), lines(2.0, 0.0)) == 0.0
    assert kl(lines(2.0, 0.0), lines(2.5, 0.0)) == math.inf
    assert kl(lines(2.0, 0.0), lines(2.0, 0.0, 1.0)) == math.inf
    assert kl(lines(2.0, 0.0), lines(2.0, 1.0)) == kl(lines(2.0, 1.0), lines(2.0, 0.0)) == math.inf
    turned = jt.BayesianNetwork([jt.LinearGaussian(Y, [], []), jt.LinearGaussian(X, [Y], [0.5])])
    with pytest.raises(Unsupported, match="variance 0, and 'x' has other parents"):
        kl(lines(2.0, 0.0), turned)


def test_a_rare_configuration_without_weight_does_not_count():
    """p(s=b) = 0: there the lines may differ infinitely."""
    p, q = (
        jt.BayesianNetwork(
            [jt.Conditional(S, [], [1.0, 0.0]), jt.LinearGaussian(X, [S], np.zeros((2, 0)), [0.0, at], [1.0, 0.0])]
        )
        for at in (0.0, 5.0)
    )
    assert kl(p, q) == 0.0


def test_of_a_learned_network_it_falls_with_the_rows_as_half_the_parameters_over_them():
    """2 N KL is about χ² with as many degrees as free parameters: 100 samples of it, within four errors."""
    p = jt.BayesianNetwork.random("a -> b <- c; b -> d", states={"b": 3}, concentration=5.0, rng=0)
    found = [2 * 4000 * kl(p, jt.fit(p, jt.sample(p, 4000, rng=seed)).model) for seed in range(100)]
    assert abs(np.mean(found) - p.num_parameters) < 4 * np.sqrt(2 * p.num_parameters / 100)


def test_other_bases_and_what_follows():
    asia, other = jt.example("asia"), jt.BayesianNetwork.random(jt.example("asia").graph, rng=0, states=["yes", "no"])
    assert kl(asia, other, base=2) == pytest.approx(kl(asia, other) / math.log(2))
    assert kl(other, asia) == math.inf  # "either" is determined there
    assert jt.information.pinsker_bound(asia, asia) == 0.0


@pytest.mark.parametrize(
    ("q", "error", "message"),
    [
        (jt.example("cancer"), InvalidModel, "the second network has no variable 'smoke'.*did you mean 'Smoker'"),
        (jt.BayesianNetwork.random("smoke", rng=0), InvalidModel, "in the second network 'smoke' has no state 'yes'"),
        (jt.Factor([S], [0.5, 0.5]), InvalidModel, "compared with a BayesianNetwork; got Factor"),
        (
            jt.BayesianNetwork([jt.LinearGaussian(jt.Variable("smoke"), [], [])]),
            InvalidModel,
            "is a real number in one",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(q, error, message):
    smoke = jt.example("asia")["smoke"]
    with pytest.raises(error, match=message):
        kl(jt.BayesianNetwork([smoke]), q)
