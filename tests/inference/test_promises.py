"""What the exact engine promises beyond right answers on small models: no underflow, no surprise, any thread."""

from __future__ import annotations

import math
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from support.processor_time import takes_at_most


def naive_bayes(likelihoods, prior=(0.5, 0.5)):
    """A cause with one binary child per pair (p(child=1 | cause=0), p(child=1 | cause=1))."""
    cause = jt.Variable("cause", 2)
    parts = [jt.Conditional(cause, [], prior)]
    for place, (first, second) in enumerate(likelihoods):
        child = jt.Variable(f"x{place}", 2)
        parts.append(jt.Conditional(child, [cause], [[1 - first, first], [1 - second, second]]))
    return jt.BayesianNetwork(parts)


@pytest.mark.parametrize("count", [120, 3_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_rare_findings(count):
    """Each finding has likelihood 1e-3 or 2e-3; peers answer NaN, or that the evidence is impossible."""
    model = naive_bayes([(1e-3, 2e-3)] * count)
    beliefs = jt.infer(model, {f"x{place}": 1 for place in range(count)})
    log_odds = count * math.log(2)
    assert beliefs.log_evidence == pytest.approx(
        math.log(0.5) + count * math.log(2e-3) + math.log1p(math.exp(-log_odds)), rel=1e-12
    )
    assert beliefs["cause"][0] == pytest.approx(1 / (1 + 2.0**count) if count < 1000 else 0.0, rel=1e-9)
    assert not np.isnan(beliefs["cause"].values).any()


def test_findings_that_outweigh_each_other():
    """1,100 findings for one state, then 1,100 for the other: on the way the odds leave the range of doubles."""
    count = 1_100
    model = naive_bayes([(1e-3, 2e-3)] * count + [(2e-3, 1e-3)] * count)
    evidence = {f"x{place}": 1 for place in range(2 * count)}
    one = jt.infer(model, evidence)
    assert one["cause"].values == pytest.approx([0.5, 0.5], abs=1e-9)
    assert one.log_evidence == pytest.approx(count * (math.log(1e-3) + math.log(2e-3)), rel=1e-12)
    rows = jt.infer(model, [evidence, {"x0": 1}])
    assert rows["cause"].values[0] == pytest.approx([0.5, 0.5], abs=1e-9)
    assert rows.log_evidence[0] == pytest.approx(one.log_evidence, rel=1e-12)


def test_factors_outside_the_range_of_doubles():
    """Products of 1e300 and of 1e-300 in one clique."""
    a, b = jt.Variable("a", 2), jt.Variable("b", 2)
    huge = [jt.Factor([a, b], [[1e300, 1e300], [2e300, 1e300]])] * 3
    tiny = [jt.Factor([a, b], [[1e-300, 1.0], [1e-300, 1e-300]])] * 2
    for factors in (huge, tiny, [*huge, *tiny]):
        logs = sum(f.log_values for f in factors)
        total = np.logaddexp.reduce(logs.ravel())
        beliefs = jt.infer(jt.MarkovNetwork(factors))
        assert beliefs.log_evidence == pytest.approx(total, rel=1e-12)
        assert beliefs["a"].values == pytest.approx(np.exp(np.logaddexp.reduce(logs, axis=1) - total), abs=1e-12)
        rows = jt.infer(jt.MarkovNetwork(factors), [{}, {"b": 1}])
        assert rows.log_evidence == pytest.approx([total, np.logaddexp.reduce(logs[:, 1])], rel=1e-12)
        best = jt.most_probable(jt.MarkovNetwork(factors))
        assert best.log_joint == pytest.approx(logs.max(), rel=1e-12)


@pytest.mark.parametrize("count", [3_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (10_000, 100_000))])
def test_a_long_chain_of_variables(count):
    transition = np.array([[0.9, 0.1], [0.2, 0.8]])
    variables = [jt.Variable(f"x{place}", 2) for place in range(count)]
    parts = [jt.Conditional(variables[0], [], [0.5, 0.5])]
    parts += [jt.Conditional(child, [parent], transition) for parent, child in pairwise(variables)]
    model = jt.BayesianNetwork(parts)
    beliefs = jt.infer(model, {"x0": 1, f"x{count - 1}": 0})
    assert beliefs.log_evidence == pytest.approx(math.log(0.5 * 2 / 3), abs=1e-12)
    assert beliefs[f"x{count // 2}"].values == pytest.approx([2 / 3, 1 / 3], abs=1e-9)
    assert beliefs["x1"].values == pytest.approx([0.2, 0.8], abs=1e-9)


def test_zero_probability_is_seen_in_every_guise():
    asia = jt.example("asia")
    clash = {"lung": "yes", "either": "no"}
    guises = [
        lambda: jt.infer(asia, clash),
        lambda: jt.infer(asia, clash, targets=["asia"]),
        lambda: jt.infer(asia, {"lung": [1, 0], "either": [0, 1]}),
        lambda: jt.infer(asia, {"lung": "yes"}).with_evidence({"either": "no"}),
        lambda: jt.infer(asia, [{}, clash], on_impossible="raise"),
    ]
    for ask in guises:
        with pytest.raises(jt.ImpossibleEvidence, match="lung"):
            ask()
    zero = jt.MarkovNetwork([jt.Factor([jt.Variable("a", 2)], [0, 0])])
    with pytest.raises(jt.ImpossibleEvidence, match="weight zero"):
        jt.infer(zero)


@pytest.mark.parametrize(("side", "states"), [(22, 8), pytest.param(40, 2, marks=pytest.mark.slow)])
def test_a_grid_is_refused_at_once_with_its_size(side, states):
    cells = {(i, j): jt.Variable(f"x{i}_{j}", states) for i in range(side) for j in range(side)}
    pairs = [((i, j), (i + 1, j)) for i in range(side - 1) for j in range(side)]
    pairs += [((i, j), (i, j + 1)) for i in range(side) for j in range(side - 1)]
    grid = jt.MarkovNetwork([jt.Factor([cells[a], cells[b]], np.eye(states) + 1) for a, b in pairs])
    with takes_at_most(20), pytest.raises(jt.TooLarge, match=r"TiB \(width \d+, largest table"):
        jt.infer(grid, method="exact")
    assert jt.cost(grid).width >= side


def test_a_memory_limit_is_kept():
    alarm = jt.example("alarm")
    needed = jt.cost(alarm).bytes
    with pytest.raises(jt.TooLarge, match="raise memory_limit"):
        jt.infer(alarm, {}, memory_limit=int(needed) - 1, method="exact")
    assert jt.infer(alarm, {}, memory_limit=int(needed) + 1).exact


def test_a_plan_serves_other_numbers():
    asia = jt.example("asia")
    plan = jt.compile(asia, observed=["xray"], targets=["lung"])
    assert plan.cost.width == jt.cost(asia, observed=["xray"], targets=["lung"]).width
    other = asia.with_conditional(jt.Conditional(asia.variable("smoke"), [], [0.9, 0.1]))
    for model in (asia, other):
        expected = jt.infer(model, {"xray": "yes"}, method="enumeration")
        beliefs = plan.run(model, {"xray": "yes"})
        assert beliefs["lung"].values == pytest.approx(expected["lung"].values, abs=1e-14)
        assert beliefs.log_evidence == pytest.approx(expected.log_evidence)
    with pytest.raises(jt.errors.InvalidModel, match="another structure"):
        plan.run(jt.example("cancer"), {})


def test_noisy_or_with_thirty_parents():
    """The chain of hidden maxima answers what a table of 2³¹ entries would."""
    rng = np.random.default_rng(1)
    causes = [jt.Variable(f"d{place}", ["no", "yes"]) for place in range(30)]
    effect = jt.Variable("y", ["no", "yes"])
    strengths = rng.random(30)
    parts = [jt.Conditional(cause, [], [0.9, 0.1]) for cause in causes]
    model = jt.BayesianNetwork([*parts, jt.NoisyOr(effect, causes, strengths, leak=0.02)])
    off = 0.98 * np.prod(0.9 + 0.1 * (1 - strengths))
    beliefs = jt.infer(model, {"y": "yes"})
    assert beliefs.log_evidence == pytest.approx(math.log(1 - off))
    for place in (0, 29):
        on_but_off = 0.1 * (1 - strengths[place]) * off / (0.9 + 0.1 * (1 - strengths[place]))
        assert beliefs[f"d{place}"]["yes"] == pytest.approx((0.1 - on_but_off) / (1 - off))
    drawn = jt.sample(model, 2_000, given={"y": "yes"}, rng=0)
    expected = beliefs["d0"].values[1]
    assert abs(drawn.columns["d0"].mean() - expected) < 6 * math.sqrt(expected / 2_000)


def test_a_two_layer_diagnostic_network():
    """S4-198: many findings, few of them positive: the negative ones cost nothing. Against quick-score sums."""
    rng = np.random.default_rng(3)
    diseases = [jt.Variable(f"d{place}", ["no", "yes"]) for place in range(100)]
    parts: list = [jt.Conditional(disease, [], [0.95, 0.05]) for disease in diseases]
    strengths = np.zeros((100, 100))
    for finding in range(100):
        chosen = rng.choice(100, 8, replace=False)
        strengths[finding, chosen] = rng.random(8) * 0.8
        child = jt.Variable(f"f{finding}", ["no", "yes"])
        parts.append(jt.NoisyOr(child, [diseases[d] for d in chosen], strengths[finding, chosen], leak=0.01))
    model = jt.BayesianNetwork(parts)
    positive = 6
    evidence = {f"f{place}": "yes" if place < positive else "no" for place in range(100)}
    total = Decimal(0)  # the sum alternates and loses thirteen digits on the way
    for subset in range(2**positive):
        chosen = [place for place in range(positive) if subset >> place & 1]
        off = [*chosen, *range(positive, 100)]
        term = (-1) ** len(chosen) * (1 - Decimal("0.01")) ** len(off)
        for disease in range(100):
            keep = math.prod((1 - Decimal(p) for p in strengths[off, disease] if p), start=Decimal(1))
            term *= Decimal("0.95") + Decimal("0.05") * keep
        total += term
    assert jt.infer(model, evidence).log_evidence == pytest.approx(float(total.ln()), abs=1e-12)


def test_eight_threads_at_once():
    model = jt.example("alarm")
    rows = jt.sample(model, 64, rng=0).to_dict()
    evidence = [{name: rows[name][row] for name in ("HRBP", "CVP", "BP")} for row in range(64)]
    alone = [jt.infer(model, row)["HYPOVOLEMIA"].values for row in evidence]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda row: jt.infer(model, row)["HYPOVOLEMIA"].values, evidence * 20))
    for place, values in enumerate(together):
        assert np.array_equal(values, alone[place % 64])


