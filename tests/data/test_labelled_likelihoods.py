"""Likelihoods by label: the same evidence as numbers in the order of the states; every state needs a number."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.errors import ImpossibleEvidence, InvalidData, UnknownState

ASIA = jt.example("asia")  # whose states are yes, no


@pytest.mark.parametrize("rows", [None, {"smoke": "yes"}])
def test_a_mapping_by_label_is_one_row(rows):
    by_label = jt.Evidence(rows, likelihoods={"xray": {"no": 0.1, "yes": 0.8}})
    by_order = jt.Evidence(rows, likelihoods={"xray": [0.8, 0.1]})
    assert np.array_equal(jt.infer(ASIA, by_label)["lung"].values, jt.infer(ASIA, by_order)["lung"].values)
    assert np.array_equal(
        jt.infer(ASIA, by_label)["lung"].values,
        jt.infer(ASIA, {**(rows or {}), "xray": {"yes": 0.8, "no": 0.1}})["lung"].values,
    )
    assert by_label == jt.Evidence(rows, likelihoods={"xray": {"no": 0.1, "yes": 0.8}})
    assert "likelihoods of xray" in repr(by_label)


@pytest.mark.parametrize("rows", [None, [{"smoke": "yes"}, {}]])
def test_mappings_by_label_are_many_rows(rows):
    labelled = [{"no": 0.1, "yes": 0.8}, {"yes": 1, "no": 1}]
    beliefs = jt.infer(ASIA, jt.Evidence(rows, likelihoods={"xray": labelled, "dysp": [[0.2, 0.9], [1, 1]]}))
    same = jt.infer(ASIA, jt.Evidence(rows, likelihoods={"xray": [[0.8, 0.1], [1, 1]], "dysp": [[0.2, 0.9], [1, 1]]}))
    assert np.array_equal(beliefs["lung"].values, same["lung"].values)


def test_the_mapping_is_copied():
    likelihood = {"yes": 0.8, "no": 0.1}
    evidence = jt.Evidence(likelihoods={"xray": likelihood})
    likelihood["yes"] = 0.0
    assert evidence.likelihoods["xray"] == {"yes": 0.8, "no": 0.1}


def refused(likelihood, error, match):
    with pytest.raises(error, match=match):
        jt.infer(ASIA, jt.Evidence(likelihoods={"xray": likelihood}))


def test_what_is_wrong_is_said():
    refused({"yes": 0.8}, InvalidData, "the likelihood of 'xray' has no number for 'no'; each state needs one")
    refused({"yes": 0.8, "maybe": 1}, UnknownState, "maybe")
    refused({"yes": 0.8, "no": -1}, InvalidData, "an entry that is not a finite number of at least 0")
    refused({"yes": 0.8, "no": "much"}, InvalidData, "must be a list of numbers")
    refused({"yes": 0, "no": 0}, ImpossibleEvidence, "is 0 everywhere")
    refused([{"yes": 0.8, "no": 1}, {"yes": 1}], InvalidData, "'xray' in row 1 has no number for 'no'")
    with pytest.raises(InvalidData, match="the likelihoods of 'xray' have 1 rows; the evidence has 2 rows"):
        jt.infer(ASIA, jt.Evidence([{}, {}], likelihoods={"xray": {"yes": 0.8, "no": 1}}))
