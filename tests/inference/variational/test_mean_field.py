"""Mean field: a stationary point of the lower bound, against the whole joint table; the numbers of the sources."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.base.compilation import set_compilation
from juncture.errors import InvalidData, Unsupported
from support.builders import dense_field, joint_table, random_evidence, random_field, random_network

SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def _may_end_early():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "mean field has not converged")
        yield


def weigh(model, evidence):
    """The joint table times the likelihood of the evidence."""
    table = joint_table(model)
    for axis, variable in enumerate(model.variables):
        value = evidence.get(variable.name)
        if value is not None:
            likelihood = value if isinstance(value, list) else np.eye(variable.num_states)[variable.code(value)]
            table = table * np.reshape(likelihood, [-1 if axis == at else 1 for at in range(table.ndim)])
    return table


def expected_logs(table, beliefs, axis=None):
    """E log p(x, evidence) under the product of the beliefs; given each state of one axis, if one is named."""
    weights = np.ones(())
    for at, belief in enumerate(beliefs):
        weights = np.multiply.outer(weights, np.ones(len(belief)) if at == axis else belief)
    logs = np.log(np.where(table > 0, table, 1.0))
    logs[(table == 0) & (weights > 0)] = -np.inf
    others = tuple(at for at in range(table.ndim) if at != axis)
    return np.where(weights > 0, weights * np.where(weights > 0, logs, 0.0), 0.0).sum(axis=others)


def entropy(belief):
    return -sum(p * math.log(p) for p in belief if p > 0)


def ising(num_nodes, edges, field, coupling):
    """Σ field · x + Σ coupling · x · x' with x in {0, 1}."""
    return jt.MarkovNetwork.from_energies(
        [
            *(([jt.Variable(f"x{node}", 2)], [0.0, -field]) for node in range(num_nodes)),
            *(([jt.Variable(f"x{i}", 2), jt.Variable(f"x{j}", 2)], [[0.0, 0.0], [0.0, -coupling]]) for i, j in edges),
        ]
    )


TRIANGLE = [(0, 1), (1, 2), (0, 2)]


@pytest.mark.parametrize("build", [random_network, random_field])
@given(seed=SEEDS)
def test_the_answer_is_a_stationary_point_and_its_bound_is_true(build, seed):
    """S4-244, S4-245, S0-310, S0-312, S0-313, S2-166: also with zeros, where the bound stays finite."""
    rng = np.random.default_rng(seed)
    model = build(rng)
    evidence = random_evidence(model, rng)
    found = jt.infer(model, evidence, method=jt.MeanField(starts=2), rng=seed)
    table = weigh(model, evidence)
    assert np.isfinite(found.log_evidence)
    assert found.diagnostics.lower == found.log_evidence
    assert found.log_evidence <= math.log(table.sum()) + 1e-9
    assert not found.exact
    beliefs = [found[name].values for name in model.variables.names]
    assert all(belief.sum() == pytest.approx(1.0, abs=1e-12) for belief in beliefs)
    if found.answers.arrays.num_nodes > len(beliefs):
        return  # hidden variables of noisy conditionals have distributions of their own
    bound = float(expected_logs(table, beliefs)) + sum(map(entropy, beliefs))
    assert found.log_evidence == pytest.approx(bound, abs=1e-9)
    if found.converged:
        for axis, belief in enumerate(beliefs):
            logs = expected_logs(table, beliefs, axis)
            best = np.exp(logs - logs.max())
            assert belief == pytest.approx(best / best.sum(), abs=1e-6)


@given(seed=SEEDS)
def test_the_bound_never_falls(seed):
    """S0-314: after each sweep, in each row; the ascent itself raises where it falls."""
    rng = np.random.default_rng(seed)
    model = dense_field(rng, zeros=0.2)
    rows = jt.sample(model, 3, rng=seed).to_pandas().iloc[:, :3]
    bounds = [jt.infer(model, rows, method=jt.MeanField(max_steps=steps)).log_evidence for steps in (1, 2, 3, 50)]
    assert (np.diff(bounds, axis=0) >= -1e-9).all()


