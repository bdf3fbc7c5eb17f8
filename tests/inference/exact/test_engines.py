"""Every exact engine against plain Python loops over all assignments."""

from __future__ import annotations

import itertools
import math
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.infer import EXACT_METHODS
from support.builders import random_evidence, random_field, random_network
from support.zeros import PossibleCells, any_evidence, model_with_zeros

SEEDS = st.integers(0, 2**32 - 1)
KINDS = [random_network, random_field, model_with_zeros]
ENGINES = [*sorted(set(EXACT_METHODS) - {"auto", "exact"}), PossibleCells()]


def weighed(model, evidence):
    """(assignment, weight) for every assignment, the weight by looking up every factor: the obvious way."""
    rows = []
    for states in itertools.product(*(variable.labels for variable in model.variables)):
        row = dict(zip(model.variables.names, states, strict=True))
        weight = 1.0
        for factor in model.factors:
            weight *= factor[tuple(row[name] for name in factor.scope.names)]
        for name, value in evidence.items():
            if isinstance(value, list):
                weight *= value[model.variable(name).code(row[name])]
            elif value is not None and row[name] != value:
                weight = 0.0
        rows.append((row, weight))
    return rows


def draw(build, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    return model, evidence_for(build, model, rng)


def evidence_for(build, model, rng):
    """Of models with zeros also evidence that is impossible."""
    return any_evidence(model, rng) if build is model_with_zeros else random_evidence(model, rng)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_marginals_and_evidence(build, method, seed):
    model, evidence = draw(build, seed)
    rows = weighed(model, evidence)
    total = math.fsum(weight for _, weight in rows)
    if total == 0:
        with pytest.raises(jt.ImpossibleEvidence):
            jt.infer(model, evidence, method=method)
        return
    beliefs = jt.infer(model, evidence, method=method)
    assert beliefs.exact
    assert beliefs.log_evidence == pytest.approx(math.log(total), abs=1e-11)
    for variable in model.variables:
        for label in variable.labels:
            mass = math.fsum(weight for row, weight in rows if row[variable.name] == label)
            assert beliefs[variable.name][label] == pytest.approx(mass / total, abs=1e-12)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_joint_agrees_with_its_marginals_in_any_order(build, method, seed):
    model, _ = draw(build, seed)
    try:
        beliefs = jt.infer(model, method=method)
    except jt.ImpossibleEvidence:
        return  # a field that is zero everywhere
    names = model.variables.names[:3]
    joint = beliefs.joint(*names)
    backwards = beliefs.joint(*reversed(names))
    assert np.allclose(backwards.reorder(*names).values, joint.values, atol=1e-14)
    for name in names:
        assert joint.marginal(name).values == pytest.approx(beliefs[name].values, abs=1e-13)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_k_best_are_the_largest_products(build, method, seed):
    model, evidence = draw(build, seed)
    rows = weighed(model, evidence)
    weights = sorted((weight for _, weight in rows if weight > 0), reverse=True)
    if not weights:
        return
    hard = {name for name, value in evidence.items() if value is not None and not isinstance(value, list)}
    best = jt.most_probable(model, evidence, k=4, method=method)
    assert [math.exp(item.log_joint) for item in best] == pytest.approx(weights[:4], rel=1e-9)
    assert math.exp(best[0].log_prob) == pytest.approx(weights[0] / math.fsum(weights), rel=1e-9)
    for item in best:
        assert set(item.assignment) == set(model.variables.names) - hard
        full = {**evidence, **item.assignment}
        weight = next(weight for row, weight in rows if all(row[name] == full[name] for name in row))
        assert math.log(weight) == pytest.approx(item.log_joint, abs=1e-9)
    assert jt.most_probable(model, evidence, method=method) == best[0]


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_marginal_map_sums_the_rest_out(build, method, seed):
    model, evidence = draw(build, seed)
    rows = weighed(model, evidence)
    total = math.fsum(weight for _, weight in rows)
    if total == 0:
        return
    target = model.variables.names[-1]
    masses = {
        label: math.fsum(weight for row, weight in rows if row[target] == label)
        for label in model.variable(target).labels
    }
    best = jt.most_probable(model, evidence, targets=[target], method=method)
    assert math.exp(best.log_joint) == pytest.approx(max(masses.values()), rel=1e-9)
    assert masses[best.assignment[target]] == pytest.approx(max(masses.values()), rel=1e-9)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_many_rows_are_as_many_single_rows(build, method, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    rows = [evidence_for(build, model, rng) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ImpossibleEvidenceWarning)
        many = jt.infer(model, rows, method=method)
        best = jt.most_probable(model, rows, method=method)
    for place, row in enumerate(rows):
        try:
            one = jt.infer(model, row, method=method)
        except jt.ImpossibleEvidence:
            assert place in many.impossible
            assert many.log_evidence[place] == -np.inf
            assert np.isnan(many[model.variables.names[0]].values[place]).all()
            assert np.isnan(best.log_prob[place])
            continue
        assert many.log_evidence[place] == pytest.approx(one.log_evidence, abs=1e-12)
        for name in model.variables.names:
            assert many[name].values[place] == pytest.approx(one[name].values, abs=1e-13)
        assert best.log_joint[place] == pytest.approx(jt.most_probable(model, row, method=method).log_joint, abs=1e-12)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
@given(seed=SEEDS)
def test_log_prob_sums_holes_out(build, method, seed):
    rng = np.random.default_rng(seed)
    model = build(rng)
    rows = weighed(model, {})
    total = math.fsum(weight for _, weight in rows)
    if total == 0:
        return
    states = [
        {v.name: None if rng.random() < 0.4 else v.labels[rng.integers(v.num_states)] for v in model.variables}
        for _ in range(3)
    ]
    answers = jt.log_prob(model, states, method=method)
    for row, answer in zip(states, answers, strict=True):
        mass = math.fsum(w for full, w in rows if all(row[n] is None or full[n] == row[n] for n in row)) / total
        assert math.exp(answer) == pytest.approx(mass, abs=1e-12)
        assert jt.log_prob(model, row, method=method) == pytest.approx(answer)


def is_possible(model, evidence):
    return any(weight > 0 for _, weight in weighed(model, evidence))


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("build", KINDS)
def test_samples_follow_the_posterior(build, method):
    rng = np.random.default_rng(7)
    model = next(model for model in (build(rng) for _ in range(100)) if is_possible(model, {}))
    name = model.variables.names[-1]
    label = next(s for s, p in jt.infer(model, method=method)[name].to_dict().items() if p > 0)
    for evidence in (None, {name: label}):
        rows = jt.sample(model, 20_000, given=evidence, rng=3, method=method)
        beliefs = jt.infer(model, evidence, method=method)
        for variable in model.variables:
            codes = rows.columns[variable.name]
            found = np.bincount(codes, minlength=variable.num_states) / len(rows)
            p = beliefs[variable.name].values
            assert (np.abs(found - p) <= 6 * np.sqrt(p * (1 - p) / len(rows)) + 1e-12).all()
            assert (found[p == 0] == 0).all()


def test_same_seed_same_rows():
    model = jt.example("asia")
    drawn, again = (jt.sample(model, 100, rng=np.random.default_rng(5)) for _ in range(2))
    assert drawn == again == jt.sample(model, 100, rng=drawn.seed)
    assert jt.sample(model, 100, rng=5) != jt.sample(model, 100, rng=6)


def test_targets_keep_irrelevant_variables_out():
    """Only ancestors of targets and findings are visited, so even enumeration answers a small question to alarm."""
    beliefs = jt.infer(jt.example("alarm"), {"HYPOVOLEMIA": "TRUE"}, targets=["LVEDVOLUME"], method="enumeration")
    assert beliefs["LVEDVOLUME"].values.sum() == pytest.approx(1)
    with pytest.raises(jt.UnknownVariable, match="not among the targets"):
        beliefs["HR"]


def test_a_large_model_is_refused_with_its_size():
    with pytest.raises(jt.TooLarge, match=r"1\.73e\+16 joint states of 37 variables"):
        jt.infer(jt.example("alarm"), method="enumeration")
    for method in ENGINES:
        with pytest.raises(jt.TooLarge):
            jt.infer(jt.example("asia"), method=method, memory_limit=100)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"lung": "yes", "either": "no"}, "lung=yes, either=no cannot occur together"),
        ({"tub": "yes", "either": "no", "smoke": "yes", "xray": "yes"}, "tub=yes, either=no cannot occur together"),
    ],
)
def test_impossible_evidence_names_the_clash(evidence, words):
    with pytest.raises(jt.ImpossibleEvidence, match=words):
        jt.infer(jt.example("asia"), evidence)
    with pytest.raises(jt.ImpossibleEvidence, match=words):
        jt.infer(jt.example("asia"), evidence, targets=["asia"])
    with pytest.raises(jt.ImpossibleEvidence, match=words):
        jt.sample(jt.example("asia"), 3, given=evidence)
    with pytest.raises(jt.ImpossibleEvidence, match=words):
        jt.most_probable(jt.example("asia"), evidence)


