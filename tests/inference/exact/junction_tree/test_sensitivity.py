"""Derivatives by every table entry against finite differences, and against what they mean."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.junction_tree import sensitivity as module
from support.builders import random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)


def evidence_of(factors, variables, evidence):
    return math.exp(jt.infer(jt.FactorGraph(factors, variables), evidence, method="enumeration").log_evidence)


def bumped(factors, place, cell, step):
    values = factors[place].values.copy()
    values[cell] += step
    return [jt.Factor(f.scope, values if p == place else f.values) for p, f in enumerate(factors)]


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_the_evidence_is_linear_in_every_entry(build, seed):
    """p(e) after a step of 1 in an entry is p(e) plus the derivative: exactly, also where the entry is zero."""
    rng = np.random.default_rng(seed)
    model = build(rng, 4)
    evidence = random_evidence(model, rng)
    slopes = list(jt.sensitivity(model, evidence).values())
    before = evidence_of(model.factors, model.variables, evidence)
    for place, factor in enumerate(model.factors):
        cell = tuple(int(rng.integers(size)) for size in factor.values.shape)
        after = evidence_of(bumped(model.factors, place, cell, 1.0), model.variables, evidence)
        assert slopes[place][cell] * before == pytest.approx(after - before, rel=1e-9, abs=1e-9 * before)


@given(seed=SEEDS)
def test_posteriors_against_finite_differences(seed):
    rng = np.random.default_rng(seed)
    model = random_network(rng, 4)
    evidence = random_evidence(model, rng)
    variable = model.variables[-1]
    target = (variable.name, variable.labels[0])
    slopes = list(jt.sensitivity(model, evidence, target=target).values())
    for place, factor in enumerate(model.factors):
        cell = tuple(int(rng.integers(size)) for size in factor.values.shape)
        if factor.values[cell] < 1e-3:
            continue
        step = 1e-6 * factor.values[cell]
        up, down = (
            jt.infer(jt.FactorGraph(bumped(model.factors, place, cell, sign * step), model.variables), evidence)
            for sign in (1, -1)
        )
        slope = (up[target[0]][target[1]] - down[target[0]][target[1]]) / (2 * step)
        assert slopes[place][cell] == pytest.approx(slope, rel=1e-4, abs=1e-4)


def test_an_entry_weighs_as_much_as_its_family_is_probable():
    """θ · d log p(e) / dθ = p(family | e)."""
    asia = jt.example("asia")
    evidence = {"xray": "yes", "dysp": "no"}
    slopes = jt.sensitivity(asia, evidence)
    beliefs = jt.infer(asia, evidence)
    for part in asia.conditionals:
        family = beliefs.joint(*part.parents.names, part.child.name).values
        assert part.values * slopes[part.child.name] == pytest.approx(family, abs=1e-14)


def test_bad_questions():
    asia = jt.example("asia")
    with pytest.raises(jt.ImpossibleEvidence):
        jt.sensitivity(asia, {"lung": "yes", "either": "no"})
    with pytest.raises(jt.UnknownVariable, match="did you mean 'lung'"):
        jt.sensitivity(asia, {}, target=("lungs", "yes"))
    with pytest.raises(jt.errors.InvalidData, match="one row"):
        jt.sensitivity(asia, [{}, {}])


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_listed_entries_give_the_derivatives_of_dense_tables(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng, 5)
    evidence = random_evidence(model, rng)
    dense = jt.sensitivity(model, evidence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MANY_CELLS", 0)
        patch.setattr(module, "LISTED_PART", np.inf)
        patch.setattr(module, "has_many_zeros", lambda *_: True)
        patch.setattr(module, "DenseProducts", None)
        listed = jt.sensitivity(model, evidence)
    assert list(listed) == list(dense)
    for name, slopes in dense.items():
        np.testing.assert_allclose(listed[name], slopes, rtol=1e-12, atol=1e-13)


def peaceful(size, distance):
    first, second = np.indices((size, size))
    return ((first != second) & (abs(first - second) != distance)).astype(float)


def test_zeros_let_large_cliques_be_differentiated():
    """Nine queens share a clique of 9⁹ cells; in 352 of them they stand in peace.

    An entry of 1 weighs as often as a pair of rows has its states, an entry of 0 the placements in which that pair
    alone attacks each other.
    """
    size = 9
    rows = [jt.Variable(f"row{row}", size) for row in range(size)]
    pairs = list(combinations(range(size), 2))
    model = jt.MarkovNetwork([jt.Factor([rows[a], rows[b]], peaceful(size, b - a)) for a, b in pairs])
    slopes = jt.sensitivity(model)
    joint = jt.infer(model).joint("row0", "row1").values
    allowed = peaceful(size, 1)
    np.testing.assert_allclose(slopes[0] * allowed, joint, rtol=1e-12, atol=1e-15)
    attacked = jt.MarkovNetwork([jt.Factor(model.factors[0].scope, 1.0 - allowed), *model.factors[1:]])
    others = np.exp(jt.infer(attacked).log_evidence - np.log(352))
    assert (slopes[0] * (1.0 - allowed)).sum() == pytest.approx(others, rel=1e-12)


def test_what_is_too_large_is_refused_with_its_size():
    people = [jt.Variable(f"x{number}", 2) for number in range(40)]
    model = jt.MarkovNetwork([jt.Factor(pair, [[2.0, 1.0], [1.0, 2.0]]) for pair in combinations(people, 2)])
    with pytest.raises(jt.TooLarge, match=r"sensitivity would take .* operations on tables of all joint states"):
        jt.sensitivity(model)
