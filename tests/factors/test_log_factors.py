"""Factors whose entries no double holds: the algebra in logarithms, equality, pickling, files, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair
from juncture.formats.uai import write_uai

A, B, C = jt.Variable("a", 2), jt.Variable("b", 3), jt.Variable("c", ["no", "yes"])
SEEDS = st.integers(0, 2**32 - 1)
WIDE = jt.Factor.from_logs([A, C], [[-2000.0, 1500.0], [-np.inf, 3.0]])


def near(logs):
    return pytest.approx(np.asarray(logs), rel=1e-13, abs=1e-11)


def random_logs(rng, *scope):
    shape = tuple(variable.num_states for variable in scope)
    logs = rng.uniform(-1, 1, shape) * rng.choice([1.0, 400.0, 2000.0])
    return np.where(rng.random(shape) < 0.15, -np.inf, logs)


def log_sum(logs):
    """log Σ exp, by the largest first."""
    top = max(logs)
    return top if top == -np.inf else top + math.log(math.fsum(math.exp(log - top) for log in logs))


def read_back(factor):
    (found,) = read_json(write_json(jt.MarkovNetwork([factor])).encode(), RowRepair()).factors
    return found


# --- what is kept ---------------------------------------------------------------------------------------------------


@given(SEEDS)
def test_logarithms_are_kept_where_doubles_do_not_reach(seed):
    logs = random_logs(np.random.default_rng(seed), A, B)
    factor = jt.Factor.from_logs([A, B], logs)
    finite = logs[np.isfinite(logs)]
    assert factor.holds_logs == bool(((finite < -708.4) | (finite > 709.7)).any())
    if factor.holds_logs:
        assert np.array_equal(factor.log_values, logs)
    else:
        assert factor == jt.Factor([A, B], np.exp(logs))
    assert not factor.log_values.flags.writeable
    for other in (pickle.loads(pickle.dumps(factor)), copy.deepcopy(factor), read_back(factor)):  # noqa: S301
        assert other == factor
        assert hash(other) == hash(factor)
        assert np.array_equal(other.log_values, factor.log_values)
        assert not other.log_values.flags.writeable


def test_equal_means_the_same_logarithms():
    again = jt.Factor.from_logs([A, C], WIDE.log_values)
    other = jt.Factor.from_logs([A, C], WIDE.log_values + np.array([[0, 1e-12], [0, 0]]))
    assert again == WIDE
    assert other != WIDE
    assert jt.Factor([A, C], [[0, 1], [0, 1]]) != WIDE
    assert len({WIDE, again, other}) == 2
    assert jt.MarkovNetwork([WIDE]) == jt.MarkovNetwork([again])
    assert jt.MarkovNetwork([WIDE]) != jt.MarkovNetwork([other])


def test_what_a_reader_sees():
    assert repr(WIDE) == "Factor(a, c; 2 × 2 of logarithms)"
    assert "natural logarithms" in WIDE._repr_html_()
    assert WIDE[1, "yes"] == pytest.approx(math.exp(3))
    assert WIDE[0, "no"] == 0  # below all doubles
    assert WIDE.total == math.inf
    with pytest.raises(
        jt.errors.InvalidModel, match=r"over \(a, c\) has an entry of the size exp\(1500\), which no double"
    ):
        WIDE[0, "yes"]
    for read in (lambda: WIDE.values, WIDE.to_pandas, lambda: WIDE.condition({"a": 0}).to_dict()):
        with pytest.raises(jt.errors.InvalidModel, match="log_values"):
            read()
    low = jt.Factor.from_logs([A], [-5000.0, -5001.0])
    assert low.values.tolist() == [0.0, 0.0]
    assert low.total == 0
    assert low.normalize().to_dict()[0] == pytest.approx(1 / (1 + math.exp(-1)))


def test_a_file_of_doubles_refuses_logarithms():
    with pytest.raises(jt.FormatError, match=r"the factor over \(a, c\) .* \.json"):
        write_uai(jt.MarkovNetwork([WIDE]))


@pytest.mark.parametrize(
    ("logs", "words"),
    [
        ([0.0, np.nan], r"not a finite number at \[1\]"),
        ([0.0, np.inf], r"not a finite number at \[1\]"),
        ([0.0, 1e16], r"logarithm 1e\+16 at \[1\]"),
        ([0, -(10**16)], r"logarithm -1e\+16 at \[1\]"),
        ([0.0], r"shape \(2,\)"),
        (["x", "y"], "table of numbers"),
        ([[0.0], [1.0, 2.0]], "table of numbers"),
    ],
)
def test_refused_logarithms(logs, words):
    with pytest.raises(jt.errors.InvalidModel, match=words):
        jt.Factor.from_logs([A], logs)


@pytest.mark.parametrize("cell", ["true", '"x"', "1e400", "[1]"])
def test_refused_logarithms_in_a_file(cell):
    text = write_json(jt.MarkovNetwork([WIDE])).replace("1500.0", cell)
    with pytest.raises(jt.FormatError, match=r"factors\[0\]\.log_values"):
        read_json(text.encode(), RowRepair())


# --- algebra --------------------------------------------------------------------------------------------------------


@given(SEEDS)
def test_products_and_quotients(seed):
    rng = np.random.default_rng(seed)
    one, other = random_logs(rng, A, B), random_logs(rng, B, C)
    first, second = jt.Factor.from_logs([A, B], one), jt.Factor.from_logs([B, C], other)
    product = first * second
    assert product.log_values == near(one[:, :, None] + other[None])
    positive = jt.Factor.from_logs([B, C], np.where(np.isneginf(other), 7.0, other))
    assert (first / positive).log_values == near(one[:, :, None] - positive.log_values[None])
    assert ((first * positive) / positive).log_values == near(np.broadcast_to(one[:, :, None], (2, 3, 2)))


@given(SEEDS)
def test_sums_maxima_and_normal_forms(seed):
    rng = np.random.default_rng(seed)
    logs = random_logs(rng, A, B, C)
    factor = jt.Factor.from_logs([A, B, C], logs)
    assert factor.sum_out("b").log_values == near([[log_sum(logs[a, :, c]) for c in range(2)] for a in range(2)])
    assert factor.marginal("c", "a").log_values == near(factor.sum_out("b").log_values.T)
    assert factor.max_out("a", "c").log_values == near(logs.max(axis=(0, 2)))
    assert factor.reorder("c", "a", "b").log_values == near(logs.transpose(2, 0, 1))
    if np.isfinite(logs).any():
        assert factor.normalize().log_values == near(logs - log_sum(logs.reshape(-1)))
        assert factor.normalize().total == pytest.approx(1)


@given(SEEDS)
def test_conditioning(seed):
    rng = np.random.default_rng(seed)
    logs = random_logs(rng, A, B)
    likelihood = 10.0 ** rng.uniform(-300, 300, 3)
    factor = jt.Factor.from_logs([A, B], logs)
    assert factor.condition({"b": 2}).log_values == near(logs[:, 2])
    assert factor.condition({"b": likelihood.tolist()}).log_values == near(logs + np.log(likelihood))


@pytest.mark.parametrize("values", [[1e-200, 3e-5], [1e200, 3e5], [5e-324, 1.0], [1.7e308, 1.7e308], [0.0, 1e-300]])
def test_doubles_that_leave_their_range_go_on_as_logarithms(values):
    factor = jt.Factor([A], values)
    logs = factor.log_values
    assert (factor * factor * factor).log_values == near(3 * logs)
    assert (factor / jt.Factor([A], [1e-300, 1e300])).log_values == near(logs - np.log([1e-300, 1e300]))
    assert factor.sum_out("a").log_values == near(log_sum(logs))
    assert factor.condition({"a": [1e-300, 1e300]}).log_values == near(logs + np.log([1e-300, 1e300]))
    assert factor.normalize().log_values == near(logs - log_sum(logs))


def test_moments_and_independence_of_what_no_double_holds():
    weights = jt.Factor.from_logs([jt.Variable("die", [1, 2, 3])], [3000.0, 3000.0, 3000.0 + math.log(2)])
    assert weights.expectation("die") == pytest.approx((1 + 2 + 6) / 4)
    pair = weights * jt.Factor.from_logs([A], [-9000.0, -9001.0])
    assert pair.is_independent("die", "a")
    diagonal = jt.Factor.from_logs([A, C], [[3000.0, -3000.0], [-np.inf, 3000.0]])
    assert not diagonal.is_independent("a", "c")


def test_canonical_potentials_of_a_wide_table():
    joint = jt.Factor.from_logs([A, C], [[0.0, -1500.0], [-900.0, 200.0]])
    model = jt.MarkovNetwork.from_joint(joint)
    expected = joint.normalize().log_values
    for codes in np.ndindex(2, 2):
        states = {"a": codes[0], "c": C.labels[codes[1]]}
        assert model.log_joint(states) == pytest.approx(expected[codes], rel=1e-12)
