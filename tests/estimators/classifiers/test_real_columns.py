"""Classifiers whose columns are real: Gaussians in each class, without bins."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.naive_bayes import GaussianNB

import juncture as jt
from juncture.estimators import BayesianNetworkClassifier, TreeAugmentedNaiveBayes


def draw_rows(seed=0, num_rows=300):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, num_rows)
    mixing = rng.normal(size=(3, 3, 3))
    return np.einsum("rij,rj->ri", mixing[y], rng.normal(size=(num_rows, 3))) + y[:, None], y


def test_naive_bayes_is_that_of_gaussians():
    X, y = draw_rows()  # noqa: N806
    mine = BayesianNetworkClassifier(prior=None, discretize=None).fit(X, y)
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert mine.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-9)
    assert mine.score(X, y) == theirs.score(X, y)


def test_a_complete_graph_among_the_columns_is_quadratic_discriminant_analysis():
    X, y = draw_rows(1)  # noqa: N806
    edges = [("y", "x0"), ("y", "x1"), ("y", "x2"), ("x0", "x1"), ("x0", "x2"), ("x1", "x2")]
    mine = BayesianNetworkClassifier(jt.DirectedGraph(edges), prior=None, discretize=None).fit(X, y)
    classes = [X[y == label] for label in range(3)]
    densities = [multivariate_normal(one.mean(axis=0), np.cov(one.T, bias=True)).logpdf(X) for one in classes]
    joint = np.stack(densities, axis=1) + np.log(np.bincount(y) / len(y))
    assert mine.predict_proba(X) == pytest.approx(softmax(joint, axis=1), abs=1e-9)


def test_missing_leaves_drop_out_and_other_columns_are_read_too():
    X, y = draw_rows(2)  # noqa: N806
    rows = {"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "up", "down")}
    mine = BayesianNetworkClassifier(discretize=None).fit(rows, y)
    holes = {"a": [0.5, np.nan, np.nan], "b": [1.5, 1.5, np.nan], "kind": ["up", None, "sideways"]}
    with pytest.warns(jt.errors.UnseenStatesWarning):
        found = mine.predict_proba(holes)
    for row, seen in enumerate([{"a": 0.5, "b": 1.5, "kind": "up"}, {"b": 1.5}, {}]):
        parts = [part for part in mine.model_.conditionals if part.child.name in {"y", *seen}]
        small = jt.BayesianNetwork(parts)
        joint = [small.log_joint({**seen, "y": label}) for label in (0, 1, 2)]
        expected = np.exp(joint - np.logaddexp.reduce(joint))
        assert found[row] == pytest.approx(expected, abs=1e-12)
    assert mine.model_.variable("a").is_real


def test_what_is_missing_between_columns_is_summed_out():
    """The class and a column with children are not seen: an engine answers."""
    X, y = draw_rows(2)  # noqa: N806
    rows = {"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "up", "down")}
    graph = jt.DirectedGraph([("y", "a"), ("y", "b"), ("y", "kind"), ("kind", "a"), ("a", "b")])
    mine = BayesianNetworkClassifier(graph, discretize=None).fit(rows, y)
    found = mine.predict_proba({"b": [0.5, 2.5], "a": [np.nan, 1.5]}, target="kind")
    model = mine.model_
    for row, seen in enumerate([{"b": 0.5}, {"b": 2.5, "a": 1.5}]):
        weight = [np.exp(jt.log_prob(model, {**seen, "kind": kind})) for kind in ("down", "up")]
        assert found[row] == pytest.approx(np.array(weight) / sum(weight), abs=1e-9)


@pytest.mark.parametrize("structure", ["tan", "hill-climbing"])
def test_structures_are_learned_from_mixed_columns(structure):
    X, y = draw_rows(3, 600)  # noqa: N806
    rows = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": np.where(y == 2, "up", "down")}
    mine = BayesianNetworkClassifier(structure, discretize=None).fit(rows, y)
    assert mine.score(rows, y) > BayesianNetworkClassifier(discretize=None).fit({"a": rows["a"]}, y).score(
        {"a": rows["a"]}, y
    )
    tree = TreeAugmentedNaiveBayes(discretize=None, tree_score="bic").fit(rows, y)
    assert all(len(tree.model_.graph.parents(name)) <= 2 for name in rows)


def test_what_cannot_be_told_is_refused():
    X, y = draw_rows()  # noqa: N806
    mine = BayesianNetworkClassifier(discretize=None).fit(X, y)
    with pytest.raises(jt.errors.Unsupported, match="'x0' is real-valued"):
        mine.predict_proba(X, target="x0")
    with pytest.raises(jt.errors.InvalidData, match="the line of 'x0' is not determined in the rows with y=1"):
        BayesianNetworkClassifier(discretize=None).fit([[0.5], [1.5], [2.5]], ["0", "0", "1"])


def test_columns_with_holes_are_learned_from():
    X, y = draw_rows()  # noqa: N806
    whole = BayesianNetworkClassifier(discretize=None).fit(X, y)
    rng = np.random.default_rng(1)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    mine = BayesianNetworkClassifier(discretize=None).fit(holes, y)
    for name in ("x0", "x1", "x2"):
        column = holes[:, int(name[1])]
        means = [np.nanmean(column[y == label]) for label in np.unique(y)]  # what is missing says nothing else
        assert mine.model_[name].intercept == pytest.approx(means, abs=1e-3)
    assert mine.score(holes, y) > whole.score(X, y) - 0.1


def test_a_network_with_real_variables_is_a_classifier():
    X, y = draw_rows()  # noqa: N806
    model = BayesianNetworkClassifier(discretize=None).fit(X, y).model_
    mine = BayesianNetworkClassifier.from_model(model, "y")
    X = {f"x{place}": column for place, column in enumerate(X.T)}  # noqa: N806
    assert mine.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(300))
    far = {name: [1e9] for name in X}  # the densities underflow, their logarithms do not
    assert np.isfinite(mine.predict_proba(far)).all()
