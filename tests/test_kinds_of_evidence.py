"""One row of evidence as a pandas series, rows as an Arrow record batch, likelihoods by label."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import juncture as jt

ASIA = jt.example("asia")
FRAME = pd.DataFrame({"smoke": ["yes", "no", None], "xray": ["no", None, "yes"]})


def test_a_series_is_one_row():
    for number in range(len(FRAME)):
        row = FRAME.iloc[number]
        expected = jt.infer(ASIA, row.to_dict())
        assert jt.infer(ASIA, row)["lung"] == expected["lung"]
        assert jt.infer(ASIA, jt.Evidence(row))["lung"] == expected["lung"]
    with pytest.raises(jt.UnknownVariable, match="did you mean 'smoke'"):
        jt.infer(ASIA, pd.Series({"smok": "yes"}))


def test_a_record_batch_is_rows():
    batch = pa.RecordBatch.from_pandas(FRAME)
    assert jt.Dataset(batch) == jt.Dataset(FRAME)
    assert np.array_equal(jt.infer(ASIA, batch)["lung"].values, jt.infer(ASIA, FRAME)["lung"].values)


def test_a_likelihood_by_label_is_the_likelihood_in_the_order_of_the_states():
    expected = jt.infer(ASIA, {"xray": [0.9, 0.2]})
    found = jt.infer(ASIA, {"xray": {"no": 0.2, "yes": 0.9}})
    assert found["lung"] == expected["lung"]
    assert found.log_evidence == expected.log_evidence
    rows = jt.infer(ASIA, [{"xray": {"no": 0.2, "yes": 0.9}}, {"smoke": "no"}])
    assert np.array_equal(rows["lung"].values, jt.infer(ASIA, [{"xray": [0.9, 0.2]}, {"smoke": "no"}])["lung"].values)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"yes": 0.9}, jt.errors.InvalidData, "no number for 'no'; each state needs one"),
        ({"yes": 0.9, "no": 0.2, "perhaps": 1}, jt.errors.UnknownState, "'xray' has no state 'perhaps'"),
        ({"yes": -1, "no": 0.2}, jt.errors.InvalidData, "not a finite number of at least 0"),
        ({"yes", "no"}, jt.errors.InvalidData, "give one state, or the likelihood of each state"),
        ({"yes": 0, "no": 0}, jt.ImpossibleEvidence, "excludes every state"),
    ],
)
def test_what_is_no_likelihood_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        jt.infer(ASIA, {"xray": given})
