"""Rows of the sources about regression, classification and naive Bayes, as conditionals of a network."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import juncture as jt
from juncture.estimators import BayesianNetworkClassifier
from juncture.numerics.stable import log_sum_exp

LINE = jt.DirectedGraph([("x", "y")])


def test_three_points_and_a_line():
    """S0-029, S0-030, S0-032, S2-227, S2-228: X = [[1,0],[1,1],[1,2]], y = (1,2,2) give w = (7/6, 1/2)."""
    x, y = np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 2.0])
    fitted = jt.fit(LINE, {"x": x, "y": y}, variables=[jt.Variable("x"), jt.Variable("y")])
    part = fitted.model["y"]
    assert float(part.intercept) == pytest.approx(7 / 6)
    assert part.coefficients == pytest.approx([1 / 2])
    rest = y - 7 / 6 - x / 2
    assert (rest.sum(), rest @ x) == (pytest.approx(0.0, abs=1e-8), pytest.approx(0.0, abs=1e-8))
    variance = rest @ rest / 3
    assert float(part.variance) == pytest.approx(variance)
    log_likelihood = -1.5 * math.log(2 * math.pi * variance) - rest @ rest / (2 * variance)
    rows = {"x": x, "y": y}
    assert part.log_prob(rows).sum() == pytest.approx(log_likelihood)


TEN = np.array(  # Bishop's curve data
    [
        [0.000000, 0.349486],
        [0.111111, 0.830839],
        [0.222222, 1.007332],
        [0.333333, 0.971507],
        [0.444444, 0.133066],
        [0.555556, 0.166823],
        [0.666667, -0.848307],
        [0.777778, -0.445686],
        [0.888889, -0.563567],
        [1.000000, 0.261502],
    ]
)


@pytest.mark.parametrize(("degree", "weights"), [(1, [0.82, -1.27]), (3, [0.31, 7.99, -25.43, 17.37])])
def test_polynomials_through_ten_points(degree, weights):
    """S4-001, S4-002, S4-003: powers as columns; the printed coefficients, and 1/β is the mean squared error."""
    x, t = TEN.T
    names = [f"x{power}" for power in range(1, degree + 1)]
    rows = {"t": t, **{name: x**power for power, name in enumerate(names, 1)}}
    fitted = jt.fit(jt.DirectedGraph([(name, "t") for name in names]), rows)
    part = fitted.model["t"]
    assert [float(part.intercept), *part.coefficients] == pytest.approx(weights, abs=0.005)
    rest = t - np.polyval(np.polyfit(x, t, degree), x)
    assert float(part.variance) == pytest.approx(rest @ rest / 10, rel=1e-8)


def test_sigmoid():
    """S0-038, S4-104, S3-020: σ(-z) = 1 - σ(z), σ(0) = ½, no overflow at ±1000."""
    part = jt.Logistic(jt.Variable("y", 2), [jt.Variable("x")], [1.0], 0.0)
    z = np.array([-1000.0, -2.0, 0.0, 2.0, 1000.0])
    p = part.child_probabilities({"x": z}, 5)[:, 1]
    assert p == pytest.approx([0.0, 1 / (1 + math.exp(2)), 0.5, 1 / (1 + math.exp(-2)), 1.0])
    assert p + p[::-1] == pytest.approx(np.ones(5), abs=1e-15)


def test_logistic_regression():
    """S0-039, S0-040, S0-051, S0-270, S3-022, S3-023, S4-106: Xᵀ(y - η) = 0, and no weights do better."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = (rng.random(200) < 1 / (1 + np.exp(-0.5 - 1.5 * x))).astype(int)
    part = jt.fit(LINE, {"x": x, "y": y}).model["y"]
    eta = part.child_probabilities({"x": x}, 200)[:, 1]
    assert ((y - eta).sum(), (y - eta) @ x) == (pytest.approx(0.0, abs=1e-8), pytest.approx(0.0, abs=1e-8))
    best = part.log_prob({"x": x, "y": y}).sum()
    by_signs = -np.logaddexp(0, -(2 * y - 1) * (float(part.bias) + part.weights[0] * x)).sum()
    assert best == pytest.approx(by_signs)
    for step, shift in itertools.product((-0.1, 0.1), repeat=2):
        other = jt.Logistic(part.child, part.parents, [part.weights[0] + step], float(part.bias) + shift)
        assert other.log_prob({"x": x, "y": y}).sum() < best


def test_separable_data_have_no_estimate():
    """S0-051, S4-106."""
    with pytest.raises(jt.errors.InvalidData):
        jt.fit(LINE, {"x": [-2.5, -1.5, 1.5, 2.5], "y": [0, 0, 1, 1]})


def test_softmax_regression():
    """S0-052, S3-021, S0-374: rows sum to 1; adding the same weights to every class changes nothing."""
    x, y = jt.Variable("x"), jt.Variable("y", 3)
    weights, bias = np.array([[1.0], [0.5], [-2.0]]), np.array([0.1, 0.0, -0.3])
    values = {"x": np.array([-300.0, 0.2, 300.0])}
    first, second = (
        jt.Logistic(y, [x], weights + shift, bias + shift).child_probabilities(values, 3) for shift in (0.0, 5.0)
    )
    assert first.sum(axis=1) == pytest.approx(np.ones(3))
    assert first == pytest.approx(second)