def test_a_row_alone_has_the_answer_that_it_has_among_others():
    model = jt.example("alarm")
    rows = jt.sample(model, 8, rng=0).to_pandas().iloc[:, ::2]
    engine = jt.MeanField(starts=3)
    together = jt.infer(model, rows, method=engine, rng=1)
    for row in range(8):
        alone = jt.infer(model, rows.iloc[[row]], method=engine, rng=1)
        assert alone.log_evidence[0] == together.log_evidence[row]
        assert np.array_equal(alone["CVP"].values[0], together["CVP"].values[row])


def test_numbers_of_the_ising_examples():
    """S0-315: two nodes, the triangle, and the bistable pair with its saddle point at the uniform start."""
    pair = jt.infer(ising(2, [(0, 1)], 0.0, math.log(2)), method="mean-field")
    assert pair["x0"][1] == pytest.approx(0.602996, abs=1e-6)
    assert pair.log_evidence == pytest.approx(1.595588, abs=1e-6)
    triangle = jt.infer(ising(3, TRIANGLE, 0.0, math.log(2)), method="mean-field")
    assert triangle["x0"][1] == pytest.approx(0.734676, abs=1e-6)
    assert triangle.log_evidence == pytest.approx(2.858033, abs=1e-6)
    bistable = ising(2, [(0, 1)], -4.0, 8.0)
    saddle = jt.infer(bistable, method="mean-field")
    assert saddle["x0"][1] == pytest.approx(0.5, abs=1e-9)
    assert saddle.log_evidence == pytest.approx(-0.613706, abs=1e-6)
    best = jt.infer(bistable, method=jt.MeanField(starts=4))
    assert min(best["x0"].values) == pytest.approx(0.021248, abs=1e-6)
    assert best.log_evidence == pytest.approx(0.039342, abs=1e-6)
    assert best.log_evidence < jt.infer(bistable).log_evidence == pytest.approx(0.711297, abs=1e-6)
    for start, expected in ((0.9, 0.978752), (0.1, 0.021248)):
        given_start = jt.MeanField(start={"x0": [1 - start, start], "x1": [1 - start, start]})
        assert jt.infer(bistable, method=given_start)["x0"][1] == pytest.approx(expected, abs=1e-6)


def test_a_model_without_edges_is_answered_exactly():
    """S0-312, S4-244: in one sweep."""
    model = ising(5, [], 0.7, 0.0)
    found, exact = jt.infer(model, method="mean-field"), jt.infer(model)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-12)
    assert found["x3"].values == pytest.approx(exact["x3"].values, abs=1e-12)
    assert found.diagnostics.steps <= 2


def test_mean_field_is_not_dropping_the_edges():
    """S0-317: from the product without edges, coordinate ascent strictly improves the bound."""
    model, free = ising(4, [(0, 1), (1, 2), (2, 3), (0, 3)], -0.5, 1.5), 1 / (1 + math.exp(0.5))
    start = {f"x{node}": [1 - free, free] for node in range(4)}
    logs = np.log(joint_table(model))
    dropped = float(expected_logs(np.exp(logs), list(start.values()))) + 4 * entropy(start["x0"])
    found = jt.infer(model, method=jt.MeanField(start=start))
    assert dropped + 0.05 < found.log_evidence < jt.infer(model).log_evidence


def test_a_sweep_from_certain_states_gives_the_conditionals_of_gibbs_sampling():
    """S0-316."""
    model = ising(3, TRIANGLE, -0.3, 0.8)
    states = {"x0": [1, 0], "x1": [0, 1], "x2": [0, 1]}
    first = jt.infer(model, method=jt.MeanField(start=states, max_steps=1))
    assert first["x0"].values == pytest.approx(jt.infer(model, {"x1": 1, "x2": 1})["x0"].values, abs=1e-12)


@pytest.mark.parametrize(("trust", "center"), [(0.1, 0.999177), (1, 0.995051), (3, 0.761590), (5, -0.761596)])
def test_an_isolated_pixel_is_restored_unless_observations_are_trusted(trust, center):
    """S4-246, S4-259: a 5 × 5 image of ones with one flipped pixel, which is restored for σ below 4."""
    image = np.ones((5, 5))
    image[2, 2] = -1
    model = jt.ising((5, 5), coupling=1.0, field=trust * image, values=(-1, 1))
    start = np.stack([image < 0, image > 0], axis=-1).astype(float)
    found = jt.infer(model, method=jt.MeanField(start=start))
    assert found["x2_2"].values @ [-1, 1] == pytest.approx(center, abs=2e-6)


