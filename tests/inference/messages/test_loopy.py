"""Loopy belief propagation: the numbers of the sources, forests, zeros and ranges, and how a run ends."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import NotConvergedWarning, Unsupported
from juncture.inference.messages.loopy import MaxProductBP
from support.approximate_engines import MODELS
from support.builders import random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)
SCHEDULES = ["residual", "flooding"]
LOG_18 = np.log(18.0)


def ring(num_nodes, table):
    x = [jt.Variable(f"x{index}", len(table)) for index in range(num_nodes)]
    return jt.MarkovNetwork([jt.Factor([x[i], x[(i + 1) % num_nodes]], table) for i in range(num_nodes)])


def chain(num_nodes, table=((0.9, 0.1), (0.2, 0.8))):
    x = [jt.Variable(f"x{index}", 2) for index in range(num_nodes)]
    pairs = itertools.pairwise(x)
    return jt.MarkovNetwork([jt.Factor([x[0]], [0.3, 0.7]), *(jt.Factor([a, b], table) for a, b in pairs)])


# --- numbers of the sources ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_triangle_of_ising(schedule):
    """S0-219, S0-234: exact 13/18, loopy belief propagation (5 + √5)/10; the Bethe log Z from the messages r : 1."""
    model = MODELS["triangle"].model
    beliefs, exact = jt.infer(model, method=jt.LoopyBP(schedule=schedule)), jt.infer(model)
    assert exact["x0"][1] == pytest.approx(13 / 18, abs=1e-14)
    assert exact.log_evidence == pytest.approx(LOG_18, abs=1e-13)
    assert beliefs["x0"][1] == pytest.approx((5 + np.sqrt(5)) / 10, abs=1e-9)
    assert (beliefs.exact, beliefs.converged) == (False, True)
    largest = (3 + np.sqrt(5)) / 2  # of the eigenvalues of the table: a ring of n has the Bethe log Z n log of it
    assert beliefs.log_evidence == pytest.approx(3 * np.log(largest), abs=1e-9)


def test_a_single_cycle_decodes_the_best_assignment():
    """S4-233: on one cycle the states of max-product are right; beliefs of a 3 by 3 grid are near the exact ones."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        model = ring(5, np.exp(rng.normal(size=(3, 3))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            best = jt.most_probable(model, method="max-product")
        if best.converged:
            assert best.log_joint == pytest.approx(jt.most_probable(model).log_joint, abs=1e-9)
    grid = jt.ising((3, 3), coupling=0.3, field=0.2, values=(-1, 1))
    loopy, exact = jt.infer(grid, method="loopy"), jt.infer(grid)
    gaps = [np.abs(loopy[name].values - exact[name].values).max() for name in grid.variables.names]
    assert 1e-6 < max(gaps) < 0.03


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
def test_an_estimate_of_the_evidence_gives_no_probability_of_states():
    """After one step the Bethe log Z lies below the log of the product of factors at the states that were found."""
    model, engine = ring(3, np.diag([1.0, 0.5, 0.1]) + 1e-3), jt.LoopyBP(max_steps=1)
    beliefs, best = (verb(model, method=engine) for verb in (jt.infer, jt.most_probable))
    assert beliefs.log_evidence < best.log_joint
    assert best.log_prob is None
    assert np.isnan(jt.most_probable(model, [{}, {"x0": 1}], method=engine).log_prob).all()
    observed, known = (jt.most_probable(model, {"x0": 1}, method=method) for method in ("loopy", "exact"))
    assert (observed.exact, observed.log_prob) == (True, pytest.approx(known.log_prob, abs=1e-12))


def test_fixed_points_are_stationary_points_of_the_bethe_energy():
    """S4-249: beliefs of factors have the beliefs of nodes as marginals, and the energy is flat along messages."""
    small = MODELS["grid"]
    beliefs = jt.infer(small.model, method=jt.LoopyBP(tolerance=1e-12))
    energy, degrees = 0.0, dict.fromkeys(small.model.variables.names, 0)
    for part in small.model.factors:
        table = beliefs.joint(*part.scope.names).values
        energy += float((table * (np.log(part.values) - np.log(table))).sum())
        for name in part.scope.names:
            degrees[name] += 1
            axes = tuple(axis for axis, other in enumerate(part.scope.names) if other != name)
            assert table.sum(axis=axes) == pytest.approx(beliefs[name].values, abs=1e-10)
    for name, degree in degrees.items():
        energy += (degree - 1) * float((beliefs[name].values * np.log(beliefs[name].values)).sum())
    assert energy == pytest.approx(beliefs.log_evidence, abs=1e-9)