def ask_in_child(queue):
    model = jt.example("asia")
    rows = jt.infer(model, [{"xray": "yes"}] * 300)["lung"].values[:, 0]
    queue.put((jt.infer(model, {"xray": "yes"})["lung"]["yes"], float(rows.mean())))


@pytest.mark.filterwarnings("ignore:This process")
def test_a_query_after_a_fork():
    model = jt.example("asia")
    expected = jt.infer(model, {"xray": "yes"})["lung"]["yes"]
    jt.infer(model, [{"xray": "yes"}] * 300)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=ask_in_child, args=(queue,))
    process.start()
    assert queue.get(timeout=600) == pytest.approx((expected, expected))
    process.join(timeout=600)
    assert process.exitcode == 0


def test_rows_do_not_depend_on_how_many_there_are():
    """Fixed blocks: the answer to a row is the same bits alone, among few and among many."""
    model = jt.example("alarm")
    rows = jt.sample(model, 700, rng=2)
    keep = {name: rows.columns[name] for name in ("HRBP", "CVP", "BP", "PRESS")}
    variables = [model.variable(name) for name in keep]
    many = jt.infer(model, jt.Dataset.from_codes(variables, keep))["LVFAILURE"].values
    again = jt.infer(model, jt.Dataset.from_codes(variables, keep))["LVFAILURE"].values
    assert np.array_equal(many, again)
    few = jt.infer(model, jt.Dataset.from_codes(variables, {n: c[:130] for n, c in keep.items()}))["LVFAILURE"].values
    assert many[:130] == pytest.approx(few, abs=1e-15)


