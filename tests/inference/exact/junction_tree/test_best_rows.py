"""The best states of many rows, and of some targets, against a loop over all assignments."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.elimination import Elimination
from support.builders import random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)
TIE = 1e-9


def groups(model, evidence, targets):
    """(total weight, states of the targets) for every joint state of the targets, in order of the states."""
    table = jt.infer(model, evidence, method="enumeration").joint(*targets)
    flat = table.values.reshape(-1)
    codes = np.stack(np.unravel_index(np.arange(flat.size), table.scope.shape), axis=1)
    return flat, [[v.labels[c] for v, c in zip(table.scope, row, strict=True)] for row in codes.tolist()]


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_each_row_has_the_first_of_its_best_assignments(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    names = model.variables.names
    some = [random_evidence(model, rng) for _ in range(4)]
    rows = [some[number] for number in rng.integers(4, size=7)]
    targets = [name for name in names if rng.random() < 0.5] or [names[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        found = jt.most_probable(model, rows, targets=targets)
    chosen = found.assignments.to_dict()
    for number, row in enumerate(rows):
        if number in found.impossible:
            assert all(chosen[name][number] is None for name in targets)
            assert math.isnan(found.log_prob[number])
            assert found.log_joint[number] == -math.inf
            continue
        weights, states = groups(model, row, targets)
        first = int(np.argmax(weights >= weights.max() * (1 - TIE)))
        assert [chosen[name][number] for name in targets] == states[first]
        assert math.exp(found.log_prob[number]) == pytest.approx(weights[first], rel=1e-9)
        alone = jt.most_probable(model, row, targets=targets)
        assert list(alone.assignment.values()) == states[first]
        assert alone.log_joint == pytest.approx(found.log_joint[number], abs=1e-10)


@given(seed=SEEDS)
def test_ties_of_many_rows_go_to_the_earlier_states(seed):
    rng = np.random.default_rng(seed)
    variables = [jt.Variable(f"x{place}", int(rng.integers(1, 4))) for place in range(5)]
    scopes = [jt.results.Scope(variables[place] for place in rng.choice(5, size=2, replace=False)) for _ in range(5)]
    factors = [jt.Factor(scope, rng.choice([1.0, 2.0], size=scope.shape)) for scope in scopes]
    model = jt.MarkovNetwork(factors, variables)
    rows = [{}, {"x4": 0}, {"x4": variables[4].num_states - 1, "x0": 0}, {}]
    for targets in (["x1"], ["x0", "x2"], ["x3", "x2", "x1"], [variable.name for variable in variables]):
        chosen = jt.most_probable(model, rows, targets=targets).assignments.to_dict()
        in_order = [name for name in model.variables.names if name in targets]
        for number, row in enumerate(rows):
            weights, states = groups(model, row, in_order)
            assert [chosen[name][number] for name in in_order] == states[
                int(np.argmax(weights >= weights.max() * (1 - TIE)))
            ]


def test_no_rows_have_no_assignments():
    model = jt.example("asia")
    none = jt.Dataset.from_codes([model.variable("xray")], {"xray": np.empty(0, np.int64)})
    for targets in (["lung"], ["lung", "bronc"], None):
        assert jt.most_probable(model, none, targets=targets).assignments.num_rows == 0


def test_rows_of_one_pattern_share_an_elimination(monkeypatch):
    calls = []
    reduce = Elimination.reduce
    monkeypatch.setattr(Elimination, "reduce", lambda self, *args: calls.append(1) or reduce(self, *args))
    model = jt.example("asia")
    states = [{"xray": xray, "dysp": dysp} for xray in ("yes", "no") for dysp in ("yes", "no")]
    jt.most_probable(model, states, targets=["lung", "bronc", "smoke"])
    few = len(calls)
    jt.most_probable(model, states * 250, targets=["lung", "bronc", "smoke"])
    assert len(calls) == 2 * few
    calls.clear()
    jt.most_probable(model, states * 250, targets=["lung"])
    assert not calls


def test_the_memory_limit_holds_for_marginal_map():
    """A grid's rows are summed out between its first and its last column: the targets meet in one table."""
    size = 10
    grid = [[jt.Variable(f"x{row}_{column}", 2) for column in range(3)] for row in range(size)]
    rng = np.random.default_rng(0)
    pairs = [(grid[r][1], grid[r][c]) for r in range(size) for c in (0, 2)]
    pairs += [(grid[r][1], grid[r + 1][1]) for r in range(size - 1)]
    model = jt.MarkovNetwork([jt.Factor(pair, rng.random((2, 2))) for pair in pairs])
    targets = [variable.name for line in grid for variable in (line[0], line[2])]
    limit = 100_000
    assert jt.cost(model).bytes < limit
    with pytest.raises(jt.TooLarge, match="raise memory_limit"):
        jt.most_probable(model, {}, targets=targets, memory_limit=limit)
    with pytest.raises(jt.TooLarge, match="raise memory_limit"):
        jt.most_probable(model, {}, targets=targets, k=2, memory_limit=limit)


@given(seed=SEEDS)
def test_the_first_of_k_is_the_best_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng)
    evidence = random_evidence(model, rng)
    targets = [name for name in model.variables.names if rng.random() < 0.5] or [model.variables.names[0]]
    try:
        best = jt.most_probable(model, evidence, targets=targets)
    except jt.ImpossibleEvidence:
        return
    assert jt.most_probable(model, evidence, targets=targets, k=3)[0] == best


def test_nothing_is_left_to_choose():
    """Everything is observed, with hidden nodes inside the noisy-or; and no targets at all."""
    causes = [jt.Variable(f"c{number}", 2) for number in range(9)]
    effect = jt.Variable("e", 2)
    parts = [jt.Conditional(cause, [], [0.6, 0.4]) for cause in causes]
    model = jt.BayesianNetwork([*parts, jt.NoisyOr(effect, causes, [0.5] * 9, leak=0.1)])
    row = dict.fromkeys(model.variables.names, 1)
    for evidence, options in (
        (row, {}),
        (row, {"k": 2}),
        ({"e": 1}, {"targets": []}),
        ({"e": 1}, {"targets": [], "k": 2}),
    ):
        found = jt.most_probable(model, evidence, **options)
        best = found[0] if isinstance(found, list) else found
        assert best.assignment == {}
        assert best.log_prob == pytest.approx(0.0, abs=1e-12)
    many = jt.most_probable(model, [row, row])
    assert many.log_prob == pytest.approx([0.0, 0.0], abs=1e-12)
