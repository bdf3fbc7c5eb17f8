"""Restricted Boltzmann machines against enumeration, Markov networks and the numbers of the sources."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.latent.boltzmann.fit import (
    BatchSteps,
    difference,
    exact_gradient,
    join_biases,
    moments_of,
    moved_by,
    split_biases,
)
from juncture.latent.boltzmann.layers import all_states
from juncture.latent.boltzmann.partition_function import model_moments

TOY = jt.RestrictedBoltzmannMachine([[1, -0.5], [-1, 2], [0.5, 0.3]], [0, 0.3, -0.4], [0.2, -0.1])
ALL = np.array(list(product((0.0, 1.0), repeat=3)))
KINDS = ("bernoulli", "gaussian", "softmax")
seeds = st.integers(0, 2**32 - 1)


def machine(kind: str, seed: int, num_visible: int = 3, num_hidden: int = 2) -> jt.RestrictedBoltzmannMachine:
    rng = np.random.default_rng(seed)
    shape = (num_visible, 3) if kind == "softmax" else (num_visible,)
    weights = 0.8 * rng.standard_normal((*shape, num_hidden))
    return jt.RestrictedBoltzmannMachine(weights, rng.standard_normal(shape), rng.standard_normal(num_hidden), kind)


def rows_for(model: jt.RestrictedBoltzmannMachine, seed: int, count: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if model.visible == "gaussian":
        return rng.standard_normal((count, model.num_visible))
    return rng.integers(0, model.units.num_states, (count, model.num_visible)).astype(float)


def test_the_toy_machine_has_the_numbers_of_the_sources():
    """S4-170 to S4-172 (a-13)."""
    assert TOY.log_partition == pytest.approx(4.461354594222, abs=1e-11)
    shares = [0.04885888, 0.05181738, 0.17362332, 0.18233383, 0.07725959, 0.08722945, 0.17502993, 0.20384762]
    assert np.exp(jt.log_prob(TOY, ALL)) == pytest.approx(shares, abs=5e-9)
    assert jt.infer(TOY, [1, 0, 1]).hidden == pytest.approx([0.84553473, 0.42555748], abs=5e-9)
    assert jt.log_prob(TOY, [1, 0, 1]) == pytest.approx(-2.439213320367, abs=1e-11)
    gradient = exact_gradient(TOY, [1, 0, 1])
    by_weight = [[0.4799574, 0.04829346], [-0.36386708, -0.62794583], [0.52335345, 0.02343919]]
    assert gradient.products == pytest.approx(np.array(by_weight), abs=5e-8)
    assert gradient.hidden == pytest.approx([0.2870482, -0.31858588], abs=5e-8)
    assert gradient.visible == pytest.approx([0.45663341, -0.7348347, 0.47477172], abs=5e-8)


@given(seeds, st.sampled_from(["bernoulli", "softmax"]), st.integers(1, 4), st.integers(1, 4))
def test_the_markov_network_is_the_same_distribution(seed, kind, num_visible, num_hidden):
    """S4-174, S4-216."""
    model = machine(kind, seed, num_visible, num_hidden)
    network = model.to_markov_network()
    assert jt.infer(network).log_evidence == pytest.approx(model.log_partition, abs=1e-10)
    row = rows_for(model, seed, 1)[0]
    row[0] = np.nan
    evidence = {f"v{unit}": int(value) for unit, value in enumerate(row) if not np.isnan(value)}
    beliefs, theirs = jt.infer(model, row), jt.infer(network, evidence)
    assert beliefs.log_evidence == pytest.approx(theirs.log_evidence - model.log_partition, abs=1e-10)
    assert beliefs["h0"].values == pytest.approx(theirs["h0"].values, abs=1e-10)
    hole = beliefs.visible[0] if kind == "softmax" else [1 - beliefs.visible[0], beliefs.visible[0]]
    assert hole == pytest.approx(theirs["v0"].values, abs=1e-10)


@given(seeds, st.sampled_from(KINDS))
def test_the_gradient_is_that_of_the_likelihood(seed, kind):
    """S4-172, by finite differences along a random direction."""
    model = machine(kind, seed)
    rows = rows_for(model, seed)
    gradient, direction = exact_gradient(model, rows), exact_gradient(machine(kind, seed + 1), rows)
    step = 1e-5
    up, down = (jt.log_prob(moved_by(model, direction, sign * step, 0.0), rows).mean() for sign in (1, -1))
    slope = sum(float((mine * other).sum()) for mine, other in zip(gradient, direction, strict=True))
    assert (up - down) / (2 * step) == pytest.approx(slope, abs=1e-6)


@given(seeds, st.sampled_from(["bernoulli", "softmax"]))
def test_probabilities_add_up_and_holes_are_summed_out(seed, kind):
    model = machine(kind, seed)
    states = all_states(model.units)
    shares = np.exp(jt.log_prob(model, states))
    assert shares.sum() == pytest.approx(1.0)
    row = states[seed % len(states)].copy()
    row[seed % 3] = np.nan
    agree = np.all(np.isnan(row) | (states == row), axis=1)
    assert np.exp(jt.log_prob(model, row)) == pytest.approx(shares[agree].sum())
    assert jt.log_prob(model, [np.nan] * 3) == pytest.approx(0.0, abs=1e-12)


def test_a_gaussian_machine_is_a_mixture_of_gaussians():
    """S4-175: one component for each state of the hidden units."""
    model = machine("gaussian", 4)
    states = np.array(list(product((0.0, 1.0), repeat=2)))
    means = model.visible_input(states)
    logs = states @ model.hidden_bias + 0.5 * (means**2).sum(axis=1)
    mixture = jt.Mixture(
        np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum(), jt.MultivariateGaussian(means, np.eye(3))
    )
    rows = rows_for(model, 5)
    rows[0, 1] = rows[1] = np.nan
    assert jt.log_prob(model, rows) == pytest.approx(jt.log_prob(mixture, rows), abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_annealing_agrees_with_the_sum_within_its_error(kind):
    model = machine(kind, 2, 5, 4)
    estimate = model.annealed_log_partition(particles=300, temperatures=200, rng=1)
    assert 0 < estimate.standard_error < 0.1
    assert abs(estimate.log_evidence - model.log_partition) < 4 * estimate.standard_error


@pytest.mark.parametrize("kind", KINDS)
def test_chains_agree_with_exact_answers(kind):
    """S4-171: draws, and beliefs by Gibbs sampling."""
    model = machine(kind, 3)
    drawn = jt.sample(model, 4000, rng=0, steps=30)
    assert drawn == jt.sample(model, 4000, rng=0, steps=30)
    rows = np.stack([drawn.columns[name] for name in ("v0", "v1", "v2")], axis=1)
    expected = jt.infer(model, [np.nan] * 3).visible.reshape(-1)
    assert model.units.encode(rows.astype(float)).mean(axis=0) == pytest.approx(expected, abs=0.08)
    row = [1.0, np.nan, 0.0]
    exact, found = jt.infer(model, row), jt.infer(model, row, method="gibbs", rng=1)
    assert exact.exact
    assert not found.exact
    assert found.hidden == pytest.approx(exact.hidden, abs=0.05)
    assert found.visible == pytest.approx(exact.visible, abs=0.1)
    assert found.diagnostics.standard_error("h0").shape == (2,)
    with pytest.raises(jt.errors.Unsupported, match="no log-probability"):
        _ = found.log_evidence
    assert set(np.asarray(jt.sample(model, 9, given=row, rng=0, steps=3).columns["v0"])) == {1}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "method", [jt.ContrastiveDivergence, partial(jt.ContrastiveDivergence, persistent=False), jt.ExactGradient]
)
def test_learning_raises_the_likelihood(kind, method):
    """S4-173: from draws of a machine, with holes and weights."""
    source = machine(kind, 6, 4, 2)
    data = jt.sample(source, 300, rng=1, steps=30)
    rows = np.stack([data.columns[f"v{unit}"] for unit in range(4)], axis=1).astype(float)
    rows[::10, 1] = np.nan
    first = jt.RestrictedBoltzmannMachine.random(4, 2, kind, num_states=3, rng=2)
    fitted = jt.fit(first, rows, method=method(learning_rate=0.05, epochs=15), weights=np.ones(300), rng=3)
    assert fitted.statistics.exact
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, rows).sum())
    assert fitted.log_likelihood > jt.log_prob(first, rows).sum() + 10
    assert fitted.trace.num_steps == 15


@given(seeds, st.sampled_from(KINDS), st.booleans(), st.integers(1, 3))
def test_a_step_on_buffers_is_the_step_of_its_chains(seed, kind, is_persistent, steps):
    """S4-173: the difference of both phases, whose rounding is that of single precision for units with states."""
    model, rng = machine(kind, seed), np.random.default_rng(seed)
    u, weights = model.units.encode(rows_for(model, seed, 6)), rng.dirichlet(np.ones(6))
    chains = rng.integers(0, 2, (4 if is_persistent else 6, 2)).astype(float)
    moving = BatchSteps.begin(join_biases(model), model.units, 6, chains, steps + (not is_persistent), rng)
    (moving.ascend if is_persistent else moving.diverge)(u, weights, steps, 0.3, 0.01)
    drawn = moving.both[6:, :-1].astype(float)
    shares = np.full(4, 0.25) if is_persistent else weights
    expected = moved_by(model, difference(moments_of(model, u, weights), moments_of(model, drawn, shares)), 0.3, 0.01)
    found = split_biases(moving.matrix, model)
    for name in ("weights", "visible_bias", "hidden_bias"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=2e-6 if kind != "gaussian" else 1e-12)


def test_chains_on_buffers_follow_the_machine():
    """S4-171: without learning, 4,000 chains of 30 steps have the moments of the machine within four errors."""
    moving = BatchSteps.begin(join_biases(TOY), TOY.units, 1, np.zeros((4000, 2)), 30, np.random.default_rng(0))
    moving.ascend(ALL[:1], np.ones(1), 30, 0.0, 0.0)
    expected = model_moments(TOY)
    assert moving.both[1:, :-1].mean(axis=0) == pytest.approx(expected.visible, abs=4 * 0.5 / np.sqrt(4000))
    assert moving.chains[:, :-1].mean(axis=0) == pytest.approx(expected.hidden, abs=4 * 0.5 / np.sqrt(4000))


@given(seeds, st.sampled_from(["bernoulli", "softmax"]), st.lists(st.booleans(), min_size=3, max_size=3))
def test_the_most_probable_units_are_those_of_the_markov_network(seed, kind, holes):
    model = machine(kind, seed)
    row = np.where(holes, np.nan, rows_for(model, seed, 1)[0])
    evidence = {f"v{unit}": int(value) for unit, value in enumerate(row) if not np.isnan(value)}
    found, theirs = jt.most_probable(model, row), jt.most_probable(model.to_markov_network(), evidence)
    assert found.exact
    assert found.assignment == theirs.assignment
    assert found.log_prob == pytest.approx(theirs.log_prob, abs=1e-10)
    assert found.log_joint + model.log_partition == pytest.approx(theirs.log_joint, abs=1e-10)
    ranked, known = jt.most_probable(model, row, k=3), jt.most_probable(model.to_markov_network(), evidence, k=3)
    assert [each.log_prob for each in ranked] == pytest.approx([each.log_prob for each in known], abs=1e-10)
    assert ranked[0].assignment == found.assignment
    assert jt.most_probable(model, row, log_partition=0).log_joint == pytest.approx(theirs.log_joint, abs=1e-10)
    climbed = jt.most_probable(model, np.stack([row, np.full(3, np.nan)]), method="icm", rng=seed)
    assert not climbed.exact
    assert climbed.log_joint[0] <= found.log_joint + 1e-10


def test_the_most_probable_real_holes_are_peaks():
    """The mode of the density of h and x: no hidden state, and no step of a hole, is better."""
    model = machine("gaussian", 3)
    best = jt.most_probable(model, [0.5, np.nan, -1.0], log_partition=0)
    hole = best.assignment["v1"]
    for h in product((0, 1), repeat=2):
        for x in (hole - 0.1, hole, hole + 0.1, 0.0, 2.0):
            row, states = np.array([0.5, x, -1.0]), np.array(h, float)
            energy = states @ model.hidden_bias + row @ (model.visible_bias + model.weights @ states) - row @ row / 2
            assert energy <= best.log_joint + 1e-12


def test_moments_match_at_the_maximum():
    """S4-174: data with the distribution of a machine has its moments, and learning stays there."""
    shares = np.exp(jt.log_prob(TOY, ALL))
    data, own = moments_of(TOY, ALL, shares), model_moments(TOY)
    assert all(mine == pytest.approx(other, abs=1e-12) for mine, other in zip(data, own, strict=True))
    fitted = jt.fit(TOY, ALL, method="exact", weights=shares, epochs=3, rng=0)
    assert fitted.model.weights == pytest.approx(TOY.weights, abs=1e-12)


def test_large_machines_are_estimated_and_say_so():
    model = jt.RestrictedBoltzmannMachine.random(30, 25, scale=0.3, rng=0)
    rows = rows_for(model, 0, 20)
    with pytest.raises(jt.TooLarge, match="annealed_log_partition"):
        jt.log_prob(model, rows)
    estimate = model.annealed_log_partition(particles=20, temperatures=50, rng=0)
    assert np.isfinite(jt.log_prob(model, rows, log_partition=estimate.log_evidence)).all()
    fitted = jt.fit(model, rows, epochs=2, rng=0)
    assert not fitted.statistics.exact
    assert fitted.statistics.standard_error > 0
    rows[0, 0] = np.nan
    assert jt.infer(model, rows, rng=0).method == "gibbs"
    with pytest.raises(jt.errors.Unsupported, match="at most 20 hidden units"):
        jt.fit(model, rows)


def test_beliefs_are_plain_data():
    many = jt.infer(TOY, ALL)
    assert list(many) == ["h0", "h1"]
    assert many.to_dict()["h0"][1] == pytest.approx(TOY.hidden_probabilities(ALL)[:, 0])
    assert len(many.to_pandas()) == 2 * 2 * 8
    assert repr(many) == "BoltzmannBeliefs(2 hidden units; 8 rows; exact, by enumeration)"
    assert "exact" in many._repr_html_()
    with pytest.raises(jt.UnknownVariable):
        many["v0"]
    assert jt.log_prob(TOY, ALL) == pytest.approx(-TOY.free_energy(ALL) - TOY.log_partition)


def test_wrong_input_gets_a_sentence():
    with pytest.raises(jt.errors.InvalidModel, match="visible_bias must have the shape"):
        jt.RestrictedBoltzmannMachine([[1.0]], [1.0, 2.0], [0.0])
    with pytest.raises(jt.errors.InvalidModel, match="finite"):
        jt.RestrictedBoltzmannMachine([[np.nan]], [1.0], [0.0])
    with pytest.raises(jt.errors.InvalidData, match="0 or 1, or NaN"):
        jt.infer(TOY, [2, 0, 1])
    with pytest.raises(jt.errors.InvalidData, match="has 3 visible units"):
        jt.log_prob(TOY, [1, 0])
    with pytest.raises(jt.errors.InvalidData, match="take complete rows"):
        TOY.free_energy([np.nan, 0, 1])
    with pytest.raises(jt.errors.Unsupported, match="no tables"):
        machine("gaussian", 0).to_markov_network()
    with pytest.raises(jt.errors.InvalidData, match="no rows"):
        jt.fit(TOY, np.empty((0, 3)))
    with pytest.raises(jt.errors.Unsupported, match="give a penalty"):
        jt.fit(TOY, ALL, prior=1.0)
    with pytest.raises(jt.errors.InvalidData, match="one number per row"):
        jt.fit(TOY, ALL, weights=[1.0])
    with pytest.raises(jt.errors.InvalidData, match="are all 0"):
        jt.fit(TOY, ALL, weights=np.zeros(8))
    with pytest.raises(jt.errors.Unsupported, match="there is no step for"):
        jt.fit(TOY, ALL, penalty=jt.L1(1.0))
    with pytest.raises(jt.errors.Unsupported, match="has no option 'rate'"):
        jt.fit(TOY, ALL, rate=0.1)
    with pytest.raises(jt.errors.InvalidData, match="k goes with one row"):
        jt.most_probable(TOY, ALL, k=2)


@pytest.mark.parametrize("kind", KINDS)
def test_machines_are_values_with_files(kind, tmp_path):
    model = machine(kind, 1)
    jt.write(model, tmp_path / "machine.json")
    assert jt.read(tmp_path / "machine.json") == model
    assert model != machine(kind, 2)