def test_a_model_without_variables():
    assert jt.infer(jt.MarkovNetwork([jt.Factor([], 2.0)])).log_evidence == pytest.approx(math.log(2))
    assert jt.infer(jt.BayesianNetwork([])).log_evidence == 0


def test_rows_hold_only_the_targets():
    model = jt.example("alarm")
    rows = [{"HRBP": "HIGH"}, {"BP": "LOW"}, {}]
    some = jt.infer(model, rows, targets=["LVFAILURE", "CVP"])
    every = jt.infer(model, rows)
    assert some.answers.marginals.shape == (3, 5)
    for name in ("CVP", "LVFAILURE"):
        assert some[name].values == pytest.approx(every[name].values, abs=1e-15)
    assert some.joint("CVP", "LVFAILURE").values == pytest.approx(every.joint("CVP", "LVFAILURE").values, abs=1e-15)


def test_rows_that_are_all_impossible():
    rows = [{"lung": "yes", "either": "no"}] * 2
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        best = jt.most_probable(jt.example("asia"), rows)
    assert np.isnan(best.log_prob).all()
    assert best.impossible == (0, 1)


def test_a_plan_says_what_it_does_not_touch():
    asia = jt.example("asia")
    plan = jt.compile(asia, observed=["xray"], targets=["lung"])
    with pytest.raises(jt.errors.InvalidData, match="'dysp' is not part of this plan"):
        plan.run(asia, {"dysp": "yes"})


