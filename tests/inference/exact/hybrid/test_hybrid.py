"""Hybrid networks against a dense Gaussian for every configuration of the states, and against published numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from support.hybrid_oracle import Oracle

SEEDS = st.integers(0, 2**32 - 1)


def random_hybrid(rng):
    """A small network: tables with some zeros, linear Gaussians of which some have no noise, edges at random."""
    parts, names = [], []
    for number in range(rng.integers(1, 6)):
        known = [part.child for part in parts]
        name = f"v{number}"
        is_real = rng.random() < 0.6
        variable = jt.Variable(name) if is_real else jt.Variable(name, int(rng.integers(1, 4)))
        allowed = [each for each in known if is_real or not each.is_real]
        parents = [each for each in allowed if rng.random() < 0.6]
        shape = [each.num_states for each in parents if not each.is_real]
        if is_real:
            num_real = sum(each.is_real for each in parents)
            coefficients = rng.choice([-1.5, -1.0, 0.0, 0.5, 2.0], (*shape, num_real))
            variance = rng.choice([0.0, 0.25, 1.0, 4.0], shape)
            parts.append(
                jt.LinearGaussian(variable, parents, coefficients, rng.choice([-1.0, 0.0, 0.5, 2.0], shape), variance)
            )
        else:
            table = rng.random((*shape, variable.num_states)) * rng.choice(
                [0.0, 1.0], (*shape, variable.num_states), p=[0.2, 0.8]
            )
            table[..., 0] += 0.05
            parts.append(jt.Conditional(variable, parents, table / table.sum(axis=-1, keepdims=True)))
        names.append(name)
    return jt.BayesianNetwork([parts[at] for at in rng.permutation(len(parts))])


def random_findings(model, rng):
    """Some cells of a drawn row, so that exact relations hold; some numbers are moved, some states are uncertain."""
    row = {name: column[0] for name, column in jt.sample(model, 1, rng=rng).columns.items()}
    evidence = {}
    for variable in model.variables:
        if rng.random() < 0.4:
            continue
        if variable.is_real:
            evidence[variable.name] = float(row[variable.name]) + (rng.normal() if rng.random() < 0.2 else 0.0)
        elif rng.random() < 0.3:
            evidence[variable.name] = rng.random(variable.num_states).tolist()
        else:
            evidence[variable.name] = variable.labels[int(row[variable.name])]
    return evidence


def draw(seed):
    """A network, findings, and what they imply."""
    rng = np.random.default_rng(seed)
    model = random_hybrid(rng)
    evidence = random_findings(model, rng)
    return rng, model, evidence, Oracle(model, evidence)


def check_answers(model, beliefs, oracle):
    assert beliefs.log_evidence == pytest.approx(oracle.log_evidence, abs=1e-8)
    for variable in model.variables:
        if variable.is_real:
            mean, covariance = oracle.moments(variable.name)
            scale = 1 + abs(mean[0])
            assert beliefs[variable.name].mean == pytest.approx(mean[0], abs=1e-8 * scale)
            assert beliefs[variable.name].variance == pytest.approx(covariance[0, 0], abs=1e-7 * scale)
            x = mean[0] + 0.37
            assert beliefs[variable.name].cdf(x) == pytest.approx(oracle.cdf(variable.name, x), abs=1e-6)
        else:
            assert beliefs[variable.name].values == pytest.approx(oracle.probabilities(variable.name), abs=1e-9)


@given(seed=SEEDS)
def test_marginals_and_evidence(seed):
    _, model, evidence, oracle = draw(seed)
    if oracle.log_evidence == -math.inf:
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, evidence, method=jt.StrongJunctionTree())
        return
    check_answers(model, jt.infer(model, evidence, method=jt.StrongJunctionTree()), oracle)


@given(seed=SEEDS)
def test_joints(seed):
    rng, model, evidence, oracle = draw(seed)
    if oracle.log_evidence == -math.inf:
        return
    beliefs = jt.infer(model, evidence, method="strong-junction-tree")
    names = rng.permutation(model.variables.names)[:3].tolist()
    real = [name for name in names if model.variable(name).is_real]
    discrete = [name for name in names if name not in real]
    if not real:
        assert beliefs.joint(*names).values == pytest.approx(oracle.probabilities(*names), abs=1e-9)
    elif len(names) > 1:
        joint = beliefs.joint(*names)
        mean, covariance = oracle.moments(*real)
        assert joint.mean == pytest.approx(mean, abs=1e-7 * (1 + abs(mean).max()))
        assert joint.covariance == pytest.approx(covariance, abs=1e-6 * (1 + abs(covariance).max()))
        assert joint.table.values == pytest.approx(oracle.probabilities(*discrete), abs=1e-9)


@given(seed=SEEDS)
def test_rows_answer_as_each_row_alone(seed):
    rng = np.random.default_rng(seed)
    model = random_hybrid(rng)
    rows = [random_findings(model, rng) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.ImpossibleEvidenceWarning)
        beliefs = jt.infer(model, rows, method="strong-junction-tree")
    for number, row in enumerate(rows):
        try:
            alone = jt.infer(model, row, method="strong-junction-tree")
        except jt.ImpossibleEvidence:
            assert number in beliefs.impossible
            continue
        assert beliefs.log_evidence[number] == pytest.approx(alone.log_evidence, abs=1e-9)
        for variable in model.variables:
            mine, other = beliefs[variable.name], alone[variable.name]
            if variable.is_real:
                assert mine.mean[number] == pytest.approx(other.mean, abs=1e-9)
                assert mine.variance[number] == pytest.approx(other.variance, abs=1e-9)
                assert mine.quantile(0.3)[number] == pytest.approx(other.quantile(0.3), abs=1e-6)
            else:
                assert mine.values[number] == pytest.approx(other.values, abs=1e-12)


@given(seed=SEEDS)
def test_best_rows_are_those_of_each_row_alone(seed):
    rng = np.random.default_rng(seed)
    model = random_hybrid(rng)
    drawn = jt.sample(model, 5, rng=seed).to_dict()
    seen = [name for name in model.variables.names if rng.random() < 0.4]
    rows = [{name: drawn[name][number] for name in seen} for number in range(5)]
    try:
        found = jt.most_probable(model, rows, method="strong-junction-tree")
    except jt.Unsupported:
        with pytest.raises(jt.Unsupported):
            [jt.most_probable(model, row, method="strong-junction-tree") for row in rows]
        return
    columns = found.assignments.to_dict()
    for number, row in enumerate(rows):
        alone = jt.most_probable(model, row, method="strong-junction-tree")
        assert {name: columns[name][number] for name in columns} == pytest.approx(alone.assignment, rel=1e-12)
        assert found.log_joint[number] == pytest.approx(alone.log_joint, rel=1e-12)


@given(seed=SEEDS)
def test_most_probable(seed):
    """The best configuration by its weight and the density at its mode, against all configurations."""
    _, model, evidence, oracle = draw(seed)
    if oracle.log_evidence == -math.inf:
        return
    free = [at for at, name in enumerate(oracle.real) if name not in evidence]
    blocks = [case.covariance[np.ix_(free, free)] for case in oracle.cases]
    if any(len(free) and np.linalg.eigvalsh(block).min() < 1e-9 for block in blocks):
        if len(oracle.cases) == 1:
            with pytest.raises(jt.Unsupported, match="has no bound"):
                jt.most_probable(model, evidence, method="strong-junction-tree")
        return
    peaks = [-0.5 * np.linalg.slogdet(2 * np.pi * block)[1] if len(free) else 0.0 for block in blocks]
    scores = [case.log_weight + peak for case, peak in zip(oracle.cases, peaks, strict=True)]
    best = jt.most_probable(model, evidence, method="strong-junction-tree")
    assert best.log_joint == pytest.approx(max(scores), abs=1e-7)
    assert best.log_prob == pytest.approx(max(scores) - oracle.log_evidence, abs=1e-7)
    if oracle.cases[0].num_exact == 0 and not any(isinstance(value, list) for value in evidence.values()):
        assert model.log_joint({**evidence, **best.assignment}) == pytest.approx(max(scores), abs=1e-7)
