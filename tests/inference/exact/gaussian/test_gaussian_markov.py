"""Gaussian Markov networks: factors in canonical form against dense linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt


def random_field(seed: int) -> tuple[jt.MarkovNetwork, np.ndarray, np.ndarray, float]:
    """Factors over one to three variables whose sum is positive definite, though none need be."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    variables = [jt.Variable(f"x{node}") for node in range(size)]
    precision, loading, log_scale = np.zeros((size, size)), np.zeros(size), 0.0
    factors = []
    for _ in range(int(rng.integers(0, 2 * size))):
        nodes = rng.permutation(size)[: int(rng.integers(1, min(size, 3) + 1))]
        part = rng.normal(size=(len(nodes), len(nodes)))
        part = part + part.T
        pull, constant = rng.normal(size=len(nodes)), float(rng.normal())
        precision[np.ix_(nodes, nodes)] += part
        loading[nodes] += pull
        log_scale += constant
        factors.append(jt.GaussianFactor([variables[node] for node in nodes], pull, part, constant))
    extra = np.abs(precision).sum(axis=1) + rng.uniform(0.1, 2.0, size)
    precision += np.diag(extra)
    factors += [jt.GaussianFactor([variables[node]], [0.0], [[extra[node]]]) for node in range(size)]
    return jt.MarkovNetwork(factors, variables), precision, loading, log_scale


@given(st.integers(0, 2**32), st.data())
def test_answers_agree_with_dense_algebra(seed: int, data: Any):
    """S0-105, S0-217: the engine of tables with integrals for sums; marginals and conditionals in canonical form."""
    model, precision, loading, log_scale = random_field(seed)
    names = list(model.variables.names)
    seen = [node for node in range(len(names)) if data.draw(st.booleans())]
    free = [node for node in range(len(names)) if node not in seen]
    values = np.random.default_rng(seed).normal(size=len(seen))
    beliefs = jt.infer(model, {names[node]: value for node, value in zip(seen, values, strict=True)})
    inner, pull = precision[np.ix_(free, free)], loading[free] - precision[np.ix_(free, seen)] @ values
    covariance = np.linalg.inv(inner)
    mean = covariance @ pull
    for place, node in enumerate(free):
        assert beliefs[names[node]].mean == pytest.approx(mean[place], rel=1e-9, abs=1e-10)
        assert beliefs[names[node]].variance == pytest.approx(covariance[place, place], rel=1e-10)
    if len(free) > 1:
        joint = beliefs.joint(*(names[node] for node in free))
        assert joint.covariance == pytest.approx(covariance, rel=1e-9, abs=1e-12)
    known = log_scale + loading[seen] @ values - 0.5 * values @ precision[np.ix_(seen, seen)] @ values
    volume = 0.5 * (len(free) * np.log(2 * np.pi) - np.linalg.slogdet(inner)[1] + pull @ mean)
    assert beliefs.log_evidence == pytest.approx(known + volume, rel=1e-10, abs=1e-10)


def smooth_path(size: int) -> jt.MarkovNetwork:
    """A path of steps of unit variance, with a weak pull of each variable to 0."""
    variables = [jt.Variable(f"x{node}") for node in range(size)]
    steps = [jt.GaussianFactor(variables[n : n + 2], [0.0, 0.0], [[1.0, -1.0], [-1.0, 1.0]]) for n in range(size - 1)]
    return jt.MarkovNetwork([*steps, *(jt.GaussianFactor([v], [0.0], [[0.5]]) for v in variables)])


def test_verbs_take_gaussian_factors():
    model = smooth_path(4)
    whole = jt.infer(model).joint(*model.variables.names)
    row = {"x0": 1.0, "x1": 0.5, "x2": 0.0, "x3": -1.0}
    assert jt.log_prob(model, row) == pytest.approx(whole.log_prob(list(row.values())), rel=1e-12)
    assert jt.log_prob(model, {"x1": 2.0}) == pytest.approx(whole.marginal([1]).log_prob([2.0]), rel=1e-12)
    best = jt.most_probable(model, {"x0": 1.0})
    assert best.log_joint == pytest.approx(model.log_joint({"x0": 1.0, **best.assignment}), rel=1e-12)
    drawn = jt.sample(model, 20_000, given={"x0": 1.0}, rng=1).columns["x3"]
    posterior = jt.infer(model, {"x0": 1.0})["x3"]
    assert drawn.mean() == pytest.approx(posterior.mean, abs=0.03)
    assert drawn.var() == pytest.approx(posterior.variance, rel=0.05)
    assert model.to_factor_graph().to_markov_network() == model
    assert jt.cost(model).width == 1
    assert jt.compile(model, observed=["x0"]).run(model, {"x0": 1.0})["x3"] == posterior
    rows = jt.infer(model, [{"x0": 1.0}, {}])
    assert rows["x3"].mean[0] == pytest.approx(posterior.mean)


def test_a_network_and_its_precision_agree():
    x, y = jt.Variable("x"), jt.Variable("y")
    network = jt.BayesianNetwork([jt.LinearGaussian(x, [], [], 1.0, 2.0), jt.LinearGaussian(y, [x], [3.0], 0.5, 0.25)])
    canonical = jt.infer(network).joint("x", "y").to_canonical()
    field = jt.MarkovNetwork([jt.GaussianFactor([x, y], canonical.loading, canonical.precision, canonical.log_scale)])
    one, other = jt.infer(network, {"y": 4.0}), jt.infer(field, {"y": 4.0})
    assert other["x"].mean == pytest.approx(one["x"].mean)
    assert other["x"].variance == pytest.approx(one["x"].variance)
    assert other.log_evidence == pytest.approx(one.log_evidence)


def test_what_is_no_distribution_is_refused(tmp_path: Any):
    x, y, a = jt.Variable("x"), jt.Variable("y"), jt.Variable("a", 2)
    difference = jt.GaussianFactor([x, y], [0.0, 0.0], [[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(jt.errors.InvalidModel, match="not positive definite"):
        jt.infer(jt.MarkovNetwork([difference]))
    assert jt.infer(jt.MarkovNetwork([difference]), {"x": 2.0})["y"].mean == pytest.approx(2.0)
    with pytest.raises(jt.errors.InvalidModel, match="tables or Gaussian factors, not both"):
        jt.MarkovNetwork([difference, jt.Factor([a], [1, 2])])
    with pytest.raises(jt.errors.InvalidModel, match="has states"):
        jt.MarkovNetwork([difference], [a])
    with pytest.raises(jt.errors.InvalidModel, match="must be symmetric"):
        jt.GaussianFactor([x, y], [0, 0], [[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(jt.errors.InvalidModel, match="single real numbers"):
        jt.GaussianFactor([a], [0], [[1.0]])
    for method in ("junction-tree", "variable-elimination", "enumeration"):
        with pytest.raises(jt.errors.Unsupported, match=r"GaussianFactor\(x, y\) has no table"):
            jt.infer(jt.MarkovNetwork([difference]), method=method)
    jt.write(jt.MarkovNetwork([difference]), tmp_path / "field.json")
    assert jt.read(tmp_path / "field.json") == jt.MarkovNetwork([difference])