def test_a_negative_trust_has_two_optima():
    """S4-259 d: from the image the answer stays upright; from anywhere near 0 it is inverted."""
    image = np.ones((5, 5))
    image[2, 2] = -1
    model = jt.ising((5, 5), coupling=1.0, field=-0.1 * image, values=(-1, 1))
    start = np.stack([image < 0, image > 0], axis=-1).astype(float)
    upright = jt.infer(model, method=jt.MeanField(start=start)).array @ [-1, 1]
    inverted = jt.infer(model, method="mean-field").array @ [-1, 1]
    assert upright[2, 2] == pytest.approx(0.999447, abs=1e-6)
    assert inverted[2, 2] == pytest.approx(-0.999177, abs=1e-6)
    assert inverted[0, 0] == pytest.approx(-0.969942, abs=1e-6)


def test_a_potts_grid_is_answered_as_its_factors_are():
    """S0-314: arrays and factor objects, pairwise and merged into larger factors, give one answer."""
    rng = np.random.default_rng(0)
    model = jt.potts((3, 4), num_states=3, coupling=0.4, field=rng.normal(size=(3, 4, 3)))
    arrays, factors = (jt.infer(one, method="mean-field") for one in (model, model.to_markov_network()))
    assert arrays.log_evidence == pytest.approx(factors.log_evidence, abs=1e-10)
    assert arrays["x1_2"].values == pytest.approx(factors["x1_2"].values, abs=1e-8)
    merged = jt.infer(model.to_markov_network().merge(0, 12), method="mean-field")
    assert merged.log_evidence == pytest.approx(arrays.log_evidence, abs=1e-8)


def test_compiled_and_interpreted_sweeps_agree():
    model = dense_field(np.random.default_rng(3), zeros=0.3)
    spins = jt.ising((4, 4), coupling=0.3, field=0.2, values=(-1, 1))
    for one in (model, spins):
        try:
            set_compilation("always")
            compiled = jt.infer(one, method="mean-field")
            set_compilation("never")
            interpreted = jt.infer(one, method="mean-field")
        finally:
            set_compilation(None)
        assert interpreted.log_evidence == pytest.approx(compiled.log_evidence, abs=1e-12)


def test_a_budget_names_the_engine_that_repeats_the_answer():
    model = jt.ising((40, 40), coupling=0.44, field=0.01, values=(-1, 1))
    with pytest.warns(jt.errors.NotConvergedWarning, match="its budget ended"):
        cut = jt.infer(model, method=jt.MeanField(starts=3), budget=0.0)
    repeated = jt.infer(model, method=cut.diagnostics.engine)
    assert not cut.converged
    assert cut.diagnostics.engine.max_steps == cut.diagnostics.steps == 1
    assert repeated.log_evidence == cut.log_evidence
    assert np.array_equal(repeated.array, cut.array)
    assert jt.infer(model, method="mean-field", budget=60.0).diagnostics.engine is None


def test_gaussian_models_have_exact_means_and_too_small_variances():
    """S4-247: correlation 0.9 gives variances 0.19, and KL(q ‖ p) = 0.830366 is the gap of the bound."""
    x, y = jt.Variable("x"), jt.Variable("y")
    model = jt.MarkovNetwork([jt.GaussianFactor([x, y], [0.3, -1.0], np.linalg.inv([[1.0, 0.9], [0.9, 1.0]]))])
    found, exact = jt.infer(model, method="mean-field"), jt.infer(model)
    assert found["x"].mean == pytest.approx(exact["x"].mean, abs=1e-12)
    assert found["x"].variance == pytest.approx(0.19, abs=1e-12)
    assert exact.log_evidence - found.log_evidence == pytest.approx(0.830366, abs=1e-6)
    assert found.joint("x", "y").covariance == pytest.approx(0.19 * np.eye(2), abs=1e-12)
    network = jt.BayesianNetwork([jt.LinearGaussian(x, [], [], 1.0, 2.0), jt.LinearGaussian(y, [x], [1.5], 0.0, 0.5)])
    rows = [{"y": 1.0}, {"x": 0.5}, {"x": 0.5, "y": 2.0}]
    found, exact = jt.infer(network, rows, method="mean-field"), jt.infer(network, rows)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-10)  # one unknown is a product
    assert found["x"].mean == pytest.approx(exact["x"].mean, abs=1e-12)
    free = jt.infer(network, method="mean-field")
    covariance = jt.infer(network).joint("x", "y").covariance
    precision = np.linalg.inv(covariance)
    assert free["y"].variance == pytest.approx(1 / precision[1, 1], abs=1e-12)
    gap = 0.5 * (np.log(np.diag(precision)).sum() - np.linalg.slogdet(precision)[1])
    assert free.log_evidence == pytest.approx(-gap, abs=1e-12)
    same = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), jt.LinearGaussian(y, [x], [1.0], 0.0, 0.0)])
    with pytest.raises(Unsupported, match="equation without noise"):
        jt.infer(same, method="mean-field")


