"""Structured mean field: clusters that keep their dependencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData
from support.builders import dense_field, random_evidence

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS)
def test_clusters_raise_the_bound_up_to_the_truth(seed):
    """S4-248: ELBO(single) ≤ ELBO(clusters) ≤ log p, and one cluster of all variables is exact."""
    rng = np.random.default_rng(seed)
    model = dense_field(rng, zeros=0.1)
    evidence, names = random_evidence(model, rng), model.variables.names
    exact, single, pairs, whole = (
        jt.infer(model, evidence, method=method)
        for method in (
            "exact",
            jt.MeanField(tolerance=1e-7),
            jt.MeanField(clusters=[names[:3], names[4:6]], tolerance=1e-7),
            jt.MeanField(clusters=[names], tolerance=1e-7),
        )
    )
    assert single.log_evidence <= pairs.log_evidence + 1e-9
    assert pairs.log_evidence <= exact.log_evidence + 1e-9
    assert whole.log_evidence == pytest.approx(exact.log_evidence, abs=1e-9)
    assert whole.joint(*names[:2]).values == pytest.approx(exact.joint(*names[:2]).values, abs=1e-9)
    assert pairs.joint(names[6], names[1]).values.sum() == pytest.approx(1.0, abs=1e-12)


def test_rows_of_a_grid_as_clusters():
    model = jt.ising((3, 3), coupling=0.5, field=[[0.3, -0.2, 0.1]] * 3, values=(-1, 1))
    rows = [[f"x{i}_{j}" for j in range(3)] for i in range(3)]
    exact, single, chains = (jt.infer(model, method=m) for m in ("exact", jt.MeanField(), jt.MeanField(clusters=rows)))
    gaps = [exact.log_evidence - one.log_evidence for one in (single, chains)]
    assert 0 < gaps[1] < 0.8 * gaps[0]
    assert chains.converged
    assert chains.diagnostics.lower == chains.log_evidence


def test_many_rows_budget_and_learning():
    model = jt.example("asia")
    engine = jt.MeanField(clusters=[["tub", "lung", "either"], ["dysp", "bronc"]])
    rows = [{"xray": "yes"}, {"dysp": "no"}, {}]
    found, exact = (jt.infer(model, rows, method=method) for method in (engine, "exact"))
    assert (found.log_evidence <= exact.log_evidence + 1e-12).all()
    alone = jt.infer(model, rows[1], method=engine)
    assert alone.log_evidence == found.log_evidence[1]
    assert found.joint("bronc", "lung").values.shape == (3, 2, 2)
    with pytest.warns(jt.errors.NotConvergedWarning, match="its budget ended"):
        cut = jt.infer(model, rows, method=engine, budget=0.0)
    with pytest.warns(jt.errors.NotConvergedWarning, match="max_steps are spent"):
        repeated = jt.infer(model, rows, method=cut.diagnostics.engine)
    assert np.array_equal(repeated.log_evidence, cut.log_evidence)
    data = jt.sample(model, 30, rng=0).to_pandas().drop(columns=["either", "bronc"])
    method = jt.ExpectationMaximization(tolerance=1e-4)
    fitted = jt.fit(model, data, prior=1.0, latent=["either", "bronc"], engine=engine, method=method)
    assert (np.diff(fitted.trace.values) >= -1e-9).all()
    assert fitted.trace.converged


def test_clusters_that_are_refused():
    with pytest.raises(InvalidData, match="'a' is in two places"):
        jt.MeanField(clusters=[["a", "b"], ["a"]])
    with pytest.raises(InvalidData, match="list of names"):
        jt.MeanField(clusters=["ab"])
    with pytest.raises(jt.UnknownVariable, match="lungs"):
        jt.infer(jt.example("asia"), method=jt.MeanField(clusters=[["lungs", "tub"]]))