@pytest.mark.parametrize("method", ENGINES)
@given(seed=SEEDS)
def test_the_clash_is_minimal(method, seed):
    """The findings that an error names cannot occur together; without any one of them they can."""
    model, evidence = draw(model_with_zeros, seed)
    hard = {name: value for name, value in evidence.items() if not isinstance(value, list)}
    try:
        jt.infer(model, hard, method=method)
    except jt.ImpossibleEvidence as error:
        named = {name: hard[name] for name in re.findall(r"(x\d+)=", str(error))}
        assert not is_possible(model, named)
        assert all(is_possible(model, {n: v for n, v in named.items() if n != name}) for name in named)


def test_an_impossible_row_among_many_warns_or_raises():
    rows = [{"smoke": "yes"}, {"lung": "yes", "either": "no"}]
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 2 rows"):
        beliefs = jt.infer(jt.example("asia"), rows)
    assert beliefs.impossible == (1,)
    with pytest.raises(jt.ImpossibleEvidence, match="row 1 has probability zero"):
        jt.infer(jt.example("asia"), rows, on_impossible="raise")


def test_rare_findings_do_not_underflow():
    """Naive Bayes with 18 findings of likelihood 1e-30 each: the product, 1e-540, is no double."""
    cause = jt.Variable("cause", 2)
    parts = [jt.Conditional(cause, [], [0.5, 0.5])]
    for place in range(18):
        child = jt.Variable(f"x{place}", 2)
        parts.append(jt.Conditional(child, [cause], [[1 - 1e-30, 1e-30], [1 - 2e-30, 2e-30]]))
    beliefs = jt.infer(jt.BayesianNetwork(parts), {f"x{place}": 1 for place in range(18)})
    assert beliefs["cause"][0] == pytest.approx(1 / (1 + 2.0**18))
    assert beliefs.log_evidence == pytest.approx(18 * math.log(1e-30) + math.log(0.5 * (1 + 2.0**18)))


