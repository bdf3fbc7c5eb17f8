"""What the hidden Markov estimators take: sequences of all kinds, labels, weights; and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

import pandas as pd
import polars as pl
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from juncture.components.categorical import CategoricalEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData, InvalidModel
from juncture.estimators import CategoricalHMM, GaussianHMM, MixtureHMM
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from support.emission_examples import random_rows
from support.hidden_markov_oracles import calmly

THREE_STEPS = HiddenMarkovModel([0.5, 0.5], [[3 / 4, 1 / 4], [1 / 3, 2 / 3]], [[4 / 5, 1 / 5], [3 / 10, 7 / 10]])


# --- what X may be ---------------------------------------------------------------------------------------------------


def as_kinds(tables):
    stacked, lengths = np.concatenate(tables), [len(table) for table in tables]
    objects = np.empty(len(tables), dtype=object)
    objects[:] = tables
    frames = [pd.DataFrame(table, columns=["a", "b"]) for table in tables]
    return {
        "tuple": (tuple(tables), None),
        "objects": (objects, None),
        "nested lists": ([table.tolist() for table in tables], None),
        "pandas": (frames, None),
        "polars": ([pl.DataFrame(table, schema=["a", "b"]) for table in tables], None),
        "Sequence": ([Sequence(table) for table in tables], None),
        "lengths": (stacked, lengths),
        "table as a list": (stacked.tolist(), lengths),
        "frame with lengths": (pd.concat(frames), lengths),
        "polars with lengths": (pl.DataFrame(stacked, schema=["a", "b"]), lengths),
    }


@pytest.mark.parametrize("name", as_kinds([np.zeros((1, 2))]))
def test_sequences_may_be_given_in_any_way(name):
    rng = np.random.default_rng(0)
    tables = [rng.normal(place, 1.0, (length, 2)) for place, length in ((0, 20), (4, 1), (3, 30))]
    tables[0][3, 1] = np.nan
    expected = GaussianHMM(2).fit(tables)
    given, lengths = as_kinds(tables)[name]
    found = GaussianHMM(2).fit(given, lengths=lengths)
    assert found.model_ == expected.model_
    assert found.n_features_in_ == 2
    assert found.score(given, lengths=lengths) == expected.score(tables)
    answers = found.predict(given, lengths=lengths), found.predict_proba(given, lengths=lengths)
    for answer, wanted in zip(answers, (expected.predict(tables), expected.predict_proba(tables)), strict=True):
        assert isinstance(answer, list) == (lengths is None)
        assert np.array_equal(np.concatenate(answer) if lengths is None else answer, np.concatenate(wanted))
    if "pandas" in name or "frame" in name:
        assert found.feature_names_in_.tolist() == ["a", "b"]


def test_a_list_of_numbers_is_a_column_and_an_empty_sequence_is_none():
    series = [np.array([0.0, 0.3, 5.0, 5.2]), np.array([]), np.array([5.1, 4.7])]
    estimator = GaussianHMM(2).fit(series)
    assert [path.tolist() for path in estimator.predict(series)] == [[0, 0, 1, 1], [], [1, 1]]
    assert estimator.model_ == GaussianHMM(2).fit(np.concatenate(series)[:, None], lengths=[4, 0, 2]).model_
    assert estimator.score([np.array([])]) == 0.0


def test_one_sequence_of_its_own():
    sequence = Sequence([[0.0], [0.1], [5.0], [5.3]], states=["a", "a", None, "b"])
    estimator = GaussianHMM().fit(sequence)
    assert estimator.classes_.tolist() == ["a", "b"]
    assert estimator.predict(sequence).tolist() == ["a", "a", "b", "b"]


def test_plain_lists_of_different_lengths_are_sequences():
    words = [["a", "b", None], ["a", "b"], []]
    estimator = CategoricalHMM(2, prior=1.0).fit(words)
    expected = CategoricalHMM(2, prior=1.0).fit([np.array(each, dtype=object) for each in words])
    assert estimator.model_ == expected.model_
    assert estimator.n_features_in_ == 1
    assert [len(path) for path in estimator.predict([["a", "b"], ["b", "a"]])] == [2, 2]  # the model has one column
    assert estimator.predict([["a"], ["b"], ["a"]]).shape == (3,)
    labelled = GaussianHMM().fit([[0.0, 0.1, 5.0], [5.1, 0.0]], [["x", "x", "y"], ["y", "x"]])
    assert labelled.classes_.tolist() == ["x", "y"]


def test_plain_lists_that_could_be_both_are_refused():
    rows = [[0.0, 1.0], [5.0, 6.0], [0.1, 1.2]]
    message = r"3 lists of 2 values each may be 3 sequences, or one table of 2 columns.*jt.Sequence.*lengths=\[3\]"
    with pytest.raises(InvalidData, match=message):
        GaussianHMM(1).fit(rows)
    table = GaussianHMM(1).fit(rows, lengths=[3])
    assert table.model_ == GaussianHMM(1).fit(np.array(rows)).model_
    assert table.score(rows) == table.score(np.array(rows))
    with pytest.raises(InvalidData, match="all rows of a table have as many values"):
        table.score([[0.0, 1.0], [5.0]])
    assert GaussianHMM(1).fit([Sequence(row) for row in rows]).n_features_in_ == 1


def test_frames_go_by_the_names_of_their_columns():
    rng = np.random.default_rng(0)
    one, other = (pd.DataFrame(rng.normal(place, 1.0, (20, 2)), columns=["a", "b"]) for place in (0, 5))
    expected = GaussianHMM(2).fit([one, other])
    turned = [one, other[["b", "a"]]]
    assert GaussianHMM(2).fit(turned).model_ == expected.model_
    assert GaussianHMM(2).fit([pl.from_pandas(one), turned[1]]).model_ == expected.model_
    whole = other.round().astype(int)
    mixed = GaussianHMM(2).fit([pl.from_pandas(one), pl.from_pandas(whole)])
    assert mixed.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(InvalidData, match="the same columns; sequence 1 and sequence 0 do not: one of them lacks 'b'"):
        GaussianHMM(2).fit([one, other.rename(columns={"b": "c"})])


def test_what_a_mask_hides_is_missing():
    rows = np.random.default_rng(0).normal(np.repeat([0, 5], 20)[:, None], 1.0, (40, 2))
    hidden = rows > 5.5
    masked, holes = np.ma.array(rows, mask=hidden), np.where(hidden, np.nan, rows)
    assert GaussianHMM(2).fit(masked).model_ == GaussianHMM(2).fit(holes).model_
    assert GaussianHMM(2).fit([masked[:9], masked[9:]]).model_ == GaussianHMM(2).fit([holes[:9], holes[9:]]).model_
    labels = np.ma.array(np.repeat([0, 1], 20), mask=np.arange(40) % 2)
    known = [None if place % 2 else place // 20 for place in range(40)]
    assert GaussianHMM(2).fit(rows, labels).model_ == GaussianHMM(2).fit(rows, known).model_


def test_lengths_in_the_place_of_labels():
    """As hmmlearn has it: `fit(X, lengths)`."""
    rows = np.random.default_rng(0).normal(size=(10, 1))
    for estimator in (GaussianHMM(2), GaussianHMM()):
        with pytest.raises(InvalidData, match=r"y has 2 labels, X has 10 steps.*write lengths=\[6, 4\]"):
            estimator.fit(rows, [6, 4])
    with pytest.raises(InvalidData, match=r"write lengths=\[6, 4\]"):
        calmly(GaussianHMM(2).fit, rows).score(rows, np.array([6, 4]))


def test_nothing_observed_is_nothing_to_learn():
    for estimator in (GaussianHMM(2), MixtureHMM(2)):
        with pytest.raises(InvalidData, match="nothing was observed"):
            estimator.fit([[np.nan], [np.nan]])


# --- labels of states ------------------------------------------------------------------------------------------------


def test_labelled_sequences_are_counted():
    rows = [[1.0], [3.0], [10.0], [12.0], [2.0]]
    estimator = calmly(GaussianHMM().fit, rows, ["dry", "dry", "wet", "wet", "dry"])
    model = estimator.model_
    assert estimator.fit_.trace.reason == "labelled sequences: estimated in one step"
    assert estimator.classes_.tolist() == ["dry", "wet"]
    assert model.initial.tolist() == [1.0, 0.0]
    assert model.transition.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert model.emissions.mean.tolist() == [[2.0], [11.0]]
    assert np.allclose(model.emissions.covariance, [[2 / 3], [1.0]])


@pytest.mark.parametrize("unknown", [-1, None, np.nan])
def test_some_states_may_be_labelled(unknown):
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(place, 1.0, (10, 1)) for place in (0, 8, 0, 8)])
    labels = np.full(40, unknown, dtype=None if unknown == -1 else object)
    labels[2], labels[12] = 1, 0
    estimator = GaussianHMM(2).fit(rows, labels)
    assert estimator.predict(rows).tolist() == [1] * 10 + [0] * 10 + [1] * 10 + [0] * 10
    assert estimator.classes_.tolist() == [0, 1]
    named = GaussianHMM(["b", "a"]).fit([rows[:20], rows[20:]], [["a", *[None] * 19], None])
    assert named.predict(rows)[[0, 10]].tolist() == ["a", "b"]
    assert named.predict_proba(rows)[0].argmax() == 1
    without = GaussianHMM(3).fit(rows, np.full(40, unknown, dtype=object))
    assert without.model_ == GaussianHMM(3).fit(rows).model_


def test_whole_numbers_among_holes_stay_whole():
    estimator = GaussianHMM(prior=1.0).fit([[0.0], [0.1], [5.0], [5.1]], [3.0, np.nan, 7.0, np.nan])
    assert estimator.classes_.tolist() == [3, 7]
    assert estimator.classes_.dtype.kind == "i"
    assert estimator.predict([[0.0], [5.0]]).tolist() == [3, 7]


def test_score_of_told_states_is_joint():
    estimator = CategoricalHMM.from_model(THREE_STEPS)
    total = sum(np.exp(estimator.score([[0], [1]], [state, None])) for state in (0, 1))
    assert total == pytest.approx(np.exp(estimator.score([[0], [1]])))


# --- weights ---------------------------------------------------------------------------------------------------------


def test_a_weight_is_how_often_a_sequence_counts():
    rng = np.random.default_rng(2)
    tables = [rng.normal(np.repeat([0, place], 6)[:, None], 1.0, (12, 2)) for place in (5, 7, 4)]
    start = GaussianHMM(2).fit(tables).model_
    weighted = calmly(GaussianHMM(start=start, max_steps=20).fit, tables, sample_weight=[2, 0, 1])
    repeated = calmly(GaussianHMM(start=start, max_steps=20).fit, [tables[0], tables[0], tables[2]])
    assert np.allclose(weighted.fit_.trace.values, repeated.fit_.trace.values)
    assert np.allclose(weighted.model_.emissions.mean, repeated.model_.emissions.mean)
    own = [Sequence(table, weight=weight) for table, weight in zip(tables, [2, 0, 1], strict=True)]
    assert calmly(GaussianHMM(start=start, max_steps=20).fit, own).model_ == weighted.model_
    stacked, steps = np.concatenate(tables), np.repeat([2.0, 0.0, 1.0], 12)
    by_step = calmly(GaussianHMM(start=start, max_steps=20).fit, stacked, lengths=[12, 12, 12], sample_weight=steps)
    assert by_step.model_ == weighted.model_
    alone = calmly(GaussianHMM(start=start, max_steps=20).fit, tables[0])
    assert (
        calmly(GaussianHMM(start=start, max_steps=20).fit, tables[0], sample_weight=np.ones(12)).model_ == alone.model_
    )


# --- among scikit-learn's tools --------------------------------------------------------------------------------------


def test_sequences_are_split_as_a_whole():
    """With a list of sequences, a sample is a sequence: folds cut between them, and labels and weights go along."""
    estimator = GaussianHMM.from_model(
        HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], GaussianEmissions([[0.0], [4.0]], [[1.0], [1.0]]))
    )
    tables, labels = estimator.sample([30] * 6)
    scores = cross_val_score(GaussianHMM(2), tables, cv=3)
    by_hand = GaussianHMM(2).fit(tables[2:]).score(tables[:2])
    assert scores[0] == by_hand
    search = GridSearchCV(GaussianHMM(), {"states": [1, 2], "covariance": ["diagonal", "full"]}, cv=3).fit(tables)
    assert search.best_params_["states"] == 2
    assert len(search.predict(tables)) == 6
    supervised = cross_val_score(GaussianHMM(2), tables, labels, cv=3, params={"sample_weight": np.ones(6)})
    assert supervised[0] == calmly(GaussianHMM(2).fit, tables[2:], labels[2:]).score(tables[:2], labels[:2])


def test_a_step_of_a_pipeline():
    rows = np.concatenate([np.zeros((10, 2)), np.full((10, 2), 50.0)]) + np.random.default_rng(0).normal(size=(20, 2))
    pipeline = make_pipeline(StandardScaler(), GaussianHMM(2)).fit(rows)
    assert pipeline.predict(rows).tolist() == [0] * 10 + [1] * 10


def test_the_seed_decides_the_start():
    rows = random_rows(np.random.default_rng(0), (60, 2))[:, :1]
    first, again, other = (
        calmly(GaussianHMM(3, start="random", random_state=seed, max_steps=1).fit, rows).model_ for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


# --- refusals --------------------------------------------------------------------------------------------------------

ROWS = [[0.0], [1.0], [5.0], [6.0]]


@pytest.mark.parametrize(
    ("estimator", "arguments", "message"),
    [
        (GaussianHMM(0), {}, "states are a number of at least 1"),
        (GaussianHMM("two"), {}, "states are a number of at least 1, or a list of labels; got 'two'"),
        (GaussianHMM(2, "diag"), {}, "there is no covariance 'diag'.*diagonal"),
        (GaussianHMM(2, decoder="map"), {}, "a decoder is one of 'viterbi', 'posterior'"),
        (GaussianHMM(2, start="kmeans"), {}, "start is one of.*k-means"),
        (GaussianHMM(2, fixed=["means"]), {}, "no part 'means'"),
        (GaussianHMM(2, restarts=-1), {}, "restarts must be a whole number"),
        (MixtureHMM(2, restarts=-1), {}, "restarts must be a whole number"),
        (MixtureHMM(2, 0), {}, "num_components must be a whole number"),
        (CategoricalHMM(2, 0), {}, "symbols are a number of at least 1"),
        (CategoricalHMM(2), {"X": [[None], [None]]}, "'x0' has no observed cell"),
        (GaussianHMM(2), {"lengths": [1, 2]}, "the lengths add up to 3, but there are 4 steps"),
        (GaussianHMM(2), {"X": [np.zeros((2, 1))], "lengths": [2]}, "a list of sequences has its own lengths"),
        (GaussianHMM(2), {"X": [np.zeros((2, 1)), np.zeros((2, 2))]}, "the same number of columns; got 1, 2"),
        (GaussianHMM(2), {"y": [0, 1, 2, 0]}, "y has a label that is no state.*2"),
        (GaussianHMM(2), {"y": [0, 1, 1]}, "y has 3 labels, X has 4 steps"),
        (GaussianHMM(2), {"X": [np.zeros((2, 1))], "y": [[0, 1], [1]]}, "labels for 2 sequences, X has 1"),
        (GaussianHMM(2), {"X": [np.zeros((2, 1))], "y": [[0, 1, 1]]}, "sequence 0 has 2 steps, but labels"),
        (GaussianHMM(2), {"sample_weight": [1, 2, 1, 1]}, "one weight together"),
        (GaussianHMM(2), {"sample_weight": [1, 2]}, "for each of the 1 sequences"),
        (GaussianHMM(2), {"lengths": [2, 2], "sample_weight": [0, 0]}, "all sample weights are zero"),
        (GaussianHMM(2), {"lengths": [2, 2], "sample_weight": [1, -1]}, "at least 0"),
        (GaussianHMM(start=THREE_STEPS), {}, "GaussianHMM takes a HiddenMarkovModel with GaussianEmissions"),
        (CategoricalHMM(start=THREE_STEPS), {"X": np.array([[0, 1]])}, "X has 2 columns, the model observes 1"),
    ],
)
def test_refusals(estimator, arguments, message):
    with pytest.raises((InvalidData, InvalidModel), match=message):
        estimator.fit(**{"X": ROWS} | arguments)


def test_models_of_other_kinds_are_refused():
    with pytest.raises(InvalidModel, match="MixtureHMM takes a HiddenMarkovModel with MixtureEmissions"):
        MixtureHMM.from_model(THREE_STEPS)
    mixed = IndependentEmissions([CategoricalEmissions(np.eye(2)), GaussianEmissions([0.0, 1.0], [1.0, 1.0])])
    with pytest.raises(InvalidData, match="symbols in all columns"):
        CategoricalHMM.from_model(HiddenMarkovModel([0.5, 0.5], np.full((2, 2), 0.5), mixed))
