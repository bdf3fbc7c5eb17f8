"""Risks under known distributions: closed forms, enumeration of samples, and the bound of the estimation error."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

evaluation = jt.evaluation
MASSES = st.lists(st.floats(0.05, 1.0), min_size=6, max_size=6)
PAIRS = list(product(range(3), range(2)))
THRESHOLDS = [lambda x, a=a: int(x >= a) for a in range(4)]


def distribution_of(masses):
    return dict(zip(PAIRS, (np.array(masses) / sum(masses)).tolist(), strict=True))


@given(st.floats(0.1, 20.0), st.floats(-3.0, 3.0))
def test_the_squared_risk_of_the_model_itself_is_the_noise(precision, mean):
    """S4-006: where p0 is N(t | y(x), 1/β) the risk is 1/β; Gauss and Hermite's points have its second moments."""
    points, weights = np.polynomial.hermite.hermgauss(12)
    targets, masses = mean + math.sqrt(2 / precision) * points, weights / math.sqrt(math.pi)
    known = {(0.0, target): mass for target, mass in zip(targets.tolist(), masses.tolist(), strict=True)}
    assert evaluation.risk(lambda x: mean, known, "squared") == pytest.approx(1 / precision)


@given(MASSES)
def test_risk_on_finitely_many_inputs(masses):
    """S4-119: no predictor is below the one that takes the most probable target of each input."""
    known = distribution_of(masses)
    table = np.array([[known[x, t] for t in range(2)] for x in range(3)])
    every = [evaluation.risk(dict(enumerate(labels)).get, known) for labels in product(range(2), repeat=3)]
    assert min(every) == pytest.approx(table.min(axis=1).sum())
    assert evaluation.risk(lambda x: 1, known) == pytest.approx(table[:, 0].sum())
    assert evaluation.risk(lambda x: 1, known, lambda t, y: 3.0 * (t < y)) == pytest.approx(3 * table[:, 0].sum())


@given(MASSES, st.lists(st.sampled_from(PAIRS), min_size=1, max_size=8))
def test_the_risk_is_that_of_the_best_and_the_estimation_error(masses, examples):
    """S4-130."""
    known = distribution_of(masses)
    found = evaluation.decompose_risk(THRESHOLDS, known, examples)
    risks = [evaluation.risk(one, known) for one in THRESHOLDS]
    assert found.risk == risks[found.chosen]
    assert found.best_risk == min(risks)
    assert found.risk == pytest.approx(found.best_risk + found.estimation_error)
    assert found.estimation_error >= 0
    errors = [np.mean([one(x) != t for x, t in examples]) for one in THRESHOLDS]
    assert found.empirical_risk == pytest.approx(min(errors))


def test_the_estimation_error_is_within_its_bound():
    """S4-130: at most the bound of uniform convergence, with probability 1 - δ, over all samples of four examples."""
    known = distribution_of([0.3, 0.1, 0.1, 0.2, 0.05, 0.25])
    bound = evaluation.estimation_error_bound(4, len(THRESHOLDS), 0.1)
    chance = sum(
        math.prod(known[pair] for pair in sample)
        for sample in product(PAIRS, repeat=4)
        if evaluation.decompose_risk(THRESHOLDS, known, sample).estimation_error > bound
    )
    assert chance <= 0.1


def test_wrong_distributions_and_losses_are_refused():
    known = distribution_of([1.0] * 6)
    for wrong in ({}, {(0, 0): 0.5}, {0: 1.0}, {(0, 0): math.nan, (0, 1): 1.0}, [(0, 0)]):
        with pytest.raises(jt.errors.InvalidData, match=r"pair|mapping|hold"):
            evaluation.risk(lambda x: 0, wrong)
    for loss in ("hinge", 3, lambda t, y: "much"):
        with pytest.raises(jt.errors.InvalidData, match="loss"):
            evaluation.risk(lambda x: 0, known, loss)
    with pytest.raises(jt.errors.InvalidData, match="cannot compare"):
        evaluation.risk(lambda x: "yes", known, "squared")
    with pytest.raises(jt.errors.InvalidData, match="at least one"):
        evaluation.decompose_risk([], known, [(0, 0)])
