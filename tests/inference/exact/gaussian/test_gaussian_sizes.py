"""Gaussian networks of the public repository against their dense joints, and large chains, grids and trees."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import juncture as jt


def read_network(path: Path) -> jt.BayesianNetwork:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        nodes: dict[str, Any] = json.load(file)["nodes"]
    variables = {name: jt.Variable(name) for name in nodes}
    return jt.BayesianNetwork(
        jt.LinearGaussian(
            variables[name],
            [variables[parent] for parent in node["real_parents"]],
            node["coefficients"],
            node["intercept"],
            node["variance"],
        )
        for name, node in nodes.items()
    )


def dense_joint(model: jt.BayesianNetwork) -> tuple[np.ndarray, np.ndarray]:
    """(I - B)⁻¹ (intercepts) and (I - B)⁻¹ D (I - B)⁻ᵀ."""
    names = model.variables.names
    slopes, intercepts, variances = np.zeros((len(names), len(names))), np.zeros(len(names)), np.zeros(len(names))
    for row, name in enumerate(names):
        part: Any = model[name]
        slopes[row, [names.index(parent) for parent in part.parents.names]] = part.coefficients
        intercepts[row], variances[row] = part.intercept, part.variance
    inverse = np.linalg.inv(np.eye(len(names)) - slopes)
    return inverse @ intercepts, inverse * variances @ inverse.T


@pytest.mark.parametrize("name", ["gaussian.test", "ecoli70", "magic-niab"])
def test_public_networks_agree_with_their_dense_joint(name: str, networks_folder: Path):
    path = networks_folder / "gaussian" / f"{name}.json.gz"
    if not path.exists():
        pytest.skip("the public Gaussian networks are not here")
    model = read_network(path)
    names = list(model.variables.names)
    mean, covariance = dense_joint(model)
    prior = jt.infer(model).joint(*names)
    scale = np.sqrt(np.outer(np.diagonal(covariance), np.diagonal(covariance)))
    assert prior.mean == pytest.approx(mean, rel=1e-11, abs=1e-11)
    assert np.abs((prior.covariance - covariance) / scale).max() < 1e-12
    seen, rest = np.arange(0, len(names), 3), np.setdiff1d(np.arange(len(names)), np.arange(0, len(names), 3))
    values = mean[seen] + np.sqrt(np.diagonal(covariance))[seen] * np.cos(seen)
    beliefs = jt.infer(model, {names[place]: value for place, value in zip(seen, values, strict=True)})
    dense = jt.MultivariateGaussian(mean, covariance)
    posterior = dense.conditional(seen, values)
    assert beliefs.log_evidence == pytest.approx(dense.marginal(seen).log_prob(values), rel=1e-9)
    for place, node in enumerate(rest):
        found = beliefs[names[node]]
        assert found.mean == pytest.approx(posterior.mean[place], abs=1e-9 * np.sqrt(covariance[node, node]))
        assert found.variance == pytest.approx(posterior.variance[place], rel=1e-8)


def linear_network(parents: list[list[int]], coefficient: float, variance: float) -> jt.BayesianNetwork:
    variables = [jt.Variable(f"x{node}") for node in range(len(parents))]
    return jt.BayesianNetwork(
        jt.LinearGaussian(variables[node], [variables[p] for p in some], [coefficient] * len(some), 0.0, variance)
        for node, some in enumerate(parents)
    )


@pytest.mark.parametrize("size", [4_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_long_chain_has_the_variances_of_its_recursion(size):
    model = linear_network([[], *([node] for node in range(size - 1))], 0.9, 1.0)
    beliefs = jt.infer(model, {f"x{size - 1}": 1.0}, targets=["x0", f"x{size // 2}", f"x{size - 2}"])
    stationary = 1 / (1 - 0.81)
    assert beliefs[f"x{size // 2}"].variance == pytest.approx(stationary, rel=1e-12)
    assert beliefs[f"x{size - 2}"].mean == pytest.approx(0.9, rel=1e-12)
    assert beliefs[f"x{size - 2}"].variance == pytest.approx(stationary * (1 - 0.81), rel=1e-12)
    assert beliefs.log_evidence == pytest.approx(jt.Gaussian(0.0, stationary).log_prob(1.0), rel=1e-12)


def test_a_long_chain_without_noise_follows_its_start():
    size = 2_000
    chain = linear_network([[], *([node] for node in range(size - 1))], -1.0, 0.0)
    model = chain.with_conditional(jt.LinearGaussian(jt.Variable("x0"), [], [], 1.0, 4.0))
    beliefs = jt.infer(model, {f"x{size - 1}": 3.0}, targets=["x0", "x1"])
    assert beliefs["x0"].mean == pytest.approx(-3.0, rel=1e-12)
    assert beliefs["x1"].variance == 0.0
    assert beliefs.log_evidence == pytest.approx(jt.Gaussian(1.0, 4.0).log_prob(-3.0), rel=1e-9)
    with pytest.raises(jt.ImpossibleEvidence):
        jt.infer(model, {f"x{size - 1}": 3.0, "x7": 3.1})


def test_a_grid_agrees_with_dense_algebra():
    side = 24
    parents = [
        [node - step for step, inside in ((side, node >= side), (1, node % side > 0)) if inside]
        for node in range(side * side)
    ]
    model = linear_network(parents, 0.45, 0.5)
    mean, covariance = dense_joint(model)
    seen = np.arange(0, side * side, 7)
    beliefs = jt.infer(model, {f"x{node}": 1.0 for node in seen.tolist()})
    posterior = jt.MultivariateGaussian(mean, covariance).conditional(seen, np.ones(len(seen)))
    rest = np.setdiff1d(np.arange(side * side), seen)
    found = np.array([(beliefs[f"x{node}"].mean, beliefs[f"x{node}"].variance) for node in rest.tolist()])
    assert found[:, 0] == pytest.approx(posterior.mean, rel=1e-9, abs=1e-9)
    assert found[:, 1] == pytest.approx(posterior.variance, rel=1e-9)


@pytest.mark.parametrize("size", [4_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_a_large_tree_and_a_wide_sum(size):
    tree = linear_network([[], *([(node - 1) // 2] for node in range(1, size))], 1.0, 1.0)
    beliefs = jt.infer(tree, {f"x{size - 1}": 2.0}, targets=["x0", "x1"])
    depth = size.bit_length() - 1  # edges from the root to the last leaf
    assert beliefs["x0"].mean == pytest.approx(2.0 / (depth + 1), rel=1e-12)
    star = linear_network([[], *([0] for _ in range(3_000))], 1.0, 2.0)
    assert jt.infer(star, {f"x{node}": 1.0 for node in range(1, 3_001)})["x0"].variance == pytest.approx(2 / 3_001)
    wide = linear_network([*([] for _ in range(300)), list(range(300))], 1.0, 1.0)
    assert jt.infer(wide, {"x300": 301.0})["x7"].mean == pytest.approx(1.0)
