"""Importance sampling: weights by enumeration, proposals, answers and what is refused."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Query
from juncture.inference.engines.factor_arrays import factor_arrays
from juncture.inference.sampling.table_proposals import adapt, loopy_proposals
from juncture.inference.sampling.weighted_draws import Streams
from support.approximate_engines import MODELS

SMALL = ("tree", "chain_with_zeros", "triangle", "wide_factors", "asia")
XRAY = {"xray": "yes", "dysp": "yes"}


def proposals_of(name, row, *, is_adapted=False):
    model = MODELS[name].model
    (proposal,) = loopy_proposals(model, as_findings(row, model.variables))
    return adapt(proposal, Streams.of(np.random.default_rng(0)), 0) if is_adapted else proposal


def enumerate_weights(proposal):
    """Every assignment with q(x) and log w(x)."""
    sizes = [1 if node in proposal.target.fixed else size for node, size in enumerate(proposal.target.num_states)]
    codes = np.array(list(itertools.product(*map(range, sizes))), np.int64).T
    for node, code in proposal.target.fixed.items():
        codes[node] = code
    codes = np.ascontiguousarray(codes)
    q = np.ones(codes.shape[1])
    for node, table in proposal.tables.items():
        q *= table[tuple(codes[list(proposal.scopes[node])])]
    source = proposal.source()
    logs = np.full(codes.shape[1], source.log_constant)
    source.weights.add_to(logs, codes)
    return codes, q, logs


@pytest.mark.parametrize("is_adapted", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_the_mean_weight_is_the_evidence(name, is_adapted):
    """S0-285, S3-052: Σ q(x) w(x) = p(evidence), exactly, and q(x) > 0 wherever p(x, evidence) > 0."""
    small = MODELS[name]
    for row in small.rows:
        codes, q, logs = enumerate_weights(proposals_of(name, row, is_adapted=is_adapted))
        assert q.sum() == pytest.approx(1.0)
        weights = np.where(q > 0, np.exp(logs), 0.0)
        assert math.log(q @ weights) == pytest.approx(jt.infer(small.model, row).log_evidence, abs=1e-9)
        arrays = factor_arrays(small.model)
        log_p = sum(arrays.log_table(f)[tuple(codes[arrays.scope(f)])] for f in range(arrays.num_factors))
        soft = {k: v for k, v in row.items() if isinstance(v, list)}
        zero = [np.array(v)[codes[small.model.variables.axis(k)]] == 0 for k, v in soft.items()]
        impossible = np.isneginf(log_p) | (np.any(zero, axis=0) if zero else False)
        assert (q[~impossible] > 0).all()


@pytest.mark.parametrize("name", ["tree", "chain_with_zeros"])
def test_on_a_tree_the_proposal_is_the_posterior(name):
    """S3-050: q = p is plain Monte Carlo, and all weights are p(evidence)."""
    small = MODELS[name]
    for row in small.rows:
        beliefs = jt.infer(small.model, row, method=jt.ImportanceSampling(draws=500), rng=0)
        assert beliefs.diagnostics.effective_sample_size == pytest.approx(500)
        assert beliefs.log_evidence == pytest.approx(jt.infer(small.model, row).log_evidence, abs=1e-9)


@pytest.mark.parametrize("proposal", ["loopy", "adaptive", "prior", jt.LoopyBP(max_steps=1), jt.example("asia")])
def test_proposals(proposal):
    """S0-285, S3-050, S3-053: every proposal estimates the same, within its own standard errors."""
    asia, engine = jt.example("asia"), jt.ImportanceSampling(draws=3000, proposal=proposal)
    beliefs, exact = jt.infer(asia, XRAY, method=engine, rng=1), jt.infer(asia, XRAY)
    for name in asia.variables.names:
        errors = beliefs.diagnostics.standard_error(name)
        assert (abs(beliefs[name].values - exact[name].values) <= 4.5 * errors).all()
    assert abs(beliefs.log_evidence - exact.log_evidence) <= 4.5 * beliefs.diagnostics.log_evidence_error + 1e-9
    joint = beliefs.joint("lung", "bronc")
    assert joint.marginal("bronc").values == pytest.approx(beliefs["bronc"].values)
    assert joint.values == pytest.approx(exact.joint("lung", "bronc").values, abs=0.08)


def test_variance_is_below_its_bound():
    """S0-286, S3-054: |f| ≤ 1 gives Var ≤ (1/n) ∫ p²/q; the draws are worth n / (1 + χ²)."""
    asia = jt.example("asia")
    found = jt.infer(asia, XRAY, method=jt.LikelihoodWeighting(draws=4000), rng=0).diagnostics
    assert found.effective_sample_size == pytest.approx(4000 / (1 + found.chi_square))
    assert (found.standard_error("lung") ** 2 <= (1 + found.chi_square) / 4000 + 1e-6).all()


def test_a_simpler_model_as_proposal():
    asia = jt.example("asia")
    simpler = asia.with_conditional(
        jt.Conditional(asia.variable("lung"), [asia.variable("smoke")], np.full((2, 2), 0.5))
    )
    beliefs = jt.infer(asia, XRAY, method=jt.ImportanceSampling(draws=3000, proposal=simpler), rng=0)
    exact = jt.infer(asia, XRAY)
    assert abs(beliefs["lung"]["yes"] - exact["lung"]["yes"]) < 4.5 * beliefs.diagnostics.standard_error("lung")[0]
    assert abs(beliefs.log_evidence - exact.log_evidence) < 4.5 * beliefs.diagnostics.log_evidence_error
    with pytest.raises(jt.errors.InvalidModel, match="has the variables of the model"):
        jt.infer(asia, XRAY, method=jt.ImportanceSampling(proposal=jt.example("fuel")))


def uniform(given, n, rng):
    """Every state of the fuel network alike."""
    names = [name for name in ("B", "F", "G") if name not in given]
    return {name: rng.integers(2, size=n) for name in names}, np.full(n, -len(names) * math.log(2.0))


def test_a_function_as_proposal():
    """S0-288, S3-057: unnormalised factors and any q."""
    fuel = jt.example("fuel")
    for model in (fuel, fuel.to_factor_graph()):
        beliefs = jt.infer(model, {"G": 0}, method=jt.ImportanceSampling(draws=5000, proposal=uniform), rng=0)
        assert abs(beliefs["F"][0] - 9 / 35) < 4.5 * beliefs.diagnostics.standard_error("F")[0]
        assert abs(beliefs.log_evidence - math.log(0.315)) < 4.5 * beliefs.diagnostics.log_evidence_error


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda given, n, rng: 3, "columns by name"),
        (lambda given, n, rng: ({}, np.zeros(n)), "no column for 'B'"),
        (lambda given, n, rng: ({"B": np.full(n, 7), "F": np.zeros(n, int)}, np.zeros(n)), "a code from 0 to 1"),
        (lambda given, n, rng: ({"B": np.zeros(n, int), "F": np.zeros(n, int)}, np.nan), "log q of each"),
    ],
)
def test_wrong_functions_are_refused(function, message):
    with pytest.raises(jt.errors.InvalidData, match=message):
        jt.infer(jt.example("fuel"), {"G": 0}, method=jt.ImportanceSampling(proposal=function))


def test_smoothing_changes_heavy_weights_only():
    """S3-059: a constant is estimated exactly; smoothed weights are still a distribution."""
    asia = jt.example("asia")
    plain = jt.infer(asia, XRAY, method=jt.ImportanceSampling(draws=2000), rng=0)
    smooth = jt.infer(asia, XRAY, method=jt.ImportanceSampling(draws=2000, smoothing=True), rng=0)
    assert smooth["lung"].values.sum() == pytest.approx(1.0)
    assert smooth["lung"]["yes"] == pytest.approx(plain["lung"]["yes"], abs=0.02)
    assert smooth.joint("lung", "tub").marginal("lung").values == pytest.approx(smooth["lung"].values)


def test_weights_that_vary_too_much_are_said():
    x, y = jt.Variable("x", 2000), jt.Variable("y", 2)
    shares = np.random.default_rng(0).pareto(0.4, 2000)
    noisy = jt.BayesianNetwork(
        [
            jt.Conditional(x, [], np.full(2000, 1 / 2000)),
            jt.Conditional(y, [x], np.stack([1 - shares / shares.max(), shares / shares.max()], axis=1)),
        ]
    )
    with pytest.warns(jt.errors.NotConvergedWarning, match="vary too much"):
        beliefs = jt.infer(noisy, {"y": 1}, method="likelihood-weighting", rng=0)
    assert not beliefs.converged


def rare_cause(num_others=0):
    """A cause of 1e-5 that explains a finding of 1e-5 without it: .47 by Bayes' rule; other causes have no effect."""
    cause, finding = jt.Variable("cause", 2), jt.Variable("finding", 2)
    others = [jt.Variable(f"other{place}", 2) for place in range(num_others)]
    strengths = [0.9, *[0.0] * num_others]
    parts = [jt.Conditional(cause, [], [1 - 1e-5, 1e-5]), *(jt.Conditional(one, [], [0.5, 0.5]) for one in others)]
    return jt.BayesianNetwork([*parts, jt.NoisyOr(finding, [cause, *others], strengths, leak=1e-5)])


