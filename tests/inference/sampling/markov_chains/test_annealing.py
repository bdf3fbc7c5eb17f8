"""Annealed importance sampling, parallel tempering, random walks; energies of the Ising model."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import ellipk

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.sampling.markov_chains.chain_engine import targets_of
from juncture.inference.sampling.markov_chains.pairs import lay_out_pairs
from juncture.kernels.sampling.blocks import add_factors
from juncture.kernels.sampling.pairwise import pair_log
from support.approximate_engines import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_annealing_estimates_the_evidence(name):
    small = MODELS[name]
    for index, row in enumerate(small.rows):
        exact = jt.infer(small.model, row).log_evidence
        found = jt.sampling.annealed_importance_sampling(small.model, row, particles=100, temperatures=60, rng=index)
        assert abs(found.log_evidence - exact) < 5 * found.standard_error + 1e-9
        assert found.standard_error < 0.5
        assert 1 <= found.effective_sample_size <= 100


def test_the_mean_weight_is_unbiased():
    model = jt.ising((2, 3), 0.5, 0.3)
    exact = jt.infer(model).log_evidence
    found = jt.sampling.annealed_importance_sampling(model, particles=3000, temperatures=3, rng=0)
    weights = np.exp(found.log_weights - exact)
    assert abs(weights.mean() - 1) < 4 * weights.std() / np.sqrt(3000)


def test_impossible_evidence_has_no_weight():
    found = jt.sampling.annealed_importance_sampling(MODELS["asia"].model, {"lung": "yes", "either": "no"}, rng=0)
    assert found.log_evidence == -np.inf


def test_tempering_crosses_between_modes():
    model = jt.ising((3, 4), 1.0, field=0.01)
    exact = jt.infer(model)["x0_0"][1]
    beliefs = jt.infer(model, method=jt.sampling.ParallelTempering(draws=600, warmup=100, replicas=6), rng=0)
    assert abs(beliefs["x0_0"][1] - exact) < 5 * beliefs.diagnostics.standard_error("x0_0")[1]
    with pytest.warns(jt.errors.NotConvergedWarning, match="R-hat"):
        jt.infer(model, method=jt.Gibbs(draws=500, warmup=50), rng=0)


def test_a_random_walk_has_the_moments_of_its_density():
    covariance = np.array([[1.0, 1.2], [1.2, 4.0]])
    precision, mean = np.linalg.inv(covariance), np.array([3.0, -1.0])
    draws = jt.sampling.random_walk(
        lambda x: -0.5 * float((x - mean) @ precision @ (x - mean)), [0.0, 0.0], warmup=500, rng=0
    )
    values = draws["z"].reshape(-1, 2)
    summary = draws.summary()
    for index in range(2):
        one = summary[f"z[{index}]"]
        assert abs(one.mean - mean[index]) < 5 * one.standard_error
        assert one.r_hat < 1.05
    assert np.cov(values.T) == pytest.approx(covariance, abs=0.6)
    inside = jt.sampling.random_walk(lambda x: 0.0 if 0 < x < 1 else -np.inf, 0.5, draws=200, rng=1)["z"]
    assert ((inside > 0) & (inside < 1)).all()
    with pytest.raises(jt.errors.InvalidData, match="density zero"):
        jt.sampling.random_walk(lambda x: -np.inf, 0.0)
    with pytest.raises(jt.errors.InvalidData, match="below ∞"):
        jt.sampling.random_walk(lambda x: np.nan, 0.0)


def onsager_energy(coupling):
    """The energy of a bond of the infinite square lattice, -E[x_i x_j] (Onsager 1944)."""
    k = 2 * np.sinh(2 * coupling) / np.cosh(2 * coupling) ** 2
    factor = 1 + 2 / np.pi * (2 * np.tanh(2 * coupling) ** 2 - 1) * ellipk(k**2)
    return -factor / np.tanh(2 * coupling) / 2


def torus(size):
    nodes = np.arange(size * size).reshape(size, size)
    right, below = np.roll(nodes, -1, axis=1), np.roll(nodes, -1, axis=0)
    return np.concatenate([np.stack([nodes.ravel(), other.ravel()], axis=1) for other in (right, below)])


def bond_energies(draws, model):
    codes = np.stack([draws[name] for name in model.names], axis=-1).astype(np.int8)
    spins = 2 * codes - 1
    return -(spins[..., model.edges[:, 0]] * spins[..., model.edges[:, 1]]).mean(axis=-1)


@pytest.mark.parametrize("coupling", [0.3, 0.4, 0.55])
def test_the_energy_of_the_ising_model(coupling):
    """Onsager's energy at three temperatures, by clusters on a torus; far from the critical point 0.4407."""
    size = 24 if coupling != 0.4 else 40
    model = jt.PairwiseNetwork(np.zeros((size * size, 2)), torus(size), coupling * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    draws = jt.sample(model, 240, method=jt.SwendsenWang(warmup=40, chains=2), rng=0)
    energies = bond_energies(draws, model)
    error = float(jt.sampling.Draws({"energy": energies}).summary()["energy"].standard_error)
    assert abs(energies.mean() - onsager_energy(coupling)) < 4.5 * error + 2e-4
    if coupling == 0.3:
        quick = bond_energies(jt.sample(model, 240, method=jt.Gibbs(warmup=100, chains=2), rng=0), model)
        assert abs(quick.mean() - onsager_energy(coupling)) < 6 * error


def test_thinning_of_a_random_walk_keeps_the_last_step_of_each_draw():
    """Every third state of the chain that keeps all of them, from the third on, to the last bit."""
    options = {"start": [0.5, 0.0], "chains": 2, "warmup": 30, "rng": 4}
    every = jt.sampling.random_walk(lambda x: -0.5 * float(x @ x), draws=60, **options)["z"]
    thinned = jt.sampling.random_walk(lambda x: -0.5 * float(x @ x), draws=20, thin=3, **options)["z"]
    assert np.array_equal(thinned, every[:, 2::3])
    assert not np.array_equal(thinned, every[:, 1::3])


@pytest.mark.parametrize("most_cells", [1, 32, 4096])
def test_tempering_weighs_its_states_by_the_product_of_factors(monkeypatch, most_cells):
    """What is gathered during a sweep, by tables or without them, is log f up to a constant: asia with a likelihood."""
    monkeypatch.setattr("juncture.inference.sampling.markov_chains.blocks.TABLE_CELLS", most_cells)
    model = jt.example("asia")
    findings = as_findings(jt.Evidence({"xray": "yes"}, likelihoods={"bronc": [0.2, 0.7]}), model.variables)
    (target,) = targets_of(model, findings)
    tempered, _ = jt.sampling.ParallelTempering(replicas=2).transition(model, target, np.arange(3))
    (cells, factors, field), blocks = tempered.energy, tempered.move.layout.blocks
    firsts = np.cumsum([0, *(0 if block.cumulative is None else block.cumulative.size for block in blocks)])
    codes = np.array(list(product(*(target.states(node) for node in range(target.arrays.num_nodes)))), np.int64)
    codes = codes[target.log_joints(codes) > -np.inf]
    logs = np.zeros(len(codes))
    add_factors(factors, target.arrays.log_values, field, codes, logs)
    for index in tempered.move.order:
        block = blocks[index]
        if block.cumulative is not None:
            _, others, strides, _ = block.entries[0]
            states = (codes[:, block.nodes][:, None] == block.digits).all(axis=2).argmax(axis=1)
            logs += cells[firsts[index] + codes[:, others] @ strides + states]
    gaps = logs - target.log_joints(codes)
    assert len(codes) > 8
    assert gaps == pytest.approx(gaps[0], abs=1e-12)


@pytest.mark.parametrize("model", [jt.ising((1, 300), 0.4, field=0.1), jt.potts((1, 300), 3, 0.4)])
def test_tempering_of_a_large_pairwise_model(model):
    """Shares of a state and of equal neighbours against the exact ones; log f of a state against the model's."""
    engine = jt.sampling.ParallelTempering(draws=300, chains=2, warmup=50, replicas=3, lowest=0.5)
    draws, exact, names = jt.sample(model, 600, method=engine, rng=0), jt.infer(model), model.variables.names
    codes = np.stack([draws[name] for name in names], axis=-1).astype(np.int64)
    equal = codes[..., 1:] == codes[..., :-1]
    summary = jt.sampling.Draws({"zero": (codes == 0).mean(axis=-1), "equal": equal.mean(axis=-1)}).summary()
    shares = {
        "zero": np.mean([exact[name].values[0] for name in names]),
        "equal": np.mean([np.trace(exact.joint(*pair).values) for pair in pairwise(names)]),
    }
    for name, share in shares.items():
        assert abs(summary[name].mean - share) < 5 * summary[name].standard_error
    layout = lay_out_pairs(model, targets_of(model, as_findings(None, model.variables))[0])
    edges, tables = np.ascontiguousarray(layout.positions[model.edges]), np.array(model.log_pairwise)
    log_f = pair_log((edges, tables, layout.unary[layout.order]), codes[0, 0, layout.order].astype(np.uint8))
    assert log_f == pytest.approx(model.log_joint_of_codes(codes[0, 0]), abs=1e-9)
