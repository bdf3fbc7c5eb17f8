"""Laws of all estimators inside scikit-learn's tools: searches, cross-validation, pipelines, ensembles, calibration."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from juncture.errors import NotConvergedWarning
from support.estimator_kinds import KINDS, answers, over

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for verb, answer in wanted.items():
        np.testing.assert_array_equal(found[verb], answer, err_msg=verb)


@over()
def test_a_search_tries_each_value_and_keeps_the_best(kind):
    search = GridSearchCV(
        kind.build(**kind.beside), {kind.parameter: list(kind.values)}, cv=kind.cv, error_score="raise"
    )
    search.fit(kind.rows, kind.targets)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = kind.values[int(np.argmax(search.cv_results_["mean_test_score"]))]
    assert search.best_params_ == {kind.parameter: best}
    assert_same(answers(search, kind.rows), answers(kind.fit(**kind.beside, **{kind.parameter: best}), kind.rows))


@over(lambda kind: kind.is_classifier or kind.is_regressor)
def test_every_scorer_gives_a_number(kind):
    names = ["r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"]
    if kind.is_classifier:
        names = ["accuracy", "f1_macro", "balanced_accuracy"]
        names += ["neg_log_loss", "roc_auc_ovr"] if hasattr(kind.kind, "predict_proba") else []
    found = cross_validate(kind.build(), kind.frame(), kind.targets, cv=kind.cv, scoring=names, error_score="raise")
    assert all(np.isfinite(found[f"test_{name}"]).all() for name in names)
    assert len(cross_val_predict(kind.build(), kind.frame(), kind.targets, cv=kind.cv)) == len(kind.rows)


@over()
def test_a_step_of_a_pipeline_is_the_estimator_alone(kind):
    table = kind.frame()
    pipeline = make_pipeline(FunctionTransformer(feature_names_out="one-to-one"), kind.build())
    assert_same(answers(pipeline.fit(table, kind.targets), table), answers(kind.fit(table), table))
    assert pipeline[-1].n_features_in_ == kind.rows.shape[1]


@over()
def test_columns_are_chosen_by_name(kind):
    table, names = kind.frame(), list(kind.frame().columns[:2])
    if kind.is_transformer:
        found = make_column_transformer((kind.build(n_components=1), names), remainder="drop")
        wanted = clone(kind.build(n_components=1)).fit(table[names], kind.targets).transform(table[names])
        np.testing.assert_array_equal(found.fit_transform(table, kind.targets), wanted)
    else:
        chosen = make_column_transformer(("passthrough", names), verbose_feature_names_out=False)
        found = make_pipeline(chosen.set_output(transform="pandas"), kind.build()).fit(table, kind.targets)
        assert_same(answers(found, table), answers(kind.fit(table[names]), table[names]))


@over(lambda kind: kind.is_classifier)
def test_probabilities_are_calibrated(kind):
    weights = 1.0 + np.arange(len(kind.rows)) % 2
    for method in ("sigmoid", "isotonic"):
        calibrated = CalibratedClassifierCV(kind.build(), method=method, cv=kind.cv)
        shares = calibrated.fit(kind.frame(), kind.targets, sample_weight=weights).predict_proba(kind.frame())
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
        assert (calibrated.predict(kind.frame()) == kind.targets).mean() > 0.6


@over(lambda kind: kind.is_classifier or kind.is_regressor)
def test_ensembles_stack_and_vote(kind):
    members = [("first", kind.build()), ("second", clone(kind.build()))]
    if kind.is_classifier:
        stack = StackingClassifier(members, LogisticRegression(), cv=kind.cv)
        vote = VotingClassifier(members, voting="soft" if hasattr(kind.kind, "predict_proba") else "hard")
    else:
        stack, vote = StackingRegressor(members, Ridge(), cv=kind.cv), VotingRegressor(members)
    assert stack.fit(kind.frame(), kind.targets).score(kind.frame(), kind.targets) > 0.3
    alone = kind.fit(kind.frame()).predict(kind.frame())
    np.testing.assert_allclose(vote.fit(kind.frame(), kind.targets).predict(kind.frame()), alone, rtol=1e-14)


@over(lambda kind: kind.is_regressor)
def test_targets_are_transformed(kind):
    whole = TransformedTargetRegressor(kind.build(), func=np.log, inverse_func=np.exp)
    targets = np.exp(kind.targets)
    found = whole.fit(kind.frame(), targets).predict(kind.frame())
    alone = kind.build().fit(kind.frame(), np.log(targets))
    np.testing.assert_allclose(found, np.exp(alone.predict(kind.frame())), rtol=1e-12)


@over(lambda kind: kind.is_classifier or kind.is_regressor)
def test_a_column_that_says_nothing_has_no_importance(kind):
    """The classes and the numbers depend on the first column, and the last is noise."""
    rng = np.random.default_rng(4)
    first = rng.normal(size=120)
    table = np.column_stack([first, rng.normal(size=120)])
    targets = (first > 0).astype(int) if kind.is_classifier else 3.0 * first + rng.normal(size=120)
    found = permutation_importance(kind.build().fit(table, targets), table, targets, n_repeats=3, random_state=0)
    assert found.importances_mean[0] > 0.2
    assert abs(found.importances_mean[1]) < 0.5 * found.importances_mean[0]


@over()
def test_copies_are_equal_and_fresh(kind):
    fitted = kind.fit(kind.frame())
    again = clone(fitted)
    assert not [name for name in vars(again) if name.endswith("_") and not name.startswith("_")]
    assert_same(answers(again.fit(kind.frame(), kind.targets), kind.frame()), answers(fitted, kind.frame()))
    assert_same(answers(pickle.loads(pickle.dumps(fitted)), kind.frame()), answers(fitted, kind.frame()))  # noqa: S301


@over()
def test_parameters_are_those_of_the_constructor(kind):
    built = kind.build()
    taken = built.get_params()
    assert set(taken) == set(inspect.signature(kind.kind).parameters)
    assert "n_jobs" not in taken  # how many threads there are is a setting of the library
    value = next(value for value in kind.values if value != taken[kind.parameter])
    assert built.set_params(**{kind.parameter: value}).get_params() == {**taken, kind.parameter: value}
    with pytest.raises(ValueError, match="Invalid parameter"):
        built.set_params(nothing=1)


@over()
def test_a_representation_says_what_was_set(kind):
    value = kind.values[-1]
    built = kind.build(**{kind.parameter: value})
    is_default = value == kind.kind().get_params()[kind.parameter]
    assert repr(built).startswith(f"{kind.name}(")
    assert (f"{kind.parameter}=" in repr(built)) != is_default
    for shown in (built, kind.fit()):
        assert kind.name in shown._repr_html_()


def test_every_class_is_in_the_registry():
    from juncture import estimators

    classes = {
        name for name, each in vars(estimators).items() if isinstance(each, type) and issubclass(each, BaseEstimator)
    }
    assert [each.name for each in KINDS] == sorted(estimators.__all__)
    assert classes == set(estimators.__all__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        assert all(answers(each.fit(), each.rows) for each in KINDS)
