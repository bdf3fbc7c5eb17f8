"""Rejection sampling: exact draws, the rate of acceptance, the limit, and a refusal when nothing is accepted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings


def test_the_rate_of_acceptance_is_the_evidence():
    """S2-167, S3-036, S3-047: p(G = 0) = 0.315 and p(F = 0 | G = 0) = 9/35 in the fuel network."""
    beliefs = jt.infer(jt.example("fuel"), {"G": 0}, method=jt.RejectionSampling(draws=4000), rng=0)
    found = beliefs.diagnostics
    assert found.acceptance_rate == pytest.approx(0.315, abs=4.5 * 0.315 * found.log_evidence_error)
    assert beliefs.log_evidence == pytest.approx(math.log(found.acceptance_rate))
    assert found.log_evidence_error == pytest.approx(math.sqrt(0.685 / 4000), rel=0.05)
    assert abs(beliefs["F"][0] - 9 / 35) < 4.5 * math.sqrt(9 / 35 * 26 / 35 / 4000)
    assert found.effective_sample_size == pytest.approx(4000)


def test_soft_evidence_is_accepted_in_its_share():
    """S0-284, S3-046: a state is kept with probability likelihood / largest: p̃ = (1, 2, 3, 4), rate 0.625."""
    x = jt.Variable("x", 4)
    model = jt.BayesianNetwork([jt.Conditional(x, [], [0.25] * 4)])
    beliefs = jt.infer(model, {"x": [1.0, 2.0, 3.0, 4.0]}, method=jt.RejectionSampling(draws=20_000), rng=0)
    assert beliefs.diagnostics.acceptance_rate == pytest.approx(0.625, abs=0.01)
    assert beliefs.log_evidence == pytest.approx(math.log(2.5), abs=0.02)
    assert beliefs["x"].values == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.015)


def test_nothing_accepted_is_refused():
    with pytest.raises(jt.ImpossibleEvidence, match=r"none of 2,?000 draws agrees with lung=yes, either=no.*max_tries"):
        jt.infer(
            jt.example("asia"), {"lung": "yes", "either": "no"}, method=jt.RejectionSampling(max_tries=2000), rng=0
        )


def test_the_limit_of_tries():
    engine = jt.RejectionSampling(draws=1000, max_tries=3000)
    beliefs = jt.infer(jt.example("asia"), {"asia": "yes"}, method=engine, rng=0)
    assert not beliefs.converged
    assert 5 <= beliefs.diagnostics.steps <= 80  # of 3000, one in a hundred
    assert beliefs.diagnostics.acceptance_rate == pytest.approx(beliefs.diagnostics.steps / 3000)


def test_draws_are_of_equal_weight_and_do_not_depend_on_threads():
    asia = jt.example("asia")
    findings = as_findings({"dysp": "yes"}, asia.variables)
    drawn = []
    for threads in (1, 3):
        jt.set_num_threads(threads)
        drawn.append(jt.RejectionSampling().draw(asia, findings, 300, np.random.default_rng(5)))
    jt.set_num_threads(None)
    assert drawn[0] == drawn[1]
    assert drawn[0].log_weights is None
    assert drawn[0]["lung"].shape == (1, 300)


def test_numbers_are_never_hit():
    x = jt.Variable("x")
    model = jt.BayesianNetwork([jt.LinearGaussian(x, [], [])])
    with pytest.raises(jt.errors.Unsupported, match="likelihood-weighting"):
        jt.infer(model, {"x": 1.0}, method="rejection")
