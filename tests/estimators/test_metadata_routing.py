"""Metadata routing: weights, lengths, offsets and exposures reach the estimators that asked for them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import juncture as jt
from juncture.estimators import BayesianNetworkClassifier, CategoricalHMM, GaussianHMM, GeneralizedLinearModel
from support.estimator_kinds import CLASSES, COUNTS, NUMBERS, SYMBOLS, answers, over

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # the settings end soon
WEIGHTS = 1.0 + np.arange(len(NUMBERS)) % 3
METHODS = (
    "fit",
    "partial_fit",
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score",
    "transform",
)


@pytest.fixture(autouse=True)
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    for verb, answer in wanted.items():
        np.testing.assert_allclose(found[verb], answer, rtol=1e-12, err_msg=verb)


@over()
def test_what_a_method_takes_beside_rows_may_be_requested(kind):
    built = kind.build()
    requests = built.get_metadata_routing()
    for method in (each for each in METHODS if hasattr(kind.kind, each)):
        taken = set(list(inspect.signature(getattr(kind.kind, method)).parameters)[1:]) - {"X", "y"}
        assert set(getattr(requests, method).requests) == taken, method
        for name in taken:
            getattr(built, f"set_{method}_request")(**{name: True})
            assert getattr(built.get_metadata_routing(), method).requests[name] is True


@over(lambda kind: kind.weights_are_rows)
def test_weights_reach_a_step_of_a_pipeline(kind):
    pipeline = make_pipeline(FunctionTransformer(), kind.build().set_fit_request(sample_weight=True))
    found = pipeline.fit(kind.rows, kind.targets, sample_weight=WEIGHTS)
    wanted = kind.build().fit(kind.rows, kind.targets, sample_weight=WEIGHTS)
    assert_same(answers(found, kind.rows), answers(wanted, kind.rows))
    with pytest.raises(UnsetMetadataPassedError):
        make_pipeline(kind.build()).fit(kind.rows, kind.targets, sample_weight=WEIGHTS)


@over(lambda kind: kind.weights_are_rows)
def test_weights_reach_a_search_and_its_score(kind):
    asked = kind.build(**kind.beside).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(asked, {kind.parameter: [kind.values[0]]}, cv=kind.cv, error_score="raise")
    search.fit(kind.rows, kind.targets, sample_weight=WEIGHTS)
    built = kind.build(**kind.beside, **{kind.parameter: kind.values[0]})

    def given(rows, with_weights=True):
        own = {} if kind.targets is None else {"y": kind.targets[rows]}
        return {"X": kind.rows[rows], **own, "sample_weight": WEIGHTS[rows]}

    scores = [built.fit(**given(train)).score(**given(test)) for train, test in kind.cv.split(kind.rows)]
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores), rel=1e-12)
    assert_same(answers(search, kind.rows), answers(built.fit(**given(slice(None))), kind.rows))


@over(lambda kind: kind.weights_are_rows)
def test_weights_reach_the_parts_of_cross_validation(kind):
    asked = kind.build().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    found = cross_validate(
        asked, kind.rows, kind.targets, cv=kind.cv, params={"sample_weight": WEIGHTS}, return_estimator=True,
        error_score="raise",
    )  # fmt: skip
    for (train, _), learned in zip(kind.cv.split(kind.rows), found["estimator"], strict=True):
        targets = None if kind.targets is None else kind.targets[train]
        wanted = kind.build().fit(kind.rows[train], targets, sample_weight=WEIGHTS[train])
        assert_same(answers(learned, kind.rows), answers(wanted, kind.rows))


@over(lambda kind: kind.is_of_steps)
def test_lengths_reach_a_step_of_a_pipeline(kind):
    asked = kind.build().set_fit_request(lengths=True).set_predict_request(lengths=True)
    lengths = [20, 30, 10]
    found = make_pipeline(FunctionTransformer(), asked).fit(kind.rows, lengths=lengths)
    wanted = kind.build().fit(kind.rows, lengths=lengths)
    np.testing.assert_array_equal(found.predict(kind.rows, lengths=lengths), wanted.predict(kind.rows, lengths=lengths))


@over(lambda kind: kind.is_of_steps)
def test_sequences_are_cut_between_them(kind):
    """A list of sequences, each with a weight: folds hold whole sequences."""
    sequences = [kind.rows[first : first + 10] for first in range(0, 60, 10)]
    weights = np.array([1.0, 2.0, 1.0, 2.0, 1.0, 1.0])
    asked, cut = kind.build().set_fit_request(sample_weight=True), KFold(3)
    found = cross_validate(asked, sequences, cv=cut, params={"sample_weight": weights}, error_score="raise")
    for (train, test), score in zip(cut.split(sequences), found["test_score"], strict=True):
        learned = kind.build().fit([sequences[each] for each in train], sample_weight=weights[train])
        assert score == pytest.approx(learned.score([sequences[each] for each in test]), rel=1e-12)


def test_exposures_and_offsets_reach_a_generalized_linear_model():
    exposure = np.linspace(1.0, 5.0, len(NUMBERS))
    counts = np.random.default_rng(0).poisson(exposure * np.exp(0.3 * NUMBERS[:, 0]))
    model = GeneralizedLinearModel(jt.Poisson)
    for given in ({"exposure": exposure}, {"offset": np.log(exposure)}):
        name = next(iter(given))
        asked = model.set_fit_request(**{name: True}).set_score_request(**{name: True})
        asked.set_predict_request(**{name: True})
        scaled = make_pipeline(StandardScaler(), asked).fit(NUMBERS, counts, **given)
        plain = GeneralizedLinearModel(jt.Poisson).fit(NUMBERS, counts, **given)
        np.testing.assert_allclose(scaled.predict(NUMBERS, **given), plain.predict(NUMBERS, **given), rtol=1e-9)
        parts = cross_validate(asked, NUMBERS, counts, cv=KFold(3), params=given, error_score="raise")
        for (train, test), score in zip(KFold(3).split(NUMBERS), parts["test_score"], strict=True):
            own = GeneralizedLinearModel(jt.Poisson).fit(NUMBERS[train], counts[train], **{name: given[name][train]})
            assert score == pytest.approx(own.score(NUMBERS[test], counts[test], **{name: given[name][test]}))


def test_another_target_reaches_a_network():
    asked = BayesianNetworkClassifier().set_predict_request(target=True)
    found = make_pipeline(FunctionTransformer(), asked).fit(COUNTS.clip(0, 3), CLASSES)
    plain = BayesianNetworkClassifier().fit(COUNTS.clip(0, 3), CLASSES)
    np.testing.assert_array_equal(
        found.predict(COUNTS.clip(0, 3), target="x0"), plain.predict(COUNTS.clip(0, 3), target="x0")
    )


def test_labels_of_steps_are_cut_with_their_sequences():
    sequences = [SYMBOLS[first : first + 10] for first in range(0, 60, 10)]
    labels = [CLASSES[first : first + 10] for first in range(0, 60, 10)]
    found = cross_validate(CategoricalHMM(prior=1.0), sequences, labels, cv=KFold(3), params={}, error_score="raise")
    assert np.isfinite(found["test_score"]).all()
    with pytest.raises(jt.errors.InvalidData, match="lengths"):
        GaussianHMM(2).fit(NUMBERS, lengths=[10, 20])
