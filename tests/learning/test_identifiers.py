"""Columns that look like identifiers: learning from them warns once, and says what to do."""

from __future__ import annotations

import warnings

import pytest

import juncture as jt

CANCER = jt.example("cancer")
ROWS = jt.sample(CANCER, 100, rng=0).to_dict()
NAMES = [f"p{number}" for number in range(100)]
SAID = "the column 'patient' has 100 different values in 100 rows, as an identifier has, and nothing can be learned"


@pytest.mark.parametrize("method", ["hill-climbing", "structural-em"])
def test_learning_a_structure_warns_once(method):
    rows = {"patient": NAMES, "Smoker": ROWS["Smoker"], "Cancer": ROWS["Cancer"]}
    if method == "structural-em":
        rows["Cancer"] = [None, *rows["Cancer"][1:]]
    with pytest.warns(jt.errors.IdentifierWarning, match=SAID) as said:
        jt.learn_structure(rows, method)
    assert len(said) == 1
    assert "leave it out, as rows.drop(columns=['patient']) of pandas does" in str(said[0].message)


def test_fitting_a_graph_warns_once_and_names_how_many():
    rows = {"patient": NAMES, "Smoker": ROWS["Smoker"], "visit": NAMES}
    with pytest.warns(
        jt.errors.IdentifierWarning, match=r"learned from it \(1 other columns look like identifiers too\)"
    ) as said:
        jt.fit(jt.DirectedGraph.parse("Smoker -> patient; visit"), rows, prior=1)
    assert len(said) == 1
    with pytest.warns(jt.errors.IdentifierWarning):
        jt.fit(jt.DirectedGraph.parse("Smoker; patient"), rows)


def test_what_is_meant_or_not_used_does_not_warn(tmp_path):
    rows = {"patient": NAMES, **ROWS}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jt.fit(CANCER, rows, prior=1)  # extra columns of a network's rows are ignored
        jt.fit(jt.DirectedGraph.parse("Smoker -> Cancer"), rows, prior=1)
        jt.learn_structure(rows, "chow-liu", variables=[jt.Variable("patient", NAMES)])
        jt.learn_structure({"few": [str(number) for number in range(20)], "b": [0, 1] * 10}, "chow-liu")
        weights = jt.Dataset({"day": range(25), "b": [0, 1, 1, 0, 1] * 5}, weights=[10] * 25, states=["day"])
        jt.learn_structure(weights, "chow-liu")