@pytest.mark.parametrize("num_others", [0, 20])  # a table; a conditional whose table is not written out
@pytest.mark.parametrize("engine", [jt.LikelihoodWeighting(), jt.ImportanceSampling(proposal="prior")])
def test_a_cause_that_no_draw_met_leaves_the_error_unknown(engine, num_others):
    """Draws may weigh far more than those that were met: no answer says that it knows its error, and each covers."""
    model, truth = rare_cause(num_others), 0.9 * 1e-5 / (0.9 * 1e-5 + 1e-5)
    for seed in range(5):
        with pytest.warns(jt.errors.NotConvergedWarning, match="cannot tell their error|vary too much"):
            beliefs = jt.infer(model, {"finding": 1}, method=engine, rng=seed)
        assert not beliefs.converged
        assert abs(beliefs["cause"].values[1] - truth) < beliefs.diagnostics.standard_error("cause")[1]
        log_truth = math.log(1.9e-5)
        assert abs(beliefs.log_evidence - log_truth) < beliefs.diagnostics.log_evidence_error + 1e-4


def test_a_number_that_no_draw_came_near_leaves_the_error_unknown():
    """S3-055: y = x + noise is observed far from all draws of x: the largest density is that of the noise alone."""
    x, y = jt.Variable("x"), jt.Variable("y")
    model = jt.BayesianNetwork([jt.LinearGaussian(x, [], [], 0.0, 1.0), jt.LinearGaussian(y, [x], [1.0], 0.0, 1e-4)])
    with pytest.warns(jt.errors.NotConvergedWarning, match="cannot tell their error"):
        beliefs = jt.infer(model, {"y": 8.0}, method=jt.LikelihoodWeighting(draws=1000), rng=0)
    assert beliefs.diagnostics.standard_error("x") == math.inf
    near = jt.infer(model, {"y": 0.5}, method=jt.LikelihoodWeighting(draws=20_000), rng=0)
    assert near.converged
    assert math.isfinite(near.diagnostics.standard_error("x"))