def test_conflict_and_more_evidence():
    """Findings that contradict each other have a positive conflict: log Π p(e) / p(all)."""
    asia = jt.example("asia")
    beliefs = jt.infer(asia, {"xray": "yes"})
    assert beliefs.conflict == pytest.approx(0, abs=1e-12)
    more = beliefs.with_evidence({"lung": "no"}).with_evidence({"tub": "no"})
    single = [
        jt.infer(asia, {name: state}).log_evidence for name, state in [("xray", "yes"), ("lung", "no"), ("tub", "no")]
    ]
    assert more.conflict == pytest.approx(sum(single) - more.log_evidence)
    assert more.conflict > 0
    assert more["bronc"].values == pytest.approx(
        jt.infer(asia, {"xray": "yes", "lung": "no", "tub": "no"})["bronc"].values, abs=1e-15
    )
    field = asia.to_markov_network()
    assert jt.infer(field, {"xray": "yes", "lung": "no"}).conflict == pytest.approx(
        beliefs.with_evidence({"lung": "no"}).conflict
    )


def test_soft_and_hard_evidence_agree_where_they_mean_the_same():
    asia = jt.example("asia")
    assert jt.infer(asia, {"xray": [1, 0]})["lung"].values == pytest.approx(
        jt.infer(asia, {"xray": "yes"})["lung"].values, abs=1e-15
    )
    assert jt.infer(asia, {"xray": [3, 3]})["lung"].values == pytest.approx(jt.infer(asia)["lung"].values, abs=1e-15)
    rows = jt.Evidence([{}, {}], likelihoods={"xray": [[1, 0], [1, 1]]})
    both = jt.infer(asia, rows)["lung"].values
    assert both[0] == pytest.approx(jt.infer(asia, {"xray": "yes"})["lung"].values, abs=1e-15)