def naive_bayes() -> jt.BayesianNetwork:
    """One word, π = (½, ½), μ = (0.2, 0.6)."""
    label, word = jt.Variable("y", 2), jt.Variable("w", 2)
    return jt.BayesianNetwork(
        [jt.Conditional(label, [], [0.5, 0.5]), jt.Conditional(word, [label], [[0.8, 0.2], [0.4, 0.6]])]
    )


def test_naive_bayes_by_hand():
    """S0-264, S2-185, S3-012, S3-013, S3-014, S0-369: (2/3, 1/3) without the word, (1/4, 3/4) with it."""
    model = naive_bayes()
    assert jt.infer(model, {"w": 0})["y"].values == pytest.approx([2 / 3, 1 / 3])
    assert jt.infer(model, {"w": 1})["y"].values == pytest.approx([1 / 4, 3 / 4])
    log_joint = [model.log_joint({"y": k, "w": 1}) for k in (0, 1)]
    assert log_joint == pytest.approx(np.log([0.1, 0.3]))
    assert log_joint[1] - log_sum_exp(np.array(log_joint)) == pytest.approx(math.log(3 / 4))


def test_naive_bayes_is_a_star():
    """S0-267, S0-269, S2-190, S3-011, S3-017: words independent given the class; K p + K - 1 parameters."""
    graph = jt.DirectedGraph([("y", f"w{i}") for i in range(10)])
    assert graph.is_separated({"w0"}, {"w1", "w9"}, given={"y"})
    assert not graph.is_separated({"w0"}, {"w1"})
    label = jt.Variable("y", 2)
    parts = [jt.Conditional(jt.Variable(f"w{i}", 2), [label], [[0.5, 0.5]] * 2) for i in range(10)]
    model = jt.BayesianNetwork([jt.Conditional(label, [], [0.5, 0.5]), *parts])
    assert model.num_parameters == 2 * 10 + 1
    assert model.variables.size - 1 == 2 * 1023 + 1


def test_naive_bayes_from_parts():
    """S0-366, S0-372, S2-189, S3-016: counts add, so that rows may come in parts; attributes may have many states."""
    graph = jt.DirectedGraph([("y", "a"), ("y", "b")])
    rng = np.random.default_rng(0)
    rows = {"y": rng.integers(0, 2, 60), "a": rng.integers(0, 3, 60), "b": rng.integers(0, 4, 60)}
    halves = [{name: column[part] for name, column in rows.items()} for part in (slice(30), slice(30, 60))]
    added = jt.statistics(graph, halves[0]) + jt.statistics(graph, halves[1])
    model, whole = jt.estimate(graph, added), jt.fit(graph, rows).model
    for name in rows:
        assert model[name].values == pytest.approx(whole[name].values)
    one = (rows["y"] == 1) & (rows["a"] == 2)
    assert whole["a"].values[1, 2] == pytest.approx(one.sum() / (rows["y"] == 1).sum())


def test_the_classifier_is_the_network():
    """S2-190, S3-008: rows sum to 1, and the class is asked of the network."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (50, 2)), rng.integers(0, 2, 50)  # noqa: N806
    classifier = BayesianNetworkClassifier().fit(X, y)
    found = classifier.predict_proba(X[:5])
    assert found.sum(axis=1) == pytest.approx(np.ones(5))
    names = classifier.model_.graph.nodes
    target = classifier.target_
    columns = [name for name in names if name != target]
    asked = jt.infer(classifier.model_, dict(zip(columns, X[0].tolist(), strict=True)))
    assert asked[target].values == pytest.approx(found[0])


def test_the_likelihood_of_a_network_is_a_sum_over_its_nodes():
    """S2-175: Σ rows log p(row) = Σ nodes log p(node | parents)."""
    model = naive_bayes()
    rows = {"y": [0, 1, 1, 0], "w": [1, 1, 0, 0]}
    columns = {name: np.array(column) for name, column in rows.items()}
    terms = [model[name].log_prob(columns).sum() for name in ("y", "w")]
    assert jt.log_prob(model, rows).sum() == pytest.approx(sum(terms))


def test_labels_on_a_part_of_the_rows():
    """S2-003, S2-004, S4-026, S2-182: counts if all have one; else EM, which rises."""
    graph = jt.DirectedGraph([("y", "a"), ("y", "b")])
    labelled = {"y": [0, 0, 1, 1, 0], "a": [0, 1, 1, 1, 0], "b": [0, 0, 1, 0, 0]}
    more = {"y": [*labelled["y"], None, None], "a": [*labelled["a"], 1, 0], "b": [*labelled["b"], 1, 0]}
    plain = jt.fit(graph, labelled)
    assert plain.model["y"].values == pytest.approx([3 / 5, 2 / 5])
    helped = jt.fit(graph, more)
    assert (np.diff(helped.trace.values) >= -1e-12).all()
    shares = np.array([jt.infer(helped.model, {"a": a, "b": a})["y"][1] for a in (1, 0)])
    assert helped.model["y"][1] == pytest.approx((2 + shares.sum()) / 7, abs=1e-4)


def test_a_tree_matches_the_empirical_pairs():
    """S0-240: of a tree, the empirical marginals of nodes and edges are those of the fitted model."""
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 100) for name in "abc"}
    model = jt.fit(jt.DirectedGraph([("a", "b"), ("b", "c")]), rows).model
    for pair in ("ab", "bc"):
        counts = np.zeros((2, 2))
        np.add.at(counts, (rows[pair[0]], rows[pair[1]]), 1)
        assert jt.infer(model).joint(*pair).values == pytest.approx(counts / 100)