# --- forests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_what_is_said_to_be_exact_is(build, schedule, seed):
    """S2-165, S4-229: exact on trees, also on those that evidence leaves over, with the Bethe log Z; impossible
    evidence is impossible.
    """
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = random_evidence(model, rng)
    engine = jt.LoopyBP(schedule=schedule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        try:
            beliefs = jt.infer(model, evidence, method=engine)
        except jt.ImpossibleEvidence:
            with pytest.raises(jt.ImpossibleEvidence):
                jt.infer(model, evidence)
            return
        best = jt.most_probable(model, evidence, method=engine) if beliefs.exact else None
    if beliefs.exact:
        exact = jt.infer(model, evidence)
        assert beliefs.log_evidence == pytest.approx(exact.log_evidence, abs=1e-10)
        for name in model.variables.names:
            assert beliefs[name].values == pytest.approx(exact[name].values, abs=1e-10)
        if best.exact:
            assert best.log_joint == pytest.approx(jt.most_probable(model, evidence).log_joint, abs=1e-9)


def test_the_number_of_steps_on_a_chain():
    """To the root and back; flooding takes a step for each edge of the longest path, and one that changes nothing."""
    model = chain(30)
    assert jt.infer(model, method="loopy").diagnostics.steps == 2
    flooded = jt.infer(model, method=jt.LoopyBP(schedule="flooding", damping=0.3))
    assert (flooded.exact, flooded.diagnostics.steps, flooded.diagnostics.residual) == (True, 30, 0.0)
    with pytest.warns(NotConvergedWarning, match="max_steps"):
        short = jt.infer(model, method=jt.LoopyBP(schedule="flooding", max_steps=10))
    assert (short.exact, short.converged) == (False, False)


def test_observed_variables_cut_cycles():
    model = ring(6, [[3.0, 1.0], [1.0, 2.0]])
    assert jt.infer(model, {"x2": 1}, method="loopy").exact
    assert not jt.infer(model, [{"x2": 1}, {}], method="loopy").exact


def test_a_long_chain_with_rare_findings():
    model = chain(4_000)
    evidence = {f"x{index}": [1e-30, 1.0] for index in range(0, 4_000, 2)}
    assert jt.infer(model, evidence, method="loopy").log_evidence == pytest.approx(
        jt.infer(model, evidence).log_evidence, rel=1e-12
    )


# --- zeros and ranges ------------------------------------------------------------------------------------------------


def test_numbers_beyond_the_range_of_doubles():
    """Tables, likelihoods, and products of messages that only logarithms hold; other rows stay as they are."""
    wide = chain(4, np.exp([[0.0, -600.0], [-500.0, -1.0]]))
    assert jt.infer(wide, method="loopy")["x3"][0] == pytest.approx(jt.infer(wide)["x3"][0], abs=1e-12)
    x = [jt.Variable(f"x{index}", 2) for index in range(5)]
    star = jt.MarkovNetwork([jt.Factor([x[0], other], [[1.0, 1e-90], [1e-90, 1.0]]) for other in x[1:]])
    rows = [{f"x{index}": 1 for index in range(1, 5)}, {"x1": 0}]
    many, exact = jt.infer(star, rows, method="loopy"), jt.infer(star, rows)
    assert many.log_evidence == pytest.approx(exact.log_evidence, abs=1e-10)
    assert np.log(many["x0"].values[0, 1]) == pytest.approx(np.log(exact["x0"].values[0, 1]), abs=1e-12)
    assert np.array_equal(many["x0"].values[1], jt.infer(star, rows[1], method="loopy")["x0"].values)


def test_contradictions_that_messages_discover():
    asia = jt.example("asia")
    with pytest.raises(jt.ImpossibleEvidence, match="lung=yes, either=no cannot occur together"):
        jt.infer(asia, {"lung": "yes", "either": "no", "smoke": "yes"}, method="loopy")
    with pytest.raises(jt.ImpossibleEvidence):
        jt.most_probable(asia, {"lung": "yes", "either": "no"}, method="max-product")
    rows = [{"xray": "yes"}, {"lung": "yes", "either": "no"}]
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        beliefs = jt.infer(asia, rows, method="loopy")
    assert beliefs.impossible == (1,)
    assert np.isnan(beliefs["bronc"].values[1]).all()
    assert np.isfinite(beliefs["bronc"].values[0]).all()


# --- how a run ends --------------------------------------------------------------------------------------------------


def frustrated():
    """All variables want to differ from all others: plain messages go back and forth."""
    x = [jt.Variable(f"x{index}", 2) for index in range(8)]
    pairs = [jt.Factor([x[a], x[b]], [[1.0, 4.0], [4.0, 1.0]]) for a in range(8) for b in range(a)]
    return jt.MarkovNetwork([*pairs, *(jt.Factor([one], [1.0, 1.5]) for one in x)])


def test_messages_that_do_not_converge_are_reported():
    with pytest.warns(NotConvergedWarning, match="damping"):
        beliefs = jt.infer(frustrated(), method=jt.LoopyBP(schedule="flooding", max_steps=50))
    assert (beliefs.converged, beliefs.exact) == (False, False)
    assert beliefs.diagnostics.residual > 1e-3
    assert np.isfinite(beliefs.log_evidence)


def test_large_graphs_flood_on_any_number_of_threads_as_small_ones_do(monkeypatch):
    model = jt.potts((12, 12), num_states=3, coupling=0.5, field=np.random.default_rng(0).normal(size=(12, 12, 3)))
    engine = jt.LoopyBP(schedule="flooding", damping=0.1)
    known = jt.infer(model, method=engine)
    monkeypatch.setattr("juncture.inference.messages.loopy.NODES_AT_ONCE", 50)
    for threads in (1, 3):
        jt.set_num_threads(threads)
        beliefs = jt.infer(model, method=engine)
        jt.set_num_threads(None)
        assert beliefs.diagnostics == known.diagnostics
        assert all(np.array_equal(beliefs[name].values, known[name].values) for name in model.variables.names)


def test_expectation_maximization_by_loopy_beliefs():
    model = jt.example("cancer")
    rows = [{"Pollution": "low", "Cancer": "True"}, {"Xray": "positive", "Smoker": "True"}, {"Dyspnoea": "False"}]
    method = jt.ExpectationMaximization(max_steps=5, tolerance=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        mine, exact = (jt.fit(model, rows, prior=1.0, engine=engine, method=method) for engine in ("loopy", "auto"))
    assert mine.trace.values == pytest.approx(exact.trace.values, abs=1e-6)


def test_the_width_of_a_run_is_that_of_its_largest_factor():
    assert [jt.LoopyBP().compile(MODELS[name].model).cost.width for name in ("grid", "tree", "wide_factors")] == [
        1,
        2,
        3,
    ]
    assert jt.LoopyBP().compile(jt.MarkovNetwork([], [jt.Variable("a", 2)])).cost.width == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"damping": 1.0}, "damping must be a number of at least 0 and below 1"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"max_steps": 0}, "max_steps"),
        ({"schedule": "random"}, "schedule"),
    ],
)
def test_options_that_are_refused(options, words):
    with pytest.raises(jt.JunctureError, match=words):
        jt.LoopyBP(**options)


def test_questions_that_are_refused():
    asia = jt.example("asia")
    with pytest.raises(Unsupported, match="share a factor"):
        jt.infer(asia, method="loopy").joint("asia", "dysp")
    with pytest.raises(Unsupported, match="sums none out"):
        jt.most_probable(asia, targets=["lung"], method="loopy")
    with pytest.raises(Unsupported, match="one assignment"):
        jt.most_probable(asia, k=2, method="loopy")
    with pytest.raises(Unsupported, match=r"most_probable|marginals"):
        jt.infer(asia, method=MaxProductBP())
    with pytest.raises(jt.errors.TooLarge, match="messages"):
        jt.infer(asia, method="loopy", memory_limit=100)