def test_variational_em_raises_its_bound_and_is_em_where_the_posterior_is_a_product():
    """S4-254: with one hidden variable q is unrestricted, which is EM."""
    graph = jt.DirectedGraph([("h", "a"), ("h", "b"), ("h", "c")])
    rng = np.random.default_rng(0)
    hidden = rng.integers(2, size=80)
    rows = {name: np.where(rng.random(80) < 0.2, 1 - hidden, hidden) for name in "abc"}
    options = {"variables": [jt.Variable("h", 2)], "rng": 0}
    method = jt.ExpectationMaximization(max_steps=10, tolerance=0.0)
    mine, known = (
        quietly(lambda engine=engine: jt.fit(graph, rows, engine=engine, method=method, **options))
        for engine in ("mean-field", "auto")
    )
    assert mine.trace.values == pytest.approx(known.trace.values, abs=1e-7)
    two = jt.DirectedGraph([("h", "a"), ("h", "b"), ("g", "b"), ("g", "c")])
    both = quietly(
        lambda: jt.fit(
            two, rows, engine="mean-field", method=method, variables=[jt.Variable("h", 2), jt.Variable("g", 2)], rng=1
        )
    )
    assert (np.diff(both.trace.values) >= -1e-9).all()
    assert both.trace.values[-1] > both.trace.values[0] + 0.1
    assert both.trace.values[-1] <= np.sum(jt.log_prob(both.model, rows)) + 1e-9


def quietly(run):
    with pytest.warns(jt.errors.NotConvergedWarning):
        return run()


def test_what_is_refused_and_what_is_impossible():
    model = jt.example("asia")
    with pytest.raises(Unsupported, match=r"'mean-field' does not answer mode.*'junction-tree'"):
        jt.most_probable(model, method="mean-field")
    with pytest.raises(jt.ImpossibleEvidence, match="tub=yes, either=no"):
        jt.infer(model, {"tub": "yes", "either": "no"}, method="mean-field")
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        rows = jt.infer(model, [{"tub": "yes", "either": "no"}, {"xray": "yes"}], method="mean-field")
    assert rows.impossible == (0,)
    assert np.isnan(rows["lung"].values[0]).all()
    assert np.isfinite(rows["lung"].values[1]).all()
    with pytest.raises(InvalidData, match="starts"):
        jt.MeanField(starts=0)
    with pytest.raises(InvalidData, match="16 numbers"):
        jt.infer(model, method=jt.MeanField(start=[0.5, 0.5]))
    with pytest.raises(jt.JunctureError, match="start of 'lung'"):
        jt.infer(model, method=jt.MeanField(start={"lung": [0.5, 0.7]}))
    with pytest.raises(jt.errors.TooLarge, match="mean field"):
        jt.infer(model, method="mean-field", memory_limit=100)


def test_no_start_that_is_possible_and_a_tree_that_is_too_large(monkeypatch):
    """A clear refusal, not an answer of NaN."""
    monkeypatch.setattr("juncture.inference.variational.coordinate_ascent.SEARCH_SECONDS", 0.0)
    names = [jt.Variable(name, 3) for name in "abcd"]
    different = 1.0 - np.eye(3)
    pairs = [(i, j) for i in range(4) for j in range(i)]  # four variables of three states, all different: impossible
    model = jt.MarkovNetwork([jt.Factor([names[i], names[j]], different) for i, j in pairs])
    with pytest.raises(Unsupported, match="no start for row 0"):
        jt.infer(model, method="mean-field")
    monkeypatch.undo()
    with pytest.raises(jt.ImpossibleEvidence):
        jt.infer(model, method="mean-field")
