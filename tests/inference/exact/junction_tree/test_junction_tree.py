"""The junction tree against enumeration."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.builders import random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)
KINDS = [random_network, random_field]
TREE = "junction-tree"


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        return function(*arguments, **options)


@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_marginals_and_evidence(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = random_evidence(model, rng)
    try:
        expected = jt.infer(model, evidence, method="enumeration")
    except jt.ImpossibleEvidence:
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, evidence, method=TREE)
        return
    beliefs = jt.infer(model, evidence, method=TREE)
    assert beliefs.log_evidence == pytest.approx(expected.log_evidence, abs=1e-11)
    for name in model.variables.names:
        assert beliefs[name].values == pytest.approx(expected[name].values, abs=1e-13)
    names = [str(name) for name in rng.permutation(model.variables.names)[:3]]
    assert beliefs.joint(*names).values == pytest.approx(expected.joint(*names).values, abs=1e-13)


@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_many_rows(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    rows = [random_evidence(model, rng) for _ in range(7)]
    expected = quietly(jt.infer, model, rows, method="enumeration")
    beliefs = quietly(jt.infer, model, rows, method=TREE)
    assert beliefs.impossible == expected.impossible
    assert beliefs.log_evidence == pytest.approx(expected.log_evidence, abs=1e-11)
    for name in model.variables.names:
        assert beliefs[name].values == pytest.approx(expected[name].values, abs=1e-13, nan_ok=True)
    names = model.variables.names[:2]
    assert beliefs.joint(*names).values == pytest.approx(expected.joint(*names).values, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_k_best(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = random_evidence(model, rng)
    try:
        expected = jt.most_probable(model, evidence, k=5, method="enumeration")
    except jt.ImpossibleEvidence:
        return
    best = jt.most_probable(model, evidence, k=5, method=TREE)
    assert [item.log_joint for item in best] == pytest.approx([item.log_joint for item in expected], abs=1e-10)
    assert [item.log_prob for item in best] == pytest.approx([item.log_prob for item in expected], abs=1e-10)
    assert len({tuple(item.assignment.items()) for item in best}) == len(best)
