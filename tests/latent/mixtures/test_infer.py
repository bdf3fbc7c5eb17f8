"""Questions to mixtures: responsibilities by Bayes' rule, holes summed out, rows that no component can make."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import juncture as jt

TWO = jt.Mixture([0.25, 0.75], [jt.Gaussian(0.0, 1.0), jt.Gaussian(4.0, 2.0)])
PLANE = jt.Mixture([0.4, 0.6], [jt.MultivariateGaussian([mean, 0.0], [[2.0, 0.5], [0.5, 1.0]]) for mean in (0.0, 3.0)])
LIFETIMES = jt.Mixture([0.5, 0.5], jt.Exponential([1.0, 2.0]))


@pytest.mark.parametrize("mixture", [TWO, PLANE], ids=["numbers", "vectors"])
def test_responsibilities_are_by_the_rule_of_bayes(mixture):
    rows = mixture.sample(30, rng=0)
    assert rows.shape == (30, *mixture.event_shape)
    beliefs = jt.infer(mixture, rows)
    joint = np.stack([np.exp(part.log_prob(rows)) for part in mixture], axis=-1) * mixture.weights
    np.testing.assert_allclose(beliefs["component"].values, joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(beliefs.log_evidence, np.log(joint.sum(axis=1)), rtol=1e-12)
    np.testing.assert_array_equal(jt.log_prob(mixture, rows), beliefs.log_evidence)
    one = jt.infer(mixture, rows[3])
    assert isinstance(one["component"], jt.Factor)
    np.testing.assert_allclose(one["component"].values, beliefs.responsibilities[3])
    assert one.log_evidence == jt.log_prob(mixture, rows[3]) == pytest.approx(beliefs.log_evidence[3])


def test_the_most_probable_component():
    best = jt.most_probable(TWO, [0.0, 4.0])
    assert best.assignments.columns["component"].tolist() == [0, 1]
    np.testing.assert_allclose(np.exp(best.log_prob), jt.infer(TWO, [0.0, 4.0]).responsibilities.max(axis=1))
    one = jt.most_probable(TWO, 4.0)
    assert one.assignment == {"component": 1}
    assert one.log_joint - one.log_prob == pytest.approx(jt.log_prob(TWO, 4.0))


def test_what_is_missing_is_summed_out():
    assert jt.infer(TWO, [None, 1.0])["component"].values[0] == pytest.approx([0.25, 0.75])
    first = jt.Mixture([0.4, 0.6], jt.Gaussian([0.0, 3.0], 2.0))
    row = jt.infer(PLANE, [[1.5, np.nan]])
    np.testing.assert_allclose(row["component"].values, jt.infer(first, [1.5])["component"].values)
    np.testing.assert_allclose(row.log_evidence, jt.infer(first, [1.5]).log_evidence)


def test_frames_are_rows():
    frame = pd.DataFrame({"x": [0.0, 1.0], "y": [2.0, 3.0]})
    np.testing.assert_array_equal(jt.infer(PLANE, frame).log_evidence, PLANE.log_prob(frame.to_numpy()))
    assert len(jt.infer(TWO, frame[["x"]])) == 2


def test_rows_that_no_component_can_make():
    with pytest.raises(jt.ImpossibleEvidence, match="the row has probability zero"):
        jt.infer(LIFETIMES, -1.0)
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match="1 of 2 rows"):
        beliefs = jt.infer(LIFETIMES, [1.0, -1.0])
    assert beliefs.impossible == (1,)
    assert np.isnan(beliefs["component"].values[1]).all()
    assert beliefs.log_evidence[1] == -np.inf
    with pytest.raises(jt.ImpossibleEvidence, match="row 1"):
        jt.infer(LIFETIMES, [1.0, -1.0], on_impossible="raise")


def test_what_is_refused():
    symbols = jt.Mixture([0.5, 0.5], [jt.Categorical([0.7, 0.3]), jt.Categorical([0.1, 0.9])])
    with pytest.raises(jt.errors.InvalidData, match="symbols are whole numbers from 0 to 1"):
        jt.infer(symbols, [0, 5])
    with pytest.raises(jt.UnknownVariable, match="known are 'component'"):
        jt.infer(TWO, [0.0])["state"]
    with pytest.raises(jt.errors.InvalidData, match="a row has 1 number; got an array of the shape"):
        jt.infer(TWO, np.zeros((2, 2)))
    with pytest.raises(jt.errors.InvalidData, match="on_impossible"):
        jt.infer(TWO, [0.0], on_impossible="ignore")


def test_it_says_what_it_is():
    assert repr(jt.infer(TWO, [0.0, 1.0])) == "MixtureBeliefs(2 components; 2 rows; exact, by enumeration)"
    assert repr(jt.infer(TWO, 0.0)).startswith("MixtureBeliefs(2 components; log_evidence=-2.")


def test_datasets_are_rows():
    """Real columns, and columns of whole numbers, whose labels count and not their codes; by name or in order."""
    plain = np.array([[1.5, 2.0], [0.5, np.nan]])
    named = jt.Dataset({"x1": plain[:, 1], "x0": plain[:, 0]})
    np.testing.assert_array_equal(jt.log_prob(PLANE, named), jt.log_prob(PLANE, plain))
    other = jt.Dataset({"height": plain[:, 0], "width": plain[:, 1]})
    np.testing.assert_array_equal(jt.log_prob(PLANE, other), jt.log_prob(PLANE, plain))
    counts = jt.Mixture([0.5, 0.5], jt.Poisson([3.0, 40.0]))
    rows = jt.Dataset({"n": [2, 50, None, 3]})
    assert not rows.variable("n").is_real
    np.testing.assert_array_equal(jt.log_prob(counts, rows), jt.log_prob(counts, [2, 50, np.nan, 3]))
    with pytest.raises(jt.errors.InvalidData, match="a row has 1 number; there are 2 columns"):
        jt.infer(TWO, other)
    with pytest.raises(jt.errors.InvalidData, match="holds labels such as 'many'"):
        jt.infer(counts, jt.Dataset({"n": ["many", "one"]}))


def test_weights_of_a_dataset_count_in_learning():
    rows, weights = TWO.sample(60, rng=0), np.arange(60) % 3.0
    with_weights = jt.fit(TWO, jt.Dataset({"x": rows}, weights=weights))
    assert with_weights.model == jt.fit(TWO, rows, weights=weights).model.with_feature_names(["x"])
