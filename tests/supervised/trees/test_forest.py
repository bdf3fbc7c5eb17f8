"""Forests: votes counted by hand, streams of trees, out-of-bag errors, and scikit-learn's forests."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import juncture as jt
from juncture.errors import InvalidModel
from juncture.supervised import RandomForest
from support.learned import learn_forest, learn_tree

RNG = np.random.default_rng(4)
X = RNG.normal(size=(160, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def test_without_randomness_all_trees_are_the_tree():
    """S2-024: all features and no bootstrap."""
    forest = learn_forest(X, Y, num_trees=3, bootstrap=False, max_features=None)
    assert set(forest.trees) == {learn_tree(X, Y)}
    assert forest.out_of_bag_error is None
    assert forest.predict(X).tolist() == learn_tree(X, Y).predict(X).tolist()


def test_votes_are_counted_by_hand():
    """S2-025: the class of most trees; the soft vote averages shares instead."""
    one = learn_tree({"x": [0] * 10}, [0] * 9 + [1])
    other = learn_tree({"x": [0] * 10}, [0] * 4 + [1] * 6)
    forest = [one, other, other]
    assert RandomForest(forest, "hard").predict_proba({"x": [0]})[0] == pytest.approx([1 / 3, 2 / 3])
    assert RandomForest(forest, "soft").predict_proba({"x": [0]})[0] == pytest.approx([1.7 / 3, 1.3 / 3])
    assert RandomForest(forest, "hard").predict({"x": [0]}).tolist() == [1]
    assert RandomForest(forest, "soft").predict({"x": [0]}).tolist() == [0]
    with pytest.raises(InvalidModel, match="the same inputs"):
        RandomForest([one, learn_tree({"z": [0, 1]}, [0, 1])])


def test_a_bootstrap_sample_leaves_out_a_share_of_1_over_e():
    """S2-024: the distinct rows are a share of about 1 - 1/e."""
    forest = learn_forest(X, Y, num_trees=30, max_depth=0)
    assert all(tree.weights[0] == pytest.approx(len(Y)) for tree in forest.trees)
    rows = learn_forest({"id": np.arange(len(Y))}, np.arange(len(Y)), num_trees=30)
    distinct = np.mean([tree.num_leaves for tree in rows.trees]) / len(Y)
    assert distinct == pytest.approx(1 - np.exp(-1), abs=4 * np.sqrt(0.1 / len(Y) / 30))


def test_the_forest_does_not_depend_on_the_number_of_threads():
    many = np.tile(X, (40, 1)) + 0.1 * np.random.default_rng(1).normal(size=(6400, 4))
    labels = np.tile(Y, 40)
    forests = []
    for number in (1, 3):
        jt.set_num_threads(number)
        forests.append(learn_forest(many, labels, num_trees=4, max_depth=4, rng=7))
    jt.set_num_threads(None)
    assert forests[0] == forests[1]


def test_the_out_of_bag_error_is_that_of_the_trees_that_have_not_seen_a_row():
    """Against the votes of the trees whose bootstrap sample, drawn again from their streams, lacks the row."""
    forest = learn_forest(X, Y, num_trees=12, rng=3, vote="hard")
    votes = np.zeros((len(Y), 2))
    for tree, stream in zip(forest.trees, np.random.default_rng(3).spawn(12), strict=True):
        unseen = stream.multinomial(len(Y), np.full(len(Y), 1 / len(Y))) == 0
        votes[np.flatnonzero(unseen), tree.predict(X[unseen])] += 1
    known = votes.sum(axis=1) > 0
    assert forest.out_of_bag_error == pytest.approx(np.mean(votes[known].argmax(axis=1) != Y[known]))


def test_accuracy_is_that_of_scikit_learn():
    fresh = np.random.default_rng(9).normal(size=(400, 4))
    labels = (fresh[:, 0] * fresh[:, 1] > 0).astype(int)
    ours = np.mean(learn_forest(X, Y, num_trees=40).predict(fresh) == labels)
    theirs = RandomForestClassifier(40, random_state=0).fit(X, Y).score(fresh, labels)
    assert ours == pytest.approx(theirs, abs=4 * np.sqrt(2 * 0.25 / 400))
    number = X[:, 0] * X[:, 1]
    regression = learn_forest(X, number, num_trees=30, target="number", max_features=None)
    error = np.mean((regression.predict(fresh) - fresh[:, 0] * fresh[:, 1]) ** 2)
    other = RandomForestRegressor(30, random_state=0).fit(X, number).predict(fresh)
    assert error < 1.3 * np.mean((other - fresh[:, 0] * fresh[:, 1]) ** 2)
    assert regression.out_of_bag_error < np.var(number)


def test_rows_with_holes_and_weights_take_part():
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    forest = learn_forest(holes, Y, num_trees=10, weights=np.arange(len(Y)), max_depth=6)
    assert np.mean(forest.predict(holes) == Y) > 0.7
    assert forest.predict_proba(holes).sum(axis=1) == pytest.approx(np.ones(len(Y)))
    assert forest.importances.sum() == pytest.approx(1.0)


def test_whole_weights_and_others_grow_the_same_tree():
    """Logarithms of whole weights are kept in a table; those of other weights are taken anew."""
    weights = np.random.default_rng(2).integers(1, 4, len(Y)).astype(float)
    rows, labels = np.repeat(X, weights.astype(int), axis=0), np.repeat(Y, weights.astype(int))
    trees = [learn_tree(rows, labels), *(learn_tree(X, Y, weights=weights * factor) for factor in (1.0, 0.3, 1e5))]
    for tree in trees[1:]:
        assert np.array_equal(tree.split, trees[0].split)
        assert np.array_equal(tree.threshold, trees[0].threshold, equal_nan=True)
