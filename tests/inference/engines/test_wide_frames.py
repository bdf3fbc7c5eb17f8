"""`beliefs.to_frame()`: a line per row of evidence, and the index of the frame that was given."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.row_factors import moments_frame

pd = pytest.importorskip("pandas")
MODEL = jt.example("asia")
ROWS = pd.DataFrame({"xray": ["yes", None, "no"], "smoke": ["no", "yes", "yes"]}, index=["ann", "bob", "eve"])


@pytest.mark.parametrize("method", ["junction-tree", "variable-elimination", "enumeration"])
def test_a_line_per_row_with_the_index_of_the_frame(method):
    beliefs = jt.infer(MODEL, ROWS, targets=["lung", "tub"], method=method)
    frame = beliefs.to_frame()
    assert frame.columns.tolist() == ["lung=yes", "lung=no", "tub=yes", "tub=no"]
    assert frame.index.equals(ROWS.index)
    np.testing.assert_array_equal(frame[["lung=yes", "lung=no"]], beliefs["lung"].values)
    assert ROWS.join(frame).shape == (3, 6)


def test_the_index_stays_with_likelihoods_more_evidence_and_pickles():
    times = ROWS.set_axis(pd.MultiIndex.from_product([["a"], pd.date_range("2020", periods=3)], names=["who", "when"]))
    soft = jt.Evidence(times, {"dysp": [[1, 2], [1, 1], [2, 1]]})
    beliefs = jt.infer(MODEL, soft, targets=["lung"])
    for same in (beliefs, beliefs.with_evidence({"asia": "yes"}), pickle.loads(pickle.dumps(beliefs))):  # noqa: S301
        assert same.to_frame().index.equals(times.index)
    assert pickle.loads(pickle.dumps(soft)) == soft  # noqa: S301


def test_the_index_is_not_compared():
    other = ROWS.reset_index(drop=True)
    assert as_findings(ROWS, MODEL.variables) == as_findings(other, MODEL.variables)
    assert jt.Evidence(ROWS) == jt.Evidence(other)


def test_rows_without_an_index_are_numbered():
    for rows in ([{"xray": "yes"}, {}], jt.Dataset({"xray": ["yes", "no"]}, [MODEL.variable("xray")])):
        assert jt.infer(MODEL, rows).to_frame().index.tolist() == [0, 1]
    single = jt.infer(MODEL, {"xray": "yes"}).to_frame()
    assert single.shape == (1, 16)
    assert single.loc[0, "lung=yes"] == pytest.approx(0.4887114013196365)


def test_mixtures_and_sequences():
    mixture = jt.Mixture([0.3, 0.7], jt.Exponential([1.0, 5.0]))
    beliefs = jt.infer(mixture, pd.Series([1.0, 2.0], index=["a", "b"]))
    np.testing.assert_array_equal(beliefs.to_frame().loc["b"], beliefs.responsibilities[1])
    assert jt.infer(mixture, 1.0).to_frame().shape == (1, 2)
    weather = jt.HiddenMarkovModel(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"]
    )
    steps = jt.infer(weather, [0, 1, 1])
    np.testing.assert_array_equal(steps.to_frame()["state=wet"], steps["state"]["wet"])
    assert steps.to_frame().index.name == "step"
    track = jt.infer(jt.LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0), [0.5, 1.0])
    np.testing.assert_allclose(track.to_frame()["deviation 0"] ** 2, track.smoothed_covariance[:, 0, 0])
    np.testing.assert_array_equal(track.to_frame()["mean 0"], track.smoothed_mean[:, 0])


@pytest.mark.parametrize("unit", [None, "row", "step"])
def test_a_frame_of_moments_numbers_its_rows_by_their_unit(unit):
    moments = {"x": {"mean": np.array([1.0, 2.0]), "variance": np.array([0.5, 0.25])}}
    frame = moments_frame(moments, unit)
    numbers = {} if unit is None else {unit: [0, 1]}
    assert frame.to_dict("list") == {**numbers, "variable": ["x", "x"], "mean": [1.0, 2.0], "variance": [0.5, 0.25]}
