"""`MiniBucket`: its bracket holds, closes as the bound grows, and is exact at the width."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.bounded.weighted_mini_buckets import power_sum
from support.builders import dense_field, random_evidence, random_network

SEEDS = st.integers(0, 2**32 - 1)
ROUNDING = 1e-9  # of sums of some hundred terms, each of an error of 1e-13 at most


def check_bracket(model, evidence, bound, max_steps=30):
    """The bracket holds the exact log-evidence; beliefs are distributions, the exact ones if the engine says so."""
    engine = jt.MiniBucket(bound, max_steps=max_steps)
    try:
        exact = jt.infer(model, evidence)
    except jt.ImpossibleEvidence:
        return None
    beliefs = jt.infer(model, evidence, method=engine)
    found = beliefs.diagnostics
    assert found.lower - ROUNDING <= exact.log_evidence <= found.upper + ROUNDING
    assert beliefs.log_evidence == found.upper
    for name in model.variables.names:
        assert beliefs[name].values.sum() == pytest.approx(1.0, abs=1e-12)
        if beliefs.exact:
            assert beliefs[name].values == pytest.approx(exact[name].values, abs=1e-9)
    assert not beliefs.exact or found.lower == found.upper
    return beliefs


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@given(seed=SEEDS)
def test_the_bracket_holds(zeros, seed):
    rng = np.random.default_rng(seed)
    model = dense_field(rng, zeros=zeros)
    check_bracket(model, random_evidence(model, rng), int(rng.integers(1, 5)), max_steps=5)


@pytest.mark.slow
@pytest.mark.parametrize("zeros", [0.0, 0.1, 0.3])
def test_the_bracket_holds_on_a_thousand_models(zeros):
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        model = dense_field(rng, zeros=zeros)
        check_bracket(model, random_evidence(model, rng), int(rng.integers(1, 5)))


@given(seed=SEEDS)
def test_it_is_exact_once_the_bound_reaches_the_width(seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng) if seed % 2 else dense_field(rng)
    beliefs = check_bracket(model, {}, max(jt.cost(model).width, 1))
    assert beliefs is None or beliefs.exact


def test_the_bracket_closes_as_the_bound_grows():
    model = grid(6)
    brackets = [check_bracket(model, {}, bound).diagnostics for bound in (1, 2, 4, 6)]
    gaps = [found.upper - found.lower for found in brackets]
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3] == 0.0


def test_no_step_loosens_a_bound():
    model = grid(5)
    found = [jt.infer(model, method=jt.MiniBucket(2, max_steps=steps)).diagnostics for steps in range(8)]
    assert all(np.diff([one.upper for one in found]) <= 0)
    assert all(np.diff([one.lower for one in found]) >= 0)
    assert found[-1].upper < found[0].upper - 0.1
    assert found[-1].lower > found[0].lower + 0.1


def test_rows_are_answered_one_by_one_and_the_same_answer_comes_again():
    rng = np.random.default_rng(0)
    model = dense_field(rng, zeros=0.2)
    drawn = jt.sample(model, 3, rng=0).to_dict()
    rows = [{name: column[index] for name, column in drawn.items() if name in ("x0", "x3")} for index in (0, 1, 2, 0)]
    engine = jt.MiniBucket(2)
    many, again = jt.infer(model, rows, method=engine), jt.infer(model, rows, method=engine)
    for index, row in enumerate(rows):
        one = jt.infer(model, row, method=engine)
        assert many.log_evidence[index] == one.log_evidence == again.log_evidence[index]
        assert many.diagnostics.lower[index] == one.diagnostics.lower
        for name in model.variables.names:
            assert np.array_equal(many[name].values[index], one[name].values)


def test_evidence_that_is_impossible():
    rain, wet = jt.Variable("rain", 2), jt.Variable("wet", 2)
    model = jt.BayesianNetwork(
        [jt.Conditional(rain, [], [0.8, 0.2]), jt.Conditional(wet, [rain], [[1, 0], [0.1, 0.9]])]
    )
    with pytest.raises(jt.ImpossibleEvidence, match="rain=0, wet=1 cannot occur together"):
        jt.infer(model, {"rain": 0, "wet": 1}, method="mini-bucket")
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        beliefs = jt.infer(model, [{"rain": 0, "wet": 1}, {"wet": 1}], method="mini-bucket")
    assert np.isnan(beliefs["rain"].values[0]).all()
    assert beliefs["rain"].values[1].tolist() == [0.0, 1.0]


def test_a_budget_stops_the_steps_and_the_engine_in_the_diagnostics_repeats_the_answer():
    model = grid(8)
    cut = jt.infer(model, method=jt.MiniBucket(2, max_steps=10**6, tolerance=0.0), budget=0.05)
    assert not cut.converged
    again = jt.infer(model, method=cut.diagnostics.engine)
    assert again.diagnostics.steps == cut.diagnostics.steps
    assert (again.diagnostics.lower, again.diagnostics.upper) == (cut.diagnostics.lower, cut.diagnostics.upper)


def test_joints_of_factors_and_expected_counts():
    model = grid(4)
    beliefs, exact = jt.infer(model, method=jt.MiniBucket(4)), jt.infer(model)
    pair = model.factors[0].scope.names
    assert beliefs.joint(*pair).values == pytest.approx(exact.joint(*pair).values, abs=1e-12)
    with pytest.raises(jt.JunctureError, match="no factor has"):
        beliefs.joint("x0,0", "x3,3")


def test_nothing_underflows():
    """All pairs with couplings of e^±700 each: log Z is beyond what a double's exponential holds."""
    xs = [jt.Variable(f"x{i}", 2) for i in range(6)]
    couplings = [[-700.0, 650.0], [0.0, -700.0]]
    model = jt.MarkovNetwork([jt.Factor.from_logs(pair, couplings) for pair in combinations(xs, 2)])
    check_bracket(model, {}, 2)