def test_an_engine_that_cannot_take_a_conditional_names_it():
    height, weight = jt.Variable("height"), jt.Variable("weight")
    model = jt.BayesianNetwork(
        [jt.LinearGaussian(height, [], [], 170.0, 49.0), jt.LinearGaussian(weight, [height], [0.9], -80.0, 25.0)]
    )
    for method in ENGINES:
        with pytest.raises(jt.errors.Unsupported, match=r"LinearGaussian\(height\)"):
            jt.infer(model, method=method)
    assert len(jt.sample(model, 5, rng=0)) == 5
    row = {"height": 180.0, "weight": 80.0}
    expected = -0.5 * (math.log(2 * math.pi * 49) + 100 / 49 + math.log(2 * math.pi * 25) + 4 / 25)
    assert jt.log_prob(model, row) == pytest.approx(expected)
    assert jt.log_prob(model, {"height": 180.0}) == pytest.approx(-0.5 * (math.log(2 * math.pi * 49) + 100 / 49))


def test_bad_questions_get_a_sentence():
    asia = jt.example("asia")
    with pytest.raises(jt.UnknownVariable, match="did you mean 'smoke'"):
        jt.infer(asia, {"smok": "yes"})
    with pytest.raises(jt.errors.UnknownState, match="'smoke' has no state 'maybe'"):
        jt.infer(asia, {"smoke": "maybe"})
    with pytest.raises(jt.UnknownVariable, match="did you mean 'lung'"):
        jt.infer(asia, targets=["lun"])
    with pytest.raises(jt.errors.InvalidData, match="list of names"):
        jt.infer(asia, targets="lung")
    with pytest.raises(jt.errors.Unsupported, match="no method 'enumerate'; did you mean 'enumeration'"):
        jt.infer(asia, method="enumerate")
    with pytest.raises(jt.errors.Unsupported, match="takes a model"):
        jt.infer({"not": "a model"})
    with pytest.raises(jt.errors.InvalidData, match="k must be"):
        jt.most_probable(asia, k=0)
    with pytest.raises(jt.errors.InvalidData, match="one row"):
        jt.sample(asia, 3, given=[{"smoke": "yes"}, {}])


def test_beliefs_can_be_shown_and_exported():
    beliefs = jt.infer(jt.example("asia"), {"xray": "yes"})
    assert repr(beliefs).startswith("Beliefs(junction-tree, exact, 8 variables, log evidence -2.2")
    assert beliefs.to_dict()["xray"] == {"yes": 1.0, "no": 0.0}
    frame = beliefs.to_pandas()
    assert list(frame.columns) == ["variable", "state", "probability"]
    assert frame.groupby("variable")["probability"].sum().to_numpy() == pytest.approx(np.ones(8))
    rows = jt.infer(jt.example("asia"), [{}, {"smoke": "yes"}]).to_pandas()
    assert len(rows) == 32
    nasty = jt.Variable("<script>", ["<b>", "&"])
    shown = jt.infer(jt.BayesianNetwork([jt.Conditional(nasty, [], [0.5, 0.5])]))._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown
