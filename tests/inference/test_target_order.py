"""Targets in any order and any subset: many rows answer as each row does alone, and a target gets its own marginal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.infer import EXACT_METHODS
from support.builders import random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)
KINDS = [random_network, random_field]
ENGINES = sorted(set(EXACT_METHODS) - {"auto", "exact"})


def draw_case(build, seed):
    """(model, possible rows of evidence, what enumeration says of each, targets in random order)."""
    rng = np.random.default_rng(seed)
    model = build(rng)
    weighed = [(row, enumerated(model, row)) for row in (random_evidence(model, rng) for _ in range(3))]
    possible = [(row, beliefs) for row, beliefs in weighed if beliefs is not None]
    names = [str(name) for name in rng.permutation(model.variables.names)]
    return model, *([list(part) for part in zip(*possible, strict=True)] or [[], []]), names[: rng.integers(1, 5)]


def enumerated(model, row):
    try:
        return jt.infer(model, row, method="enumeration")
    except jt.ImpossibleEvidence:
        return None


def assert_rows_agree(many, singles, reference):
    """Every way of reading the marginals: by name, as a dictionary, as a frame, jointly."""
    assert many.targets == singles[0].targets
    read, records = many.to_dict(), []
    for name in many.targets:
        expected = np.array([beliefs[name].values for beliefs in reference])
        assert many[name].values == pytest.approx(expected, abs=1e-12)
        assert np.array([one[name].values for one in singles]) == pytest.approx(expected, abs=1e-12)
        assert np.allclose(np.transpose(list(read[name].values())), expected, rtol=0, atol=1e-12)
        for label, column in zip(many.model.variable(name).labels, expected.T, strict=True):
            records += [(row, name, str(label), probability) for row, probability in enumerate(column)]
    frame = many.to_pandas()
    assert list(frame[["row", "variable", "state"]].itertuples(index=False, name=None)) == [r[:3] for r in records]
    assert frame["probability"].to_numpy() == pytest.approx([record[3] for record in records], abs=1e-12)
    pair = many.targets[:2]
    joint = np.array([beliefs.joint(*pair).values for beliefs in reference])
    assert many.joint(*pair).values == pytest.approx(joint, abs=1e-12)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_many_rows_are_as_many_single_rows_for_targets_in_any_order(build, method, seed):
    model, rows, reference, targets = draw_case(build, seed)
    if rows:
        many = jt.infer(model, rows, targets=targets, method=method)
        singles = [jt.infer(model, row, targets=targets, method=method) for row in rows]
        assert_rows_agree(many, singles, reference)


@pytest.mark.parametrize("build", KINDS)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_a_plan_runs_many_rows_as_it_runs_each(build, seed):
    model, rows, reference, targets = draw_case(build, seed)
    if rows:
        plan = jt.compile(model, observed=model.variables.names, targets=targets)
        many, singles = plan.run(model, rows), [plan.run(model, row) for row in rows]
        assert_rows_agree(many, singles, reference)


def test_all_variables_of_a_packed_model_backwards():
    asia = jt.example("asia")
    everything = jt.infer(asia)  # packs the model, so that rows run on the whole of it
    backwards = jt.infer(asia, [{}, {}], targets=asia.variables.names[::-1])
    for name in asia.variables.names:
        assert backwards[name].values == pytest.approx(np.array([everything[name].values] * 2), abs=1e-14)
    two = jt.infer(jt.example("asia"), [{}, {}], targets=["lung", "smoke"])
    assert two["lung"]["yes"] == pytest.approx([0.055, 0.055], abs=1e-12)