def test_too_large_a_bound_is_refused_with_its_size():
    people = [jt.Variable(f"x{i}", 2) for i in range(40)]
    model = jt.MarkovNetwork([jt.Factor(pair, [[2, 1], [1, 2]]) for pair in combinations(people, 2)])
    with pytest.raises(jt.TooLarge, match=r"mini-buckets would need .*: lower the bound"):
        jt.infer(model, method=jt.MiniBucket(35))
    with pytest.raises(jt.errors.InvalidData, match="bound must be a whole number of at least 1"):
        jt.MiniBucket(0)


def test_weighted_sums():
    """(Σ f^(1/w))^w: the sum for 1, towards the maximum and the minimum for small weights."""
    logs = np.log([1.0, 2.0, 4.0])
    assert np.exp(power_sum(logs, 1.0)) == pytest.approx(7.0)
    assert np.exp(power_sum(logs, 0.5)) == pytest.approx(np.sqrt(21.0))
    assert np.exp(power_sum(logs, 1e-3)) == pytest.approx(4.0, rel=1e-2)
    assert np.exp(power_sum(logs, -1e-3)) == pytest.approx(1.0, rel=1e-2)
    assert np.exp(power_sum(logs, -1.0)) == pytest.approx(1 / 1.75)
    zeros = np.log([1.0, 2.0, 4.0])
    zeros[0] = -np.inf
    assert np.exp(power_sum(zeros, 1.0)) == pytest.approx(6.0)
    assert power_sum(zeros, -1.0) == -np.inf


def grid(size, seed=0):
    """A square of binary sites with couplings of either sign."""
    rng = np.random.default_rng(seed)
    site = {(i, j): jt.Variable(f"x{i},{j}", 2) for i in range(size) for j in range(size)}
    steps = [((i, j), (i + di, j + dj)) for i, j in site for di, dj in ((0, 1), (1, 0))]
    pairs = [(site[a], site[b]) for a, b in steps if b in site]
    return jt.MarkovNetwork([jt.Factor(pair, np.exp(rng.normal(size=(2, 2)))) for pair in pairs])
