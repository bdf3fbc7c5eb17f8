"""Hybrid networks against rational arithmetic: a Gaussian for every configuration of the states, some without noise."""

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
EXACT = 1e-12


def random_hybrid(rng, variances=(0.0, 0.0, 0.0, 0.25, 1.0, 4.0)):
    """A small network: tables with some zeros, linear Gaussians of which many have no noise, edges at random."""
    parts, names = [], []
    for number in range(rng.choice([1, 2, 3, 4, 5, 6, 6])):
        known = [part.child for part in parts]
        name = f"v{number}"
        is_real = rng.random() < (0.6 if number > 1 else 0.1)
        variable = jt.Variable(name) if is_real else jt.Variable(name, int(rng.choice([1, 2, 2, 3])))
        allowed = [each for each in known if is_real or not each.is_real]
        parents = [each for each in allowed if rng.random() < (0.3 if each.is_real or not is_real else 0.8)]
        shape = [each.num_states for each in parents if not each.is_real]
        if is_real:
            num_real = sum(each.is_real for each in parents)
            coefficients = rng.choice([-1.5, 0.0, 0.0, 0.5, 2.0], (*shape, num_real))
            intercept = rng.choice([0.0, 0.0, 0.0, -1.0, 0.5], shape)
            variance = rng.choice(variances, shape)
            parts.append(jt.LinearGaussian(variable, parents, coefficients, intercept, variance))
        else:
            table = rng.random((*shape, variable.num_states)) * rng.choice(
                [0.0, 1.0], (*shape, variable.num_states), p=[0.2, 0.8]
            )
            table[..., 0] += 0.05
            parts.append(jt.Conditional(variable, parents, table / table.sum(axis=-1, keepdims=True)))
        names.append(name)
    return jt.BayesianNetwork([parts[at] for at in rng.permutation(len(parts))])


def draw_row(model, rng):
    """A row in numbers of few bits, so that exact relations hold to the last of them; noise is often 0 by chance."""
    row = {}
    for name in model.graph.topological_order():
        part = model[name]
        index = tuple(row[parent.name] for parent in part.parents if not parent.is_real)
        if not part.child.is_real:
            row[name] = int(rng.choice(part.child.num_states, p=part.values[index]))
            continue
        inputs = np.array([row[parent.name] for parent in part.parents if parent.is_real])
        noise = rng.choice([0.0, 0.0, 0.0, 0.0, -1.25, 0.75]) if part.variance[index] > 0 else 0.0
        row[name] = float(part.intercept[index] + part.coefficients[index] @ inputs + noise)
    return row


def random_findings(model, rng, *, soft=True):
    """Some cells of a drawn row, so that exact relations hold; some numbers are moved, some states are uncertain."""
    row = draw_row(model, rng)
    evidence = {}
    for variable in model.variables:
        if rng.random() < (0.2 if variable.is_real else 0.75):
            continue
        if variable.is_real:
            evidence[variable.name] = row[variable.name] + (rng.choice([-0.75, 0.5]) if rng.random() < 0.1 else 0.0)
        elif soft and rng.random() < 0.3:
            evidence[variable.name] = rng.random(variable.num_states).tolist()
        else:
            evidence[variable.name] = variable.labels[row[variable.name]]
    return evidence


def draw(seed):
    """A network, findings, and what they imply."""
    rng = np.random.default_rng(seed)
    model = random_hybrid(rng)
    evidence = random_findings(model, rng)
    return rng, model, evidence, Oracle(model, evidence)


def near(value):
    """To 1e-12 of its size or of 1."""
    return pytest.approx(value, rel=EXACT, abs=EXACT)


def check_answers(model, beliefs, oracle):
    assert beliefs.log_evidence == near(oracle.log_evidence)
    for variable in model.variables:
        if variable.is_real:
            mean, covariance = oracle.moments(variable.name)
            scale = 1 + abs(mean[0])
            assert beliefs[variable.name].mean == pytest.approx(mean[0], abs=EXACT * scale)
            assert beliefs[variable.name].variance == pytest.approx(covariance[0, 0], rel=EXACT, abs=EXACT * scale**2)
            x = mean[0] + 0.37
            assert beliefs[variable.name].cdf(x) == pytest.approx(oracle.cdf(variable.name, x), abs=EXACT)
        else:
            assert beliefs[variable.name].values == near(oracle.probabilities(variable.name))


