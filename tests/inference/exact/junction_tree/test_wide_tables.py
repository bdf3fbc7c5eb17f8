"""Tables that span more than doubles do: every engine against decimals of fifty digits, energies up to ±2000."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.formats.json import read_json, write_json
from juncture.formats.row_repair import RowRepair
from juncture.inference.infer import EXACT_METHODS
from support.log_oracles import DIGITS, log, marginal, random_evidence, random_model, share, total, weighed

SEEDS = st.integers(0, 2**32 - 1)
ENGINES = sorted(set(EXACT_METHODS) - {"auto", "exact"})
A, B = jt.Variable("a", 2), jt.Variable("b", 2)


def near(value):
    """Logarithms of size 1e4 are sums of a dozen roundings."""
    return pytest.approx(value, rel=1e-13, abs=1e-10)


def draw_case(seed, **options):
    """(rng, model, energies, evidence, weighed assignments) of evidence that can occur, or None."""
    rng = np.random.default_rng(seed)
    model, energies = random_model(rng, **options)
    evidence = random_evidence(rng, model)
    rows = weighed(model, energies, evidence)
    return (rng, model, energies, evidence, rows) if total(rows) else None


@pytest.mark.parametrize(("low", "high"), [(-100, 650), (-50, 690), (-700, 700), (-2000, 2000), (1000, 1800)])
@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("kind", [jt.MarkovNetwork, jt.FactorGraph])
def test_rare_evidence_of_a_wide_table(kind, method, low, high):
    energies = [[low, high], [high, low]]
    model = kind(jt.MarkovNetwork.from_energies([([A, B], energies)]).factors)
    for a, b in itertools.product(range(2), range(2)):
        assert jt.infer(model, {"a": a, "b": b}, method=method).log_evidence == near(-energies[a][b])
        assert jt.infer(model, [{"a": a, "b": b}] * 3, method=method).log_evidence == near([-energies[a][b]] * 3)
        assert jt.most_probable(model, {"a": a, "b": b}, method=method).log_joint == near(-energies[a][b])
    best = jt.most_probable(model, k=4, method=method)
    assert [item.log_joint for item in best] == near([-low, -low, -high, -high])


@pytest.mark.parametrize("method", ENGINES)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_marginals_joints_and_evidence(method, seed):
    case = draw_case(seed)
    if case is None:
        return
    _, model, _, evidence, rows = case
    one, many = jt.infer(model, evidence, method=method), jt.infer(model, [evidence, evidence], method=method)
    assert one.log_evidence == near(log(total(rows)))
    assert many.log_evidence == near([log(total(rows))] * 2)
    for variable in model.variables:
        expected = marginal(rows, variable)
        assert one[variable.name].values == pytest.approx(expected, abs=1e-10)
        assert many[variable.name].values[1] == pytest.approx(expected, abs=1e-10)
    first, second = model.variables[0], model.variables[-1]
    pairs = itertools.product(range(first.num_states), range(second.num_states))
    expected = [share(rows, (first.name, i), (second.name, j)) for i, j in pairs]
    assert one.joint(first.name, second.name).values.reshape(-1) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("method", ENGINES)
@settings(max_examples=25)
@given(seed=SEEDS)
def test_impossible_is_only_what_no_assignment_allows(method, seed):
    rng = np.random.default_rng(seed)
    model, energies = random_model(rng)
    evidence = random_evidence(rng, model)
    if total(weighed(model, energies, evidence)):
        assert jt.infer(model, evidence, method=method).log_evidence > -np.inf
    else:
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, evidence, method=method)


@pytest.mark.parametrize("method", ENGINES)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_best_assignments(method, seed):
    case = draw_case(seed)
    if case is None:
        return
    _, model, _, evidence, rows = case
    weights = sorted((weight for _, weight in rows if weight), reverse=True)
    best = jt.most_probable(model, evidence, k=4, method=method)
    assert [item.log_joint for item in best] == near([log(weight) for weight in weights[:4]])
    assert best[0].log_prob == near(log(weights[0]) - log(total(rows)))
    name = model.variables[0].name
    top = max(marginal(rows, model.variables[0]))
    mapped = jt.most_probable(model, evidence, targets=[name], method=method)
    assert share(rows, (name, mapped.assignment[name])) == pytest.approx(top, abs=1e-10)
    many = jt.most_probable(model, [evidence] * 2, method=method)
    assert many.log_joint == near([log(weights[0])] * 2)


@pytest.mark.parametrize("method", ENGINES)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_draws_are_what_the_posterior_makes_likely(method, seed):
    case = draw_case(seed)
    if case is None:
        return
    _, model, _, evidence, rows = case
    sampled = jt.sample(model, 40, given=evidence, rng=seed, method=method)
    for place in range(40):
        codes = {name: int(column[place]) for name, column in sampled.columns.items()}
        assert share(rows, *codes.items()) > 1e-7
    for variable in model.variables:
        for code, probability in enumerate(marginal(rows, variable)):
            if probability > 1 - 1e-9:
                assert (sampled.columns[variable.name] == code).all()


@settings(max_examples=25)
@given(seed=SEEDS)
def test_log_prob_of_whole_and_partial_rows(seed):
    rng = np.random.default_rng(seed)
    model, energies = random_model(rng)
    rows = weighed(model, energies)
    if not total(rows):
        return
    for codes, weight in rows[:: max(1, len(rows) // 6)]:
        assert jt.log_prob(model, codes) == near(log(weight) - log(total(rows)))
        part = dict(list(codes.items())[1:])
        expected = log(total(weighed(model, energies, part))) - log(total(rows))
        assert jt.log_prob(model, part) == near(expected)


@settings(max_examples=25)
@given(seed=SEEDS)
def test_derivatives(seed):
    """d log p(e) / d θ = p(cell | e) / θ, in decimals; refused where no double holds it."""
    case = draw_case(seed)
    if case is None:
        return
    _, model, energies, evidence, rows = case
    expected = []
    for place, (scope, table) in enumerate(energies):
        others = [*energies[:place], *energies[place + 1 :]]
        bare = weighed(model, others, evidence)
        for cell in np.ndindex(table.shape):
            chosen = [(codes, w) for codes, w in bare if tuple(codes[v.name] for v in scope) == cell]
            expected.append(DIGITS.divide(total(chosen), total(rows)))
    if max(expected) > DIGITS.create_decimal("1.7e308"):
        with pytest.raises(jt.errors.InvalidData, match="which no double holds"):
            jt.sensitivity(model, evidence)
        return
    found = np.concatenate([slopes.reshape(-1) for slopes in jt.sensitivity(model, evidence).values()])
    assert found == pytest.approx([float(value) for value in expected], rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("schedule", ["tree", "flooding"])
@settings(max_examples=25)
@given(seed=SEEDS)
def test_messages_on_chains(schedule, seed):
    case = draw_case(seed, is_tree=True)
    if case is None:
        return
    _, model, _, evidence, rows = case
    run = jt.messages.sum_product(model.merge(), evidence, schedule=schedule)
    assert run.log_evidence == near(log(total(rows)))
    for variable in model.variables:
        assert run.marginals[variable.name].values == pytest.approx(marginal(rows, variable), abs=1e-10)
    best = jt.messages.max_product(model.merge(), evidence, schedule=schedule)
    assert best.log_joint == near(log(max(weight for _, weight in rows)))


@settings(max_examples=25)
@given(seed=SEEDS)
def test_the_same_model_in_other_forms(seed):
    """Merged, absorbed, summed out, written and read, planned, and as a Bayesian network."""
    case = draw_case(seed, kind=jt.MarkovNetwork)
    if case is None:
        return
    _, model, energies, evidence, rows = case
    log_total, first = near(log(total(rows))), model.variables[0]
    for other in (model.merge(), model.merge(0, 1), model.absorb(), read_json(write_json(model).encode(), RowRepair())):
        assert jt.infer(other, evidence).log_evidence == log_total
    plan = jt.compile(model, observed=list(evidence), targets=[first.name])
    assert plan.run(model, evidence).log_evidence == log_total
    assert plan.run(model, evidence)[first.name].values == pytest.approx(marginal(rows, first), abs=1e-10)
    free = [variable.name for variable in model.variables if variable.name not in evidence]
    if free:
        assert jt.infer(model.marginalize(*free), evidence).log_evidence == log_total
    prior = weighed(model, energies)
    directed = jt.infer(jt.messages.to_bayesian_network(model))
    for variable in model.variables:
        assert directed[variable.name].values == pytest.approx(marginal(prior, variable), abs=1e-9)


def test_many_factors_multiply_to_less_than_doubles_hold():
    model = jt.FactorGraph([jt.Factor([A], [1, 0.01])] * 200 + [jt.Factor([A], [0.01, 1])] * 201)
    merged = model.merge()
    assert len(merged.factors) == 1
    assert merged.factors[0].log_values == near([201 * np.log(0.01), 200 * np.log(0.01)])
    for each in (model, merged):
        assert jt.infer(each)["a"].values == pytest.approx([1 / 101, 100 / 101], abs=1e-12)
        assert jt.infer(each).log_evidence == near(200 * np.log(0.01) + np.log(1.01))


@pytest.mark.parametrize("method", ENGINES)
def test_likelihoods_that_span_more_than_doubles_do(method):
    """p(smoke) = 1/2: the likelihoods alone decide, whatever their size."""
    asia = jt.example("asia")
    rows = [{"smoke": [1e300, 1e-300]}, {"smoke": [1e-300, 1e300]}, {}, {"smoke": [0.0, 1e-300]}]
    logs = [300 * np.log(10) - np.log(2), 300 * np.log(10) - np.log(2), 0.0, -300 * np.log(10) - np.log(2)]
    assert jt.infer(asia, rows, method=method).log_evidence == near(logs)
    for row, expected in zip(rows, logs, strict=True):
        assert jt.infer(asia, row, method=method).log_evidence == near(expected)
    clash = {"smoke": [1e300, 1e-300], "lung": [0.0, 1.0]}
    both = jt.infer(asia, {**clash, "bronc": [1e-300, 1e300]}, method=method)
    assert both.log_evidence == near(jt.infer(asia, {**clash, "bronc": [1e-300, 1e300]}).log_evidence)
