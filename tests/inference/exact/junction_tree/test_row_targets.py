"""One row of evidence and some targets: the short path gives what a run of the plan gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.exact.junction_tree.engine import JunctionTreePlan
from support.builders import random_evidence, random_field, random_network


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_short_path_agrees_with_enumeration(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = {name: value for name, value in random_evidence(model, rng).items() if isinstance(value, str | int)}
    targets = [str(name) for name in rng.permutation(model.variables.names)[:2]]
    try:
        slow = jt.infer(model, evidence, method="enumeration")
    except jt.ImpossibleEvidence:
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, evidence, targets=targets)
        return
    quick = jt.infer(model, evidence, targets=targets)
    assert quick.targets == tuple(targets)
    assert quick.log_evidence == pytest.approx(slow.log_evidence, abs=1e-11)
    assert np.allclose(quick.joint(*targets).values, slow.joint(*targets).values, atol=1e-12)
    for name in targets:
        assert quick[name].values == pytest.approx(slow[name].values, abs=1e-12)
        assert quick.answers.marginal((name,))[0] == pytest.approx(slow[name].values, abs=1e-12)


def test_no_plan_is_run_for_plain_labels(monkeypatch):
    model = jt.example("asia")
    jt.infer(model, {"xray": "yes"}, targets=["lung"])
    monkeypatch.setattr(JunctionTreePlan, "run", lambda *_args, **_options: pytest.fail("a plan was run"))
    assert jt.infer(model, {"xray": "yes"}, targets=["lung"])["lung"]["yes"] == pytest.approx(0.48872, abs=1e-5)


def test_what_is_no_target_is_refused():
    model = jt.example("asia")
    beliefs = jt.infer(model, {"xray": "yes"}, targets=("lung",))
    with pytest.raises(jt.UnknownVariable, match="targets="):
        beliefs["bronc"]
    assert "bronc" not in beliefs
    for wrong in (["lungs"], [["lung"]], [3]):
        with pytest.raises(jt.JunctureError):
            jt.infer(model, {"xray": "yes"}, targets=wrong)
    with pytest.raises(jt.errors.InvalidData, match=r"targets=\['lung'\]"):
        jt.infer(model, {"xray": "yes"}, targets="lung")


def test_a_large_network_is_cut_to_the_part_that_the_targets_need():
    chain = [jt.Variable(f"x{step}", 2) for step in range(600)]
    parts = [jt.Conditional(chain[0], [], [0.3, 0.7])]
    parts += [jt.Conditional(b, [a], [[0.9, 0.1], [0.2, 0.8]]) for a, b in pairwise(chain)]
    model = jt.BayesianNetwork(parts)
    beliefs = jt.infer(model, {"x1": 1}, targets=["x0"])
    assert len(beliefs.answers.packed.variables) == 2
    assert beliefs["x0"][1] == pytest.approx(0.56 / 0.59)