@given(seed=SEEDS)
def test_marginals_and_evidence(seed):
    _, model, evidence, oracle = draw(seed)
    if oracle.log_evidence == -math.inf:
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, evidence, method=jt.messages.StrongJunctionTree())
        return
    check_answers(model, jt.infer(model, evidence, method=jt.messages.StrongJunctionTree()), oracle)


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
        assert beliefs.joint(*names).values == near(oracle.probabilities(*names))
    elif len(names) > 1:
        joint = beliefs.joint(*names)
        mean, covariance = oracle.moments(*real)
        scale = 1 + abs(mean).max()
        assert joint.mean == pytest.approx(mean, abs=EXACT * scale)
        assert joint.covariance == pytest.approx(covariance, abs=EXACT * (scale**2 + abs(covariance).max()))
        assert joint.table.values == near(oracle.probabilities(*discrete))


@given(seed=SEEDS)
def test_rows_answer_as_each_row_alone(seed):
    rng = np.random.default_rng(seed)
    model = random_hybrid(rng)
    rows = [random_findings(model, rng) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
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
    except jt.errors.Unsupported:
        with pytest.raises(jt.errors.Unsupported):
            [jt.most_probable(model, row, method="strong-junction-tree") for row in rows]
        return
    columns = found.assignments.to_dict()
    for number, row in enumerate(rows):
        alone = jt.most_probable(model, row, method="strong-junction-tree")
        assert {name: columns[name][number] for name in columns} == pytest.approx(alone.assignment, rel=1e-12)
        assert found.log_joint[number] == pytest.approx(alone.log_joint, rel=1e-12)


@given(seed=SEEDS)
def test_most_probable(seed):
    """All configurations by their weight and the density at their mode, best first."""
    _, model, evidence, oracle = draw(seed)
    if oracle.log_evidence == -math.inf:
        return
    free = [at for at, name in enumerate(oracle.real) if name not in evidence]
    blocks = [case.covariance[np.ix_(free, free)] for case in oracle.cases]
    if any(len(free) and np.linalg.eigvalsh(block).min() < 1e-9 for block in blocks):
        with pytest.raises(jt.errors.Unsupported, match="has no bound"):
            jt.most_probable(model, evidence, method="strong-junction-tree")
        return
    peaks = [-0.5 * np.linalg.slogdet(2 * np.pi * block)[1] if len(free) else 0.0 for block in blocks]
    scores = sorted((case.log_weight + peak for case, peak in zip(oracle.cases, peaks, strict=True)), reverse=True)
    ranked = jt.most_probable(model, evidence, k=1000, method="strong-junction-tree")
    assert [best.log_joint for best in ranked] == near(scores)
    assert [best.log_prob for best in ranked] == near([score - oracle.log_evidence for score in scores])
    assert jt.most_probable(model, evidence, method="strong-junction-tree").log_joint == near(scores[0])
    if oracle.cases[0].num_exact == 0 and not any(isinstance(value, list) for value in evidence.values()):
        assert model.log_joint({**evidence, **ranked[0].assignment}) == near(scores[0])


@given(seed=SEEDS)
def test_the_best_states_and_draws_are_those_that_can_occur(seed):
    """Of some variables with states, the others summed out: all that have a probability, best first, and no other."""
    rng, model, evidence, oracle = draw(seed)
    names = [each.name for each in oracle.discrete if rng.random() < 0.7]
    if oracle.log_evidence == -math.inf or not names:
        return
    table = oracle.probabilities(*names)
    ranked = jt.most_probable(model, evidence, targets=names, k=1000, method="strong-junction-tree")
    assert [math.exp(best.log_prob) for best in ranked] == near(sorted(table[table > 0], reverse=True))
    for best in ranked:
        cell = tuple(model.variable(name).code(best.assignment[name]) for name in names)
        assert math.exp(best.log_prob) == near(table[cell])
    drawn = jt.sample(model, 200, given=evidence, rng=seed).columns
    assert (table[tuple(drawn[name] for name in names)] > 0).all()


@given(seed=SEEDS)
def test_the_density_of_rows(seed):
    """`log_prob` of a table with holes, some of whose rows are impossible, and some without holes."""
    rng = np.random.default_rng(seed)
    check_density_of_rows(rng, random_hybrid(rng))


@given(seed=SEEDS)
def test_the_density_of_rows_where_all_have_noise(seed):
    """Rows that share no holes are summed over all configurations at once; others, and precise ones, are not."""
    rng = np.random.default_rng(seed)
    model = random_hybrid(rng, variances=(0.25, 1.0, 4.0) if seed % 3 else (0.25, 1e-10))
    check_density_of_rows(rng, model)
    rows = jt.Dataset([random_findings(model, rng, soft=False) for _ in range(5)], variables=model.variables)
    assert jt.log_prob(model, rows) == near(jt.infer(model, rows).log_evidence)
    many = rows.take(np.repeat(np.arange(5), 2000))
    assert jt.log_prob(model, many)[::2000] == near(jt.log_prob(model, rows))


def check_density_of_rows(rng, model):
    rows = [random_findings(model, rng, soft=False) for _ in range(3)]
    rows += [
        {name: model.variable(name).labels[x] if type(x) is int else x for name, x in draw_row(model, rng).items()}
    ]
    wanted = [Oracle(model, row).log_evidence for row in rows]
    assert jt.log_prob(model, rows) == near(wanted)
    assert [jt.log_prob(model, row) for row in rows] == near(wanted)


A, X, Y = jt.Variable("a", 2), jt.Variable("x"), jt.Variable("y")


def switched(variances, weights=(0.5, 0.5)):
    """Numbers about 0 whose variances depend on one variable with two states."""
    parts = [jt.Conditional(A, [], weights)]
    for at, pair in enumerate(variances):
        parts.append(jt.LinearGaussian(jt.Variable(f"x{at}"), [A], [[], []], [0.0, 0.0], pair))
    return jt.BayesianNetwork(parts)


def test_a_coincidence_is_not_listed_beside_a_relation():
    (only,) = jt.most_probable(switched([[0.0, 1.0]], [0.01, 0.99]), {"x0": 0.0}, k=5)
    assert (only.assignment, only.log_prob, only.log_joint) == ({"a": 0}, 0.0, pytest.approx(math.log(0.01)))


def test_no_density_outweighs_a_relation():
    model = switched([[0.0, 1.0], [1e-12, 1.0]])
    beliefs = jt.infer(model, {"x0": 0.0, "x1": 1.0})
    log_density = math.log(0.5) - 0.5 * (1e12 + math.log(2 * math.pi * 1e-12))  # e^(5e11) times less than that of a = 1
    assert beliefs["a"].values.tolist() == [1.0, 0.0]
    assert beliefs.log_evidence == near(log_density)
    assert jt.most_probable(model, {"x0": 0.0, "x1": 1.0}).assignment == {"a": 0}
    assert jt.log_prob(model, [{"x0": 0.0, "x1": 1.0}]) == near([log_density])
    assert (jt.sample(model, 50, given={"x0": 0.0, "x1": 1.0}, rng=0).columns["a"] == 0).all()


def test_many_relations_cost_no_digits():
    """In each of two states every other of 400 numbers is exact."""
    model = switched([[1.0, 0.0], [0.0, 1.0]] * 200, [0.3, 0.7])
    evidence = dict.fromkeys([f"x{at}" for at in range(400)], 0.0)
    beliefs = jt.infer(model, evidence)
    assert beliefs.log_evidence == near(-100 * math.log(2 * math.pi))
    assert beliefs["a"].values == near([0.3, 0.7])
    assert [best.log_prob for best in jt.most_probable(model, evidence, k=2)] == near(np.log([0.7, 0.3]).tolist())


def test_relations_that_exclude_each_other():
    """Two numbers are exact in states that one table couples: the pairs with one relation, not those with none."""
    b = jt.Variable("b", 2)
    model = jt.BayesianNetwork(
        [
            jt.Conditional(A, [], [0.5, 0.5]),
            jt.Conditional(b, [A], [[1.0, 0.0], [0.25, 0.75]]),  # a = 0 and b = 1 cannot be
            jt.LinearGaussian(X, [A], [[], []], [0.0, 0.0], [0.0, 1.0]),
            jt.LinearGaussian(Y, [b], [[], []], [0.0, 0.0], [1.0, 0.0]),
        ]
    )
    evidence = {"x": 0.0, "y": 0.0}
    assert jt.infer(model, evidence).joint("a", "b").values == near(np.array([[4 / 7, 0.0], [0.0, 3 / 7]]))
    ranked = jt.most_probable(model, evidence, k=4)
    assert [best.assignment for best in ranked] == [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
    rows = jt.sample(model, 300, given=evidence, rng=1).columns
    assert np.array_equal(rows["a"], rows["b"])
