"""Real-valued children: linear Gaussians, constants, and conditionals a user writes."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import AnyConditional
from juncture.variables import Scope

SEEDS = st.integers(0, 2**32)


def log_density(x, mean, covariance):
    """Log of the multivariate normal density, by NumPy."""
    difference = np.asarray(x) - mean
    _, log_determinant = np.linalg.slogdet(2 * np.pi * np.asarray(covariance))
    return -0.5 * (log_determinant + difference @ np.linalg.solve(covariance, difference))


@given(SEEDS)
def test_a_linear_gaussian_network_is_a_multivariate_gaussian(seed):
    """S1-048, S1-049, S4-204: x = W x + b + noise has mean (I - W)⁻¹ b and covariance (I - W)⁻¹ V (I - W)⁻ᵀ."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 6))
    variables = [jt.Variable(f"x{n}") for n in range(count)]
    weights = np.tril(rng.normal(size=(count, count)), -1) * (rng.random((count, count)) < 0.7)
    intercepts, variances = rng.normal(size=count), rng.random(count) + 0.1
    parts = []
    for place, child in enumerate(variables):
        parents = np.flatnonzero(weights[place])
        chosen = [variables[parent] for parent in parents]
        parts.append(
            jt.LinearGaussian(child, chosen, weights[place, parents], intercepts[place], float(variances[place]))
        )
    network = jt.BayesianNetwork(parts)
    inverse = np.linalg.inv(np.eye(count) - weights)
    for x in rng.normal(size=(3, count)):
        expected = log_density(x, inverse @ intercepts, inverse @ np.diag(variances) @ inverse.T)
        assert network.log_joint(dict(zip(network.variables.names, x, strict=True))) == pytest.approx(expected)


def test_parents_with_states_choose_the_numbers():
    k, x, y = jt.Variable("k", ["a", "b"]), jt.Variable("x"), jt.Variable("y")
    part = jt.LinearGaussian(y, [k, x], [[1.0], [-2.0]], [0.5, 3.0], [1.0, 4.0])
    assert part.num_parameters == 6
    rows = {"k": np.array([0, 1]), "x": np.array([2.0, 2.0]), "y": np.array([1.0, 1.0])}
    assert part.mean(rows, 2).tolist() == [2.5, -1.0]
    assert part.log_prob(rows) == pytest.approx(
        [log_density([1.0], [2.5], [[1.0]]), log_density([1.0], [-1.0], [[4.0]])]
    )


def test_no_parents_is_a_plain_gaussian_and_samples_have_its_moments():
    """S1-048: N(b, v); the sample's mean and variance within six standard errors."""
    part = jt.LinearGaussian(jt.Variable("y"), [], [], 1.5, 4.0)
    assert repr(part) == "LinearGaussian(y)"
    assert part.log_prob({"y": np.array([1.5])}) == pytest.approx([log_density([1.5], [1.5], [[4.0]])])
    drawn = part.sample({}, 20_000, np.random.default_rng(0))
    assert abs(drawn.mean() - 1.5) < 6 * 2 / np.sqrt(20_000)
    assert abs(drawn.var() - 4.0) < 6 * 4 * np.sqrt(2 / 20_000)


def test_constant():
    x, v = jt.Variable("x"), jt.Variable("v", dimension=2)
    scalar, vector = jt.results.Constant(x, 2.0), jt.results.Constant(v, [1.0, 2.0])
    assert scalar.log_prob({"x": np.array([2.0, 2.5])}).tolist() == [0.0, -np.inf]
    assert vector.log_prob({"v": np.array([[1.0, 2.0], [1.0, 2.5]])}).tolist() == [0.0, -np.inf]
    assert scalar.sample({}, 2, np.random.default_rng(0)).tolist() == [2.0, 2.0]
    assert vector.sample({}, 2, np.random.default_rng(0)).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert scalar.num_parameters == 0


class PairGaussian:
    """N(mean, covariance) over a vector of two: a conditional as a user would write it."""

    def __init__(self, child, mean, covariance):
        self.child, self.parents = child, Scope()
        self.mean, self.covariance = np.array(mean), np.array(covariance)
        self.num_parameters = 5

    def log_prob(self, columns):
        return np.array([log_density(x, self.mean, self.covariance) for x in columns[self.child.name]])

    def sample(self, columns, num_rows, rng):
        return rng.multivariate_normal(self.mean, self.covariance, size=num_rows)