def test_no_draw_exceeds_the_largest_weight_and_ordinary_findings_are_no_alarm():
    """Findings that are drawn from the model itself, on a network of 37 variables."""
    alarm, rng = jt.example("alarm"), np.random.default_rng(0)
    rows = jt.sample(alarm, 20, rng=1).to_dict()
    engine = jt.LikelihoodWeighting(draws=2000)
    for row in range(20):
        names = rng.choice(list(rows), rng.integers(1, 8), replace=False)
        findings = as_findings({name: rows[name][row] for name in names}, alarm.variables)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = engine.ask(alarm, Query(findings, rng=rng))
        (part,) = answers.tallies
        assert part.log_scale <= part.log_largest + 1e-12
        assert part.missed_share == 0.0


def test_impossible_and_rare_evidence():
    asia, clash = jt.example("asia"), {"lung": "yes", "either": "no"}
    for method in ("likelihood-weighting", "importance"):
        with pytest.raises(jt.ImpossibleEvidence, match=r"none of 10,?000 draws"):
            jt.infer(asia, clash, method=method, rng=0)
        with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 row of 2"):
            beliefs = jt.infer(asia, [XRAY, clash], method=method, rng=0)
        assert beliefs.impossible == (1,)
        assert np.isnan(beliefs["smoke"].values[1]).all()
        assert np.isfinite(beliefs["smoke"].values[0]).all()


def test_draws_and_rows():
    asia = jt.example("asia")
    findings = as_findings(XRAY, asia.variables)
    for engine in (jt.LikelihoodWeighting(), jt.ImportanceSampling()):
        draws = engine.draw(asia, findings, 500, np.random.default_rng(0))
        assert draws["lung"].shape == (1, 500)
        assert draws.log_weights is not None
        rows = jt.infer(asia, XRAY, method=engine, rng=0).sample(2000, rng=1)
        assert rows == jt.infer(asia, XRAY, method=engine, rng=7).sample(2000, rng=1)
        assert set(rows.columns["xray"]) == {0}
        share = float((rows.columns["lung"] == 0).mean())
        assert share == pytest.approx(jt.infer(asia, XRAY)["lung"]["yes"], abs=0.08)


@pytest.mark.parametrize("engine", [jt.LikelihoodWeighting, jt.RejectionSampling])
def test_engines_that_need_directions_say_so(engine):
    with pytest.raises(jt.errors.Unsupported, match="takes a BayesianNetwork"):
        jt.infer(MODELS["grid"].model, method=engine())


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", [jt.LikelihoodWeighting(1000), jt.ImportanceSampling(1000), jt.RejectionSampling(500)]
)
def test_ninety_per_cent_intervals_hold_nine_times_of_ten(engine):
    """S0-278, S3-038: over 400 repetitions; a binomial test at 0.001 for each variable."""
    asia, row = jt.example("asia"), {"dysp": "yes", "smoke": [0.2, 0.8]}
    exact, findings = jt.infer(asia, row), as_findings(row, asia.variables)
    plan, hits = engine.compile(asia, findings.names), []
    for seed in range(400):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = plan.run(asia, Query(findings, rng=np.random.default_rng([7, seed])))
        near = [
            abs(answers.marginal((name,))[0, 0] - exact[name].values[0])
            <= 1.6449 * answers.diagnostics.standard_error(name)[0]
            for name in ("tub", "lung", "smoke", "bronc", "either", "xray")
        ]
        hits.append(near)
    shares = np.mean(hits, axis=0)
    assert (abs(shares - 0.9) < 3.3 * math.sqrt(0.09 / 400)).all()
    assert 0.885 <= shares.mean() <= 0.915
