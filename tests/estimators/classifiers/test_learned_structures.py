"""Structures that a classifier learns in `fit`: by name or as a search, inside cross-validation, from raw columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import juncture as jt
from juncture.estimators import BayesianNetworkClassifier, TreeAugmentedNaiveBayes, networks

rng = np.random.default_rng(0)
SIZE = rng.normal(size=400)
CLASSES = pd.Series(np.where(SIZE + rng.normal(size=400) > 0, "large", "small"), name="kind")
ROWS = pd.DataFrame({"size": SIZE, "rooms": rng.integers(1, 4, 400), "town": rng.choice(list("ab"), 400)})
ROWS["price"] = SIZE * 1000 + rng.normal(size=400) * 300
HOLES = ROWS.astype({"rooms": float}).mask(rng.random((400, 4)) < 0.05)


def test_names_stand_for_what_they_say():
    same = {
        "naive": BayesianNetworkClassifier(),
        "tan": TreeAugmentedNaiveBayes(tree_score="log-likelihood"),
        "tree-augmented": TreeAugmentedNaiveBayes(tree_score="log-likelihood"),
    }
    for rows in (ROWS, HOLES):
        for name, other in same.items():
            assert BayesianNetworkClassifier(name).fit(rows, CLASSES).model_ == other.fit(rows, CLASSES).model_
    data = jt.Discretizer(5).fit(ROWS).transform(ROWS.assign(kind=CLASSES))
    for name in ("hill-climbing", jt.HillClimbing(score="aic"), "pc", jt.GES(), "chow-liu", "auto"):
        found = BayesianNetworkClassifier(name).fit(ROWS, CLASSES)
        options = {"directed": True} if name == "pc" or isinstance(name, jt.GES) else {}
        wanted = jt.learn_structure(data, name, rng=0, **options)
        assert {frozenset(edge) for edge in found.model_.graph.edges} == {frozenset(edge) for edge in wanted.edges}
        assert set(found.model_.variables.names) == {*ROWS.columns, "kind"}


def test_missing_cells_are_learned_from_and_asked_about():
    for name in ("hill-climbing", "tan", "auto", "structural-em", jt.HillClimbing(score="node-average")):
        found = BayesianNetworkClassifier(name).fit(HOLES, CLASSES)
        assert found.score(HOLES, CLASSES) > 0.65
        assert found.predict_proba({"size": [2.5, None, -9]})[:, 0] == pytest.approx(
            jt.infer(found.model_, [{"size": 2.5}, {}, {"size": -9}], targets=["kind"])["kind"]["large"]
        )


def test_cross_validation_learns_the_structure_from_its_own_rows(monkeypatch):
    seen = []
    learn = networks.learn_structure

    def remember(data, *args, **options):
        seen.append((len(data), data.variable("size").cuts))
        return learn(data, *args, **options)

    monkeypatch.setattr(networks, "learn_structure", remember)
    classifier = BayesianNetworkClassifier("hill-climbing")
    scores = cross_val_score(make_pipeline(FunctionTransformer(), classifier), HOLES, CLASSES, cv=4)
    assert scores.min() > 0.6
    assert [rows for rows, _ in seen] == [300] * 4
    assert len({cuts for _, cuts in seen}) == 4
    assert clone(classifier).get_params() == classifier.get_params()
    search = GridSearchCV(classifier, {"structure": ["naive", "tan"], "discretize": [2, 4]}, cv=2).fit(ROWS, CLASSES)
    assert search.best_params_["structure"] in {"naive", "tan"}


def test_a_network_with_cuts_is_a_classifier_of_raw_columns():
    learned = BayesianNetworkClassifier("tan").fit(ROWS, CLASSES)
    other = BayesianNetworkClassifier.from_model(learned.model_, "kind")
    assert np.array_equal(other.predict_proba(ROWS), learned.predict_proba(ROWS))
    assert other.discretizer_.cuts == learned.discretizer_.cuts
    again = BayesianNetworkClassifier(learned.model_).fit(ROWS, CLASSES)
    assert again.model_ == learned.model_