@pytest.fixture
def pair_network():
    pair = PairGaussian(jt.Variable("pair", dimension=2), [1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]])
    k = jt.Variable("k", ["a", "b"])
    return jt.BayesianNetwork([pair, jt.Conditional(k, [], [0.25, 0.75])])


def test_a_vector_node_equals_two_scalar_nodes(pair_network):
    """S1-015: N([1, 2], [[2, 1], [1, 3]]) is y₁ ~ N(1, 2), y₂ | y₁ ~ N(2 + ½ (y₁ - 1), 3 - ½)."""
    first, second = jt.Variable("y1"), jt.Variable("y2")
    scalars = jt.BayesianNetwork(
        [
            jt.LinearGaussian(first, [], [], 1.0, 2.0),
            jt.LinearGaussian(second, [first], [0.5], 1.5, 2.5),
            pair_network["k"],
        ]
    )
    for x in np.random.default_rng(0).normal(size=(5, 2)):
        together = pair_network.log_joint({"pair": x, "k": "b"})
        assert together == pytest.approx(scalars.log_joint({"y1": x[0], "y2": x[1], "k": "b"}))


def test_a_conditional_a_user_wrote_sits_in_a_network(pair_network):
    """S4-204, S1-035: sampling and log-probabilities work; what needs a table says which conditional has none."""
    assert isinstance(pair_network["pair"], AnyConditional)
    rows = jt.sample(pair_network, 2000, rng=0)
    assert rows.columns["pair"].mean(axis=0) == pytest.approx([1.0, 2.0], abs=6 * np.sqrt(3 / 2000))
    assert jt.log_prob(pair_network, rows.take(slice(3))) == pytest.approx(
        [
            pair_network.log_joint({"pair": x, "k": label})
            for x, label in zip(rows.columns["pair"][:3], rows.labels("k")[:3], strict=True)
        ]
    )
    for question in (pair_network.to_markov_network, pair_network.to_factor_graph, lambda: jt.infer(pair_network)):
        with pytest.raises(Unsupported, match=r"PairGaussian.*pair"):
            question()


def test_a_vector_with_a_hole_is_no_full_assignment(pair_network):
    with pytest.raises(InvalidData, match="'pair' has none"):
        pair_network.log_joint({"pair": [1.0, np.nan], "k": "a"})


def test_kinds_of_unknown_parameters_cannot_be_tied():
    """Only parameters that can be compared can be said to be the same."""
    pairs = [PairGaussian(jt.Variable(name, dimension=2), [1.0, 2.0], np.eye(2)) for name in ("p", "q")]
    with pytest.raises(
        jt.errors.InvalidModel, match="tied conditionals must have the same parameters; those of p, q differ"
    ):
        jt.BayesianNetwork(pairs, tied=[["p", "q"]])


def test_a_line_shows_its_numbers_by_name():
    sex, x, y = jt.Variable("sex", ["f", "<m>"]), jt.Variable("height"), jt.Variable("weight")
    line = jt.LinearGaussian(y, [x, sex], [[0.5], [1.25]], [-80.0, -98.0], [4.0, 6.25])
    assert str(line).splitlines() == [
        "LinearGaussian(weight | height, sex)",
        "sex  intercept  height  standard deviation",
        "f          -80     0.5                   2",
        "<m>        -98    1.25                 2.5",
    ]
    found = line.to_dict()
    assert found["<m>"] == {
        "intercept": -98.0, "coefficients": {"height": 1.25}, "variance": 6.25, "standard_deviation": 2.5,
    }  # fmt: skip
    frame = line.to_pandas()
    assert frame.iloc[0].to_dict() == {"intercept": -80, "height": 0.5, "variance": 4, "standard_deviation": 2}
    root = ET.fromstring(f"<div>{line._repr_html_()}</div>")  # noqa: S314 - our own text
    assert [[cell.text for cell in row] for row in root.iter("tr")] == [
        ["sex", "intercept", "height", "standard deviation"],
        ["f", "-80", "0.5", "2"],
        ["<m>", "-98", "1.25", "2.5"],
    ]


def test_a_line_without_states_is_one_row():
    x, y = jt.Variable("x"), jt.Variable("y")
    line = jt.LinearGaussian(y, [x], [2.0], 1.0, 0.25)
    assert line.to_dict() == {
        "intercept": 1.0, "coefficients": {"x": 2.0}, "variance": 0.25, "standard_deviation": 0.5,
    }  # fmt: skip
    assert str(line).splitlines()[1:] == ["intercept  x  standard deviation", "        1  2                 0.5"]
    assert line.to_pandas().shape == (1, 4)
