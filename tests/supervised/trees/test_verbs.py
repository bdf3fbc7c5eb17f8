"""What the verbs answer of trees and forests: distributions of classes and numbers, of mixed columns with holes."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.supervised import DecisionTree, RandomForest
from juncture.variables import Model

RNG = np.random.default_rng(3)
ROWS = {
    "age": RNG.normal(40.0, 10.0, 60).round(1),
    "sky": RNG.choice(["sun", "rain", "fog"], 60).tolist(),
}
LABELS = np.where((ROWS["age"] > 40.0) ^ (RNG.random(60) < 0.2), "old", "young")
NUMBERS = ROWS["age"] / 10.0 + np.array([{"sun": 0.0, "rain": 2.0, "fog": 4.0}[sky] for sky in ROWS["sky"]])
NUMBERS = NUMBERS + RNG.normal(size=60)
HOLES = {"age": [35.0, None, None, 47.0], "sky": ["sun", "rain", None, None]}
KINDS = pytest.mark.parametrize("kind", [DecisionTree, RandomForest])


def learn(kind, target="class", **options):
    limits = {"max_depth": 3, "rng": 0, **({"num_trees": 7} if kind is RandomForest else {})}
    return jt.fit(kind, ROWS, LABELS if target == "class" else NUMBERS, target=target, **{**limits, **options})


@KINDS
def test_beliefs_are_the_shares_of_the_classes(kind):
    model = learn(kind).model
    for table in (ROWS, HOLES):
        beliefs = jt.infer(model, table)
        assert beliefs["y"].values == pytest.approx(model.predict_proba(table))
        assert jt.most_probable(model, table).assignments.columns["y"].tolist() == [
            model.classes.index(label) for label in model.predict(table)
        ]
    codes = np.array([model.classes.index(label) for label in LABELS])
    with np.errstate(divide="ignore"):
        logs = np.log(model.predict_proba(ROWS)[np.arange(60), codes])
    assert jt.log_prob(model, ROWS, LABELS) == pytest.approx(logs)
    assert jt.log_prob(model, {**ROWS, "y": LABELS}) == pytest.approx(logs)
    assert learn(kind).log_likelihood == pytest.approx(logs.sum())


@KINDS
def test_one_row_may_leave_inputs_out(kind):
    model = learn(kind).model
    row = jt.infer(model, {"age": 35.0})
    assert row["y"].values == pytest.approx(model.predict_proba({"age": [35.0], "sky": [None]})[0])
    assert row.is_single
    with pytest.raises(jt.errors.InvalidData, match="without the column 'hat'"):
        jt.infer(model, {"age": 35.0, "hat": 1})
    assert jt.infer(model, {"age": 35.0, "hat": 1}, extra="ignore")["y"].values == pytest.approx(row["y"].values)


def moments_of_paths(tree, table):
    """The mean and the variance of the mixture of the Gaussians of all leaves that a row reaches, by hand."""
    values = []
    for row in tree.read(table):
        waiting, parts = [(0, 1.0)], []
        while waiting:
            node, share = waiting.pop()
            first, size = int(tree.first_child[node]), int(tree.num_children[node])
            cell = row[tree.split[node]]
            if not size:
                parts.append((share, tree.statistics[node, 1], tree.variances[node]))
            elif np.isnan(cell):
                weights = tree.weights[first : first + size]
                waiting += [(first + k, share * weights[k] / weights.sum()) for k in range(size)]
            elif tree.inputs[tree.split[node]].is_real:
                waiting.append((first + int(cell > tree.threshold[node]), share))
            else:
                found = np.flatnonzero(tree.branch[first : first + size] == cell)
                parts += [] if found.size else [(share, tree.statistics[node, 1], tree.variances[node])]
                waiting += [(first + int(k), share) for k in found]
        shares, means, variances = np.array(parts).T
        mean = shares @ means
        values.append((mean, shares @ (variances + means**2) - mean**2))
    return np.array(values).T


def test_a_number_has_the_moments_of_its_leaves():
    tree = learn(DecisionTree, "number").model
    for table in (ROWS, HOLES):
        beliefs = jt.infer(tree, table)
        mean, variance = moments_of_paths(tree, table)
        assert beliefs.mean == pytest.approx(mean)
        assert beliefs.mean == pytest.approx(tree.predict(table))
        assert beliefs.standard_deviation == pytest.approx(np.sqrt(variance))


def test_the_variance_of_a_leaf_counts_that_of_its_parent_as_a_row():
    tree = jt.fit(DecisionTree, [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 5.0, 9.0], target="number").model
    assert tree.variances[0] == pytest.approx(11.0)
    for node in range(1, tree.num_nodes):
        own, weight = tree.statistics[node, 2], tree.weights[node]
        parent = tree.variances[tree.parent[node]]
        assert tree.variances[node] == pytest.approx((weight * own + parent) / (weight + 1.0))
    assert (tree.variances > 0).all()
    constant = jt.fit(DecisionTree, [0.0, 1.0], [3.0, 3.0], target="number")
    assert np.isfinite(constant.log_likelihood)
    assert jt.infer(constant.model, [[0.5]]).mean == pytest.approx([3.0])


def test_a_forest_of_numbers_has_the_moments_of_its_trees():
    forest = learn(RandomForest, "number").model
    for table in (ROWS, HOLES):
        parts = np.array([moments_of_paths(tree, table) for tree in forest.trees])
        mean = parts[:, 0].mean(axis=0)
        variance = (parts[:, 1] + parts[:, 0] ** 2).mean(axis=0) - mean**2
        beliefs = jt.infer(forest, table)
        assert beliefs.mean == pytest.approx(mean)
        assert beliefs.standard_deviation == pytest.approx(np.sqrt(variance))


@KINDS
def test_draws_have_the_moments_of_beliefs(kind):
    model = learn(kind, "number").model
    row = {"age": 35.0, "sky": "sun"}
    beliefs, drawn = jt.infer(model, row), jt.sample(model, 4000, given=row, rng=0).columns["y"]
    assert drawn.mean() == pytest.approx(beliefs.mean, abs=5 * beliefs.standard_deviation / np.sqrt(4000))
    assert drawn.std() == pytest.approx(beliefs.standard_deviation, rel=0.06)
    table = jt.sample(model, HOLES, rng=0)
    assert tuple(variable.name for variable in table.variables) == ("age", "sky", "y")
    assert np.isnan(table.columns["age"]).tolist() == [False, True, True, False]
    assert table.columns["sky"][2:].tolist() == [-1, -1]
    with pytest.raises(jt.errors.Unsupported, match="is a number"):
        jt.most_probable(model, row)


@KINDS
@pytest.mark.parametrize("target", ["class", "number"])
def test_a_model_keeps_its_variables_when_it_learns_again(kind, target):
    fitted = learn(kind, target, missing="mode")
    options = {"num_trees": 7} if kind is RandomForest else {}
    again = jt.fit(fitted.model, ROWS, LABELS if target == "class" else NUMBERS, max_depth=3, rng=0, **options)
    assert again.model == fitted.model
    some = {name: column[:8] for name, column in ROWS.items()}
    fewer = jt.fit(fitted.model, some, (LABELS if target == "class" else NUMBERS)[:8], rng=0, **options).model
    assert (fewer.inputs, fewer.target) == (fitted.model.inputs, fitted.model.target)
    named = jt.fit(kind, {**ROWS, "age group": LABELS if target == "class" else NUMBERS}, "age group", target=target)
    assert named.model.target.name == "age group"
    renamed = fitted.model.with_target_name("group").with_feature_names(["years", "weather"])
    assert renamed.variables.names == ("years", "weather", "group")
    assert renamed.predict([[35.0, "sun"]]).tolist() == fitted.model.predict([[35.0, "sun"]]).tolist()


def test_the_seed_repeats_the_result():
    found = learn(RandomForest, rng=None)
    assert learn(RandomForest, rng=found.seed).model == found.model
    assert learn(DecisionTree, rng=None).seed is None  # nothing is drawn where all inputs are looked at
    drawn = learn(DecisionTree, rng=None, max_features=1)
    assert learn(DecisionTree, rng=drawn.seed, max_features=1).model == drawn.model
    assert learn(RandomForest, rng=5).seed == 5


@KINDS
def test_parameters_are_counted(kind):
    model, trees = learn(kind).model, [learn(kind).model] if kind is DecisionTree else learn(kind).model.trees
    numbers = sum(int(np.isfinite(tree.threshold).sum()) + tree.num_leaves for tree in trees)
    assert model.num_parameters == numbers
    assert isinstance(model, Model)


def test_options_are_checked_in_a_sentence():
    for options, words in (
        ({"confidence": 2.0}, "confidence must be"),
        ({"target": "text"}, "target must be"),
        ({"target": "number", "confidence": 0.9}, "a regression tree has none"),
        ({"max_features": "half"}, "if it is not 'sqrt'"),
        ({"depth": 2}, "no option 'depth'"),
    ):
        with pytest.raises(jt.JunctureError, match=words):
            jt.fit(DecisionTree, ROWS, LABELS, **options)


@pytest.mark.parametrize("kind", [jt.supervised.DecisionTree, jt.supervised.RandomForest])
@pytest.mark.parametrize("unit", [1.0, 1e3, 1e-6])
def test_the_log_likelihood_of_a_fit_is_that_of_its_rows(kind, unit):
    """In any unit of the target, for numbers and for classes, with weights."""
    generator = np.random.default_rng(0)
    points, weights = generator.normal(size=(60, 3)), generator.integers(0, 3, 60).astype(float)
    targets = (points[:, 0] * 2 + generator.normal(size=60) + 5.0) * unit
    labels = np.where(targets > 5.0 * unit, "high", "low")
    for y, target in ((targets, "number"), (labels, "class")):
        found = jt.fit(kind, points, y, target=target, max_depth=2, weights=weights, rng=0)
        scores, counted = jt.log_prob(found.model, points, y), weights > 0
        assert found.log_likelihood == pytest.approx(weights[counted] @ scores[counted])