def test_hard_and_soft_evidence_on_a_model_that_must_be_cut():
    """A complete graph of 40 binary variables is too large as a whole, not once 35 are observed."""
    variables = [jt.Variable(f"x{place}", 2) for place in range(40)]
    rng = np.random.default_rng(5)
    factors = [
        jt.Factor([a, b], rng.uniform(0.5, 2.0, size=(2, 2))) for p, a in enumerate(variables) for b in variables[:p]
    ]
    field = jt.MarkovNetwork(factors, variables)
    seen = {f"x{place}": int(rng.integers(2)) for place in range(5, 40)}
    beliefs = jt.infer(field, seen)
    free = jt.MarkovNetwork([f.condition({n: s for n, s in seen.items() if n in f.scope.names}) for f in factors])
    expected = jt.infer(free, method="enumeration")
    assert beliefs.log_evidence == pytest.approx(expected.log_evidence)
    assert beliefs.joint("x0", "x3").values == pytest.approx(expected.joint("x0", "x3").values)
    assert beliefs["x7"][seen["x7"]] == 1.0
    soft = jt.infer(field, jt.Evidence(seen, likelihoods={"x7": [0.25, 0.25], "x0": [1.0, 3.0]}))
    weighed = jt.infer(free, {"x0": [1.0, 3.0]}, method="enumeration")
    assert soft.log_evidence == pytest.approx(weighed.log_evidence + math.log(0.25))
    assert soft["x1"].values == pytest.approx(weighed["x1"].values)
    assert jt.most_probable(field, seen).log_joint == pytest.approx(jt.most_probable(free).log_joint)


def test_tables_are_reduced_first_where_it_pays():
    """Three variables of 150 states: with one observed, a table of 150² does instead of one of 150³."""
    rng = np.random.default_rng(0)
    a, b, c = (jt.Variable(name, 150) for name in "abc")
    parts = [
        jt.Conditional(a, [], rng.dirichlet(np.ones(150))),
        jt.Conditional(b, [], rng.dirichlet(np.ones(150))),
        jt.Conditional(c, [a, b], rng.dirichlet(np.ones(150), size=(150, 150))),
    ]
    model = jt.BayesianNetwork(parts)
    joint = parts[0].values[:, None] * parts[1].values * parts[2].values[:, :, 7]
    jt.infer(model)
    beliefs = jt.infer(model, {"c": 7})
    assert type(beliefs.answers).__name__ == "ReducedAnswers"
    assert beliefs["a"].values == pytest.approx(joint.sum(axis=1) / joint.sum(), abs=1e-13)
    assert beliefs["c"][7] == 1.0
    assert beliefs.log_evidence == pytest.approx(math.log(joint.sum()))
    assert jt.most_probable(model, {"c": 7}).log_joint == pytest.approx(math.log(joint.max()))
    general = jt.infer(model, [{"c": 7}])
    assert general["b"].values[0] == pytest.approx(beliefs["b"].values, abs=1e-13)
