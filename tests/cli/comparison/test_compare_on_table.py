"""Learners compared on a table: the protocol, the scores, what is left out, failures, and the interrupt."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.metrics import accuracy_score, log_loss
from sklearn.neural_network import MLPClassifier, MLPRegressor

import juncture as jt
from juncture.cli.comparison import compare_on_table
from juncture.cli.comparison.learners import CLASSIFIERS, OURS, REGRESSIONS, Learner, NamedColumns, as_numbers
from juncture.cli.comparison.metrics import METRICS
from juncture.cli.comparison.task import read_rows, read_task
from juncture.errors import InvalidData, JunctureError
from juncture.evaluation.protocols.folds import make_folds

QUICK = {"repeats": 1, "folds": 3, "importance": False}


def make_rows(number: int = 90, seed: int = 0) -> dict[str, list]:
    """Numbers, texts and holes of which two columns say something of the targets."""
    rng = np.random.default_rng(seed)
    size, color = rng.normal(size=number), rng.choice(["red", "green", "blue"], number)
    value = 2 * size + (color == "red") + 0.3 * rng.normal(size=number)
    return {
        "size": np.where(rng.random(number) < 0.1, np.nan, size).tolist(),
        "color": [None if hole else text for hole, text in zip(rng.random(number) < 0.1, color, strict=True)],
        "noise": rng.normal(size=number).tolist(),
        "kind": np.where(value > 0, "big", "small").tolist(),
        "value": value.tolist(),
    }


def without(rows: dict[str, list], *names: str) -> dict[str, list]:
    return {name: cells for name, cells in rows.items() if name not in names}


CLASSES, NUMBERS = without(make_rows(), "value"), without(make_rows(), "kind")


@pytest.fixture(scope="module")
def by_class():
    quick = ["naive-bayes", "logistic", "decision-tree"]
    return compare_on_table(CLASSES, "kind", learners=quick, folds=3, repeats=2)


@pytest.fixture(scope="module")
def by_number():
    return compare_on_table(NUMBERS, "value", learners=["bayesian-linear", "regression-tree"], folds=3, repeats=1)


def test_scores_are_those_of_the_predictions_on_unseen_rows(by_class):
    """The folds are those of `make_folds`, and the predictions of the first repeat give its scores."""
    task = by_class.task
    splits = make_folds(len(task.cells), 3, repeats=2, stratify=task.outcomes, rng=np.random.default_rng(0))
    for learner in by_class.finished:
        for fold, (_, test) in enumerate(splits[:3]):
            shares = learner.predictions[test]
            assert np.allclose(shares.sum(axis=1), 1.0)
            expected = accuracy_score(task.outcomes[test], shares.argmax(axis=1))
            assert learner.scores["accuracy"][0, fold] == pytest.approx(expected, abs=1e-12)
            loss = log_loss(task.outcomes[test], shares, labels=[0, 1])
            assert learner.scores["log-loss"][0, fold] == pytest.approx(loss, rel=1e-12)


def test_the_pairs_are_those_of_compare_learners(by_class):
    scores = {one.name: one.scores["accuracy"] for one in by_class.finished}
    expected = jt.evaluation.compare_learners(scores, test_fraction=1 / 3, rope=0.01)
    assert by_class.comparison == expected
    assert [name for name, _ in expected.means] == [one.name for one in by_class.finished]


def test_intervals_end_where_the_score_does():
    """All learners are right in almost all folds: the interval of the t distribution would go beyond 1."""
    rng = np.random.default_rng(3)
    rows = {"x": rng.normal(size=60).tolist(), "kind": []}
    rows["kind"] = [("in" if x + 0.15 * rng.normal() > 0 else "out") for x in rows["x"]]
    found = compare_on_table(rows, "kind", learners=["logistic", "k-nn", "decision-tree"], folds=4, repeats=1)
    learner = found.finished[0]
    validation = found.validation(learner)
    assert validation.mean < 1 < validation.mean + 3 * validation.corrected_error
    for one in found.finished:
        for name in one.scores:
            other = replace(found, metric=name)
            low, high = other.interval(one)
            assert METRICS["classes"][name].lowest <= low <= other.validation(one).mean <= high
            assert high <= METRICS["classes"][name].highest, name


@pytest.mark.parametrize(
    ("better", "p_value", "equivalent", "expected"),
    [
        (0.97, 0.14, 0.01, "undecided"),
        (0.97, 0.04, 0.01, "worse"),
        (0.3, 0.9, 0.96, "equivalent"),
        (0.9, 0.01, 0.0, "undecided"),
    ],
)
def test_worse_takes_the_probability_and_the_p_value(by_class, better, p_value, equivalent, expected):
    pairs = tuple(
        replace(one, first_better=better, p_value=p_value, equivalent=equivalent) for one in by_class.comparison.pairs
    )
    found = replace(by_class, comparison=replace(by_class.comparison, pairs=pairs))
    assert {found.verdict(one) for one in found.finished[1:]} == {expected}


def test_the_neural_network_is_scikit_learns_own():
    """It is judged with the settings that its users have: nothing but the seed is set."""
    for learners, kind in ((CLASSIFIERS, MLPClassifier), (REGRESSIONS, MLPRegressor)):
        made = learners["mlp"].make(7)
        inner = getattr(made, "regressor", made)
        assert inner.get_params() == kind(random_state=7).get_params()


def test_intervals_are_corrected_for_shared_training_rows(by_class):
    best = by_class.best.scores["accuracy"].reshape(-1)
    error = best.std(ddof=1) * np.sqrt(1 / 6 + 1 / 2)
    assert by_class.best.scores["accuracy"].mean() - by_class.interval(by_class.best)[0] == pytest.approx(
        2.5705818 * error, rel=1e-6
    )


def test_the_learner_has_not_seen_the_rows_it_is_scored_on():
    """A column that repeats the target at random codes cannot be learned: one-nearest rows would remember it."""
    rng = np.random.default_rng(1)
    rows = {"x": rng.normal(size=120).tolist(), "y": rng.choice(["a", "b"], 120).tolist()}
    found = compare_on_table(rows, "y", learners=["decision-tree"], **QUICK)
    tree = next(one for one in found.finished if one.name == "decision-tree")
    assert tree.scores["accuracy"].mean() < 0.7


def test_columns_that_help_matter(by_class, by_number):
    for found in (by_class, by_number):
        assert found.importance is not None
        assert found.importance.names[0] == "size"
        falls = dict(zip(found.importance.names, found.importance.falls.mean(axis=1), strict=True))
        assert abs(falls["noise"]) < falls["size"] / 3


def test_numbers_are_predicted_better_than_by_their_mean(by_number):
    assert by_number.task.kind == "numbers"
    assert by_number.best.name == "bayesian-linear"
    base = next(one for one in by_number.finished if one.name == "baseline")
    train, test = make_folds(len(by_number.task.cells), 3, rng=np.random.default_rng(0))[0]
    truth = by_number.task.outcomes
    mean = DummyRegressor().fit(np.zeros((len(train), 1)), truth[train]).predict(np.zeros((len(test), 1)))
    assert base.scores["rmse"][0, 0] == pytest.approx(np.sqrt(np.mean((truth[test] - mean) ** 2)))


@pytest.mark.parametrize("metric", [*METRICS["classes"]])
def test_every_metric_of_classes_orders_the_learners(metric):
    found = compare_on_table(CLASSES, "kind", learners=["naive-bayes"], metric=metric, **QUICK)
    assert found.best.name == "naive-bayes"
    assert found.validation(found.best).scores.shape == (1, 3)


@pytest.mark.parametrize("metric", [*METRICS["numbers"]])
def test_every_metric_of_numbers_orders_the_learners(metric):
    found = compare_on_table(NUMBERS, "value", learners=["bayesian-linear"], metric=metric, **QUICK)
    assert found.best.name == "bayesian-linear"
    if metric != "r2":
        assert found.comparison.rope == pytest.approx(0.01 * found.task.outcomes.std())


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "target", "known"), [(CLASSES, "kind", CLASSIFIERS), (NUMBERS, "value", REGRESSIONS)])
def test_every_learner_beats_the_baseline(rows, target, known):
    found = compare_on_table(rows, target, folds=3, repeats=1, importance=False)
    assert {one.name for one in found.learners} == set(known)
    assert [one.failure for one in found.learners if one.failure] == []
    assert found.learners[-1].name == "baseline"


def test_frames_of_pandas_and_polars_give_the_same():
    tables = [CLASSES, pd.DataFrame(CLASSES), pl.DataFrame(CLASSES, strict=False, nan_to_null=True)]
    found = [compare_on_table(rows, "kind", learners=["naive-bayes"], **QUICK) for rows in tables]
    first = found[0].best.scores["log-loss"]
    assert all(np.array_equal(first, one.best.scores["log-loss"]) for one in found[1:])


# --- the task ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["a", "b"] * 15, "classes"),
        ([True, False] * 15, "classes"),
        ([1, 2, 3] * 10, "classes"),
        (list(range(30)), "numbers"),
        ([0.5 * i for i in range(30)], "numbers"),
        ([0.0, 1.0] * 15, "classes"),
    ],
)
def test_the_kind_of_the_target(column, kind):
    data, _ = read_rows({"x": [0.1 * i for i in range(30)], "y": column}, "y")
    assert read_task(data, "y").kind == kind
    assert f"as {kind}" in read_task(data, "y").notes[0]


def test_what_is_left_out_is_named():
    number = 40
    rows = {
        "id": [f"P{i}" for i in range(number)],
        "row": list(range(number)),
        "salary": [1000 + 37 * i for i in range(number)],
        "day": [f"2024-01-{1 + i % 28:02}" for i in range(number)],
        "same": ["x"] * number,
        "empty": [None] * number,
        "y": [None, *["a", "b"] * (number // 2)][:number],
    }
    with pytest.warns(jt.errors.TextColumnWarning):
        data, notes = read_rows(rows, "y")
    task = read_task(data, "y", None, notes)
    assert task.names == ("salary",)
    assert len(task.cells) == number - 1
    for name in ("id", "row", "day", "same", "empty"):
        assert any(f"'{name}'" in note and "left out" in note for note in task.notes), name
    assert any("1 row without a value" in note for note in task.notes)


@pytest.mark.parametrize("days", [pd.date_range("2024-01-01", periods=40), [date(2024, 1, 1)] * 40, [time(8)] * 40])
def test_columns_of_dates_are_left_out_like_texts_of_dates(days):
    """Of the types of pandas and of Python; a target of dates is refused."""
    rows = pd.DataFrame({"day": days, "size": np.arange(40.0) % 7, "y": ["a", "b"] * 20})
    data, notes = read_rows(rows, "y")
    assert tuple(data.columns) == ("size", "y")
    assert notes == ["the column 'day' holds dates; it is left out"]
    with pytest.raises(jt.errors.InvalidData, match="'day' holds dates or times"):
        read_rows(rows, "day")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "knd"}, "no column 'knd'"),
        ({"target": "kind", "task": "numbers"}, "holds text"),
        ({"target": "kind", "metric": "r2"}, "the metric 'r2' judges numbers, and 'kind' is predicted as classes"),
        ({"target": "kind", "learners": ["svn"]}, "did you mean 'svm'"),
        ({"target": "kind", "learners": []}, "no learners"),
        ({"target": "kind", "folds": 60}, "rows for 60 folds"),
        ({"target": "kind", "progress": 3}, "progress"),
        ({"target": "kind", "progress": int}, "progress"),
        ({"target": "kind", "metric": np.array(["a", "b"])}, "there is no metric"),
        ({"target": 3}, "the target must be"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(options, words):
    with pytest.raises(JunctureError, match=words):
        compare_on_table(CLASSES, **options)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"x": [1.5, 2.5] * 9, "y": ["a"] * 18}, "same value in all rows"),
        ({"x": [1.5, 2.5] * 9, "y": [None] * 18}, "no row has a value"),
        ({"x": [1.5] * 18, "y": ["a", "b"] * 9}, "no column is left"),
        ({"x": [1.5, float("inf")] * 9, "y": ["a", "b"] * 9}, "infinite"),
        ({"x": [1.5, 2.5] * 9, "y": [f"c{i}" for i in range(18)]}, "too few rows"),
    ],
)
def test_rows_that_cannot_be_learned_from_are_refused(rows, words):
    with pytest.raises(InvalidData, match=words):
        compare_on_table(rows, "y", folds=3)


# --- columns inside a fold -----------------------------------------------------------------------------------------


def test_scales_and_medians_are_those_of_the_training_rows():
    task = read_task(jt.Dataset(CLASSES), "kind")
    train = np.arange(30)
    prepared = as_numbers(task, "passthrough").fit(task.cells[train])[:-1]
    column = task.cells[train, 0]
    filled = np.where(np.isnan(column), np.nanmedian(column), column)
    found = prepared.transform(task.cells)[:, 0]
    hole = np.isnan(task.cells[:, 0])
    expected = (np.where(hole, np.nanmedian(column), task.cells[:, 0]) - filled.mean()) / filled.std()
    assert np.allclose(found, expected, atol=1e-12)


def test_columns_without_a_value_in_the_training_rows_are_left_out():
    cells = np.array([[1.0, np.nan, 0.0], [2.0, np.nan, np.nan]])
    columns = NamedColumns((None, None, ("a", "b"))).fit(cells)
    assert list(columns.transform(cells)) == ["x0", "x2"]
    assert columns.transform(np.array([[np.nan, 3.0, 0.0]]))["x2"].tolist() == ["a"]


def test_a_text_that_no_training_row_has_is_missing():
    columns = NamedColumns((("a", "b"),)).fit(np.array([[0.0], [np.nan]]))
    assert columns.transform(np.array([[0.0], [1.0], [np.nan]]))["x0"].tolist() == ["a", None, None]


def test_a_class_without_training_rows_has_probability_zero():
    rows = {"x": [0.1 * i for i in range(31)], "y": [*["a", "b"] * 15, "rare"]}
    found = compare_on_table(rows, "y", learners=["naive-bayes"], **QUICK)
    assert found.best.failure is None
    assert found.task.labels == ("a", "b", "rare")
    assert any("fewer rows than folds" in note and "'rare'" in note for note in found.task.notes)
    assert (found.best.predictions[30, 2], found.best.predictions.shape) == (0.0, (31, 3))


# --- failures and the interrupt ------------------------------------------------------------------------------------


def test_a_learner_that_fails_is_reported_and_the_others_go_on(monkeypatch):
    class Broken(DummyRegressor):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            raise ValueError("it is\nbroken")

    monkeypatch.setitem(REGRESSIONS, "svm", Learner(OURS, as_numbers, lambda seed: Broken()))
    found = compare_on_table(NUMBERS, "value", learners=["bayesian-linear", "svm"], **QUICK)
    failed = found.learners[-1]
    assert (failed.name, failed.failure) == ("svm", "ValueError on test part 1 of 3: it is broken")
    assert found.verdict(failed) == "failed"
    assert found.to_pandas().iloc[-1]["verdict"] == "failed"
    assert "Failed, with the reason in the table: svm." in str(found)
    assert "it is broken" in found.to_html()


def test_where_all_learners_fail_the_reasons_are_raised(monkeypatch):
    class Broken(DummyRegressor):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            raise ValueError("broken")

    monkeypatch.setitem(REGRESSIONS, "baseline", Learner(OURS, as_numbers, lambda seed: Broken()))
    with pytest.raises(InvalidData, match=r"no learner could learn.*baseline.*broken"):
        compare_on_table(NUMBERS, "value", learners=["baseline"], **QUICK)


@pytest.mark.parametrize("stop", ["k-nn", "columns of bayesian-linear"])
def test_an_interrupt_keeps_what_is_finished(stop):
    def interrupt(name, done, number):
        if name == stop:
            raise KeyboardInterrupt

    found = compare_on_table(
        NUMBERS, "value", learners=["bayesian-linear", "k-nn"], repeats=1, folds=3, progress=interrupt
    )
    assert found.best.name == "bayesian-linear"
    assert found.interrupted == (("k-nn",) if stop == "k-nn" else ("the importance of columns",))
    assert "interrupted" in " ".join(found.summary())


def test_an_interrupt_before_any_learner_is_finished_is_one():
    def interrupt(name, done, number):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_on_table(NUMBERS, "value", progress=interrupt)


# --- what is shown -------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_for_each_learner(by_class):
    frame = by_class.to_pandas()
    assert frame["learner"].tolist() == [one.name for one in by_class.learners]
    assert frame["verdict"].iloc[0] == "best"
    assert frame["verdict"].iloc[-1] == "worse"
    assert "<table>" in by_class._repr_html_()


def test_where_nothing_can_be_learned_the_summary_says_so():
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=60).tolist(), "y": rng.choice(["a", "b"], 60).tolist()}
    found = compare_on_table(rows, "y", learners=["naive-bayes"], **QUICK)
    assert "No learner is shown to be better than the baseline" in " ".join(found.summary())


def test_the_picture_shows_what_the_value_holds(by_class):
    axes = by_class.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == [one.name for one in by_class.finished]
    means = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in {"D", "o", "s"}]
    assert means == pytest.approx([by_class.validation(one).mean for one in by_class.finished])
    bars = by_class.importance.names
    assert [text.get_text() for text in jt.plot(by_class.importance).get_yticklabels()] == list(bars)
