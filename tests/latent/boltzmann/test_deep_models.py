"""Deep belief networks and deep Boltzmann machines against enumeration and Markov networks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.latent.boltzmann.deep.belief_network import log_prob_below, upward_odds
from juncture.latent.boltzmann.deep.boltzmann_machine import MeanFieldSteps, bounds_of
from juncture.latent.boltzmann.deep.layers import all_binary
from juncture.numerics.stable import sigmoid

seeds = st.integers(0, 2**32 - 1)
shapes = st.lists(st.integers(1, 3), min_size=2, max_size=4)
KINDS = (jt.neural.DeepBeliefNetwork, jt.neural.DeepBoltzmannMachine)
LINES = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]] * 60, float)


def deep(kind, sizes, seed):
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal(pair) for pair in pairwise(sizes)]
    return kind(weights, [rng.standard_normal(size) for size in sizes])


def conditional_table(model, layer):
    """p(layer | the next one) of all states, (upper, lower)."""
    lower, upper = all_binary(model.sizes[layer]), all_binary(model.sizes[layer + 1])
    on = sigmoid(upper @ model.weights[layer].T + model.biases[layer])
    return np.prod(np.where(lower[None] == 1, on[:, None], 1 - on[:, None]), axis=2)


@given(seeds, shapes)
def test_a_deep_boltzmann_machine_is_its_markov_network(seed, sizes):
    """S4-182: log Z, and log p of the visible units."""
    model = deep(jt.neural.DeepBoltzmannMachine, sizes, seed)
    network = model.to_markov_network()
    log_z = jt.infer(network).log_evidence
    assert model.log_partition == pytest.approx(log_z, abs=1e-10)
    rows = all_binary(sizes[0])
    evidence = [{f"v{unit}": int(x) for unit, x in enumerate(row)} for row in rows]
    assert jt.log_prob(model, rows) == pytest.approx(jt.infer(network, evidence).log_evidence - log_z, abs=1e-10)


@given(seeds, shapes)
def test_a_deep_belief_network_is_the_product_of_its_layers(seed, sizes):
    """S4-182: p(x) by tables of all layers."""
    model = deep(jt.neural.DeepBeliefNetwork, sizes, seed)
    shares = np.exp(jt.log_prob(model.top, all_binary(sizes[-2])))
    for layer in range(len(sizes) - 3, -1, -1):
        shares = shares @ conditional_table(model, layer)
    assert np.exp(jt.log_prob(model, all_binary(sizes[0]))) == pytest.approx(shares, abs=1e-12)
    assert shares.sum() == pytest.approx(1.0)


@given(seeds, st.lists(st.integers(1, 3), min_size=3, max_size=4))
def test_the_mean_field_is_a_bound_that_rises(seed, sizes):
    model = deep(jt.neural.DeepBoltzmannMachine, sizes, seed)
    rows = all_binary(sizes[0])
    beliefs = jt.infer(model, rows)
    assert (beliefs.log_evidence <= jt.log_prob(model, rows) + 1e-10).all()
    steps = MeanFieldSteps(model, rows)
    first, second = bounds_of(model, steps.init()), bounds_of(model, steps.step(steps.init()))
    assert (second >= first - 1e-10).all()
    last = [rows, *beliefs.layer_means]
    for before, after in zip(last, steps.step(last), strict=True):
        assert before == pytest.approx(after, abs=1e-3)


def test_without_upper_weights_the_mean_field_is_exact():
    """The hidden units are independent given the row, so that the gap KL(q ‖ p) is 0."""
    model = deep(jt.neural.DeepBoltzmannMachine, [3, 2, 2], 1)
    apart = jt.neural.DeepBoltzmannMachine([model.weights[0], np.zeros((2, 2))], model.biases)
    assert jt.infer(apart, all_binary(3)).log_evidence == pytest.approx(jt.log_prob(apart, all_binary(3)), abs=1e-9)


@given(seeds)
def test_the_upward_bound_is_below_log_p_within_its_error(seed):
    model = deep(jt.neural.DeepBeliefNetwork, [3, 2, 2, 2], seed)
    rows = all_binary(3)
    beliefs = jt.infer(model, rows, draws=400, rng=seed)
    assert (beliefs.bounds <= jt.log_prob(model, rows) + 5 * beliefs.errors).all()
    assert not beliefs.exact


def test_the_upward_bound_is_the_enumerated_one():
    model = deep(jt.neural.DeepBeliefNetwork, [3, 2, 2], 7)
    row, states = np.array([[1.0, 0.0, 1.0]]), all_binary(2)
    odds = upward_odds(model, 1, row)
    q = np.prod(np.where(states == 1, sigmoid(odds), 1 - sigmoid(odds)), axis=1)
    inside = log_prob_below(model, 0, np.repeat(row, 4, axis=0), states) + jt.log_prob(model.top, states) - np.log(q)
    found = jt.infer(model, row[0], draws=20_000, rng=0)
    assert abs(found.log_evidence - q @ inside) < 4 * found.errors[0]
    assert found.layers[0] == pytest.approx(sigmoid(odds)[0], abs=1e-12)
    summed = jt.infer(model, row[0])
    assert summed.log_evidence == pytest.approx((q @ inside).item(), rel=1e-12)
    assert summed.errors[0] == 0.0
    assert summed.layers[0] == pytest.approx(sigmoid(odds)[0], abs=1e-12)


@given(seeds)
def test_the_summed_upward_bound_is_the_mean_of_draws(seed):
    """Over three hidden layers: within five standard errors, layer by layer too."""
    model = deep(jt.neural.DeepBeliefNetwork, [3, 2, 3, 2], seed)
    summed, drawn = jt.infer(model, all_binary(3)), jt.infer(model, all_binary(3), draws=4000, rng=seed)
    assert (np.abs(summed.bounds - drawn.bounds) <= 5 * drawn.errors + 1e-12).all()
    assert (summed.bounds <= jt.log_prob(model, all_binary(3)) + 1e-12).all()
    for mine, other in zip(summed.layers, drawn.layers, strict=True):
        assert mine == pytest.approx(other, abs=5 * 0.5 / np.sqrt(4000))


@pytest.mark.parametrize("kind", KINDS)
def test_draws_follow_the_model(kind):
    model = deep(kind, [3, 2, 2], 3)
    drawn = jt.sample(model, 4000, rng=0, steps=30)
    assert drawn == jt.sample(model, 4000, rng=0, steps=30)
    rows = np.stack([drawn.columns[f"v{unit}"] for unit in range(3)], axis=1)
    found = np.bincount(rows @ [1, 2, 4], minlength=8) / 4000
    assert found == pytest.approx(np.exp(jt.log_prob(model, all_binary(3))), abs=5 * 0.5 / np.sqrt(4000))


def test_annealing_agrees_with_the_sum_within_its_error():
    model = deep(jt.neural.DeepBoltzmannMachine, [4, 3, 3], 2)
    estimate = model.annealed_log_partition(particles=300, temperatures=200, rng=1)
    assert 0 < estimate.standard_error < 0.1
    assert abs(estimate.log_evidence - model.log_partition) < 4 * estimate.standard_error


@pytest.mark.parametrize("kind", KINDS)
def test_learning_layer_by_layer_raises_the_likelihood(kind):
    first = kind.random([4, 3, 2], rng=0)
    fitted = jt.fit(first, LINES, learning_rate=0.1, epochs=25, rng=1)
    before, after = (jt.log_prob(model, LINES).sum() for model in (first, fitted.model))
    assert after > before + 30
    assert fitted.log_likelihood == fitted.statistics.log_bound <= after + 5 * fitted.statistics.standard_error
    assert fitted.trace.num_steps == 25


def test_large_machines_are_estimated_and_say_so():
    machine, network = (kind.random([20, 18, 21], scale=0.2, rng=0) for kind in reversed(KINDS))
    rows = np.random.default_rng(0).integers(0, 2, (3, 20))
    with pytest.raises(jt.TooLarge, match="annealed_log_partition"):
        jt.log_prob(machine, rows)
    with pytest.raises(jt.TooLarge, match="infer gives a lower bound"):
        jt.log_prob(network, rows)
    assert (jt.infer(machine, rows, rng=0).errors > 0).all()
    assert np.isfinite(jt.infer(network, rows, rng=0).bounds).all()
    with pytest.raises(jt.TooLarge, match="2\\^18 states"):
        _ = machine.log_partition


@pytest.mark.parametrize("kind", KINDS)
def test_beliefs_are_plain_data(kind):
    model = deep(kind, [3, 2, 1], 0)
    many = jt.infer(model, pd.DataFrame(all_binary(3), columns=list("abc")), rng=0)
    assert list(many) == ["h1_0", "h1_1", "h2_0"]
    assert many.to_dict()["h1_1"][1] == pytest.approx(many.layers[0][:, 1])
    assert len(many.to_pandas()) == 3 * 2 * 8
    assert "approximate" in repr(many)
    assert many.method in many._repr_html_()
    assert jt.infer(model, [1, 0, 1], rng=0)["h2_0"][1] == pytest.approx(jt.infer(model, [1, 0, 1], rng=0).layers[1][0])
    with pytest.raises(jt.UnknownVariable):
        many["v0"]


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_input_gets_a_sentence(kind):
    model = deep(kind, [3, 2, 1], 0)
    with pytest.raises(jt.errors.InvalidModel, match="one bias more"):
        kind([[[1.0]]], [[0.0]])
    with pytest.raises(jt.errors.InvalidModel, match=r"weights\[0\] joins layers of 2 and 1"):
        kind([[[1.0]]], [[0.0, 0.0], [0.0]])
    with pytest.raises(jt.errors.InvalidModel, match="finite"):
        kind([[[np.nan]]], [[0.0], [0.0]])
    with pytest.raises(jt.errors.InvalidModel, match="list of arrays"):
        kind(1.0, [[0.0], [0.0]])
    with pytest.raises(jt.errors.InvalidData, match="take complete rows"):
        jt.infer(model, [1, np.nan, 0])
    with pytest.raises(jt.errors.InvalidData, match="0 or 1"):
        jt.log_prob(model, [1, 2, 0])
    with pytest.raises(jt.errors.InvalidData, match="no rows"):
        jt.fit(model, np.empty((0, 3)))
    with pytest.raises(jt.errors.Unsupported, match="give a penalty"):
        jt.fit(model, LINES[:, :3], prior=1.0)
    with pytest.raises(jt.errors.InvalidData, match="sample once for each row"):
        jt.sample(model, 3, given=LINES[:2, :3])


def test_recognition_biases_have_the_shape_of_the_layers():
    with pytest.raises(jt.errors.InvalidModel, match="recognition has a bias for each unit"):
        jt.neural.DeepBeliefNetwork([[[1.0]], [[1.0]]], [[0.0], [0.0], [0.0]], [[0.0, 1.0]])


@given(seeds)
def test_a_general_boltzmann_machine_is_an_ising_model_of_zeros_and_ones(seed):
    """S4-074, S1-091: any two units are joined; log Z by all states."""
    rng = np.random.default_rng(seed)
    weights, bias = np.triu(rng.standard_normal((5, 5)), 1), rng.standard_normal(5)
    graph = jt.UndirectedGraph([(f"x{i}", f"x{j}") for i in range(5) for j in range(i + 1, 5)])
    couplings = {(f"x{i}", f"x{j}"): weights[i, j] for i in range(5) for j in range(i + 1, 5)}
    model = jt.ising(graph, couplings, {f"x{i}": bias[i] for i in range(5)}, values=(0, 1))
    states = all_binary(5)
    logs = states @ bias + np.einsum("si,ij,sj->s", states, weights, states)
    assert jt.infer(model).log_evidence == pytest.approx(np.logaddexp.reduce(logs), abs=1e-10)
    row = {f"x{i}": int(states[seed % 32, i]) for i in range(5)}
    expected = logs[seed % 32] - np.logaddexp.reduce(logs)
    assert jt.log_prob(model, row) == pytest.approx(expected, abs=1e-10)
