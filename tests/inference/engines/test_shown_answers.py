"""What notebooks show of answers: tables that are well-formed, escaped and short."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import juncture as jt

ODD = jt.Variable("<&\"'>", ["<b>", "&"])
NETWORK = jt.BayesianNetwork([
    jt.Conditional(ODD, [], [0.25, 0.75]), jt.Conditional(jt.Variable("x", 20), [ODD], np.full((2, 20), 0.05))
])  # fmt: skip
WEATHER = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["<dry>", "&wet"])
ROWS = [{"x": number % 20} for number in range(40)]
ANSWERS = {
    "beliefs of many rows": lambda: jt.infer(NETWORK, ROWS),
    "a marginal of many rows": lambda: jt.infer(NETWORK, ROWS)[ODD.name],
    "a joint of many rows": lambda: jt.infer(NETWORK, ROWS).joint("x", ODD.name),
    "a best assignment": lambda: jt.most_probable(NETWORK),
    "best assignments of many rows": lambda: jt.most_probable(NETWORK, ROWS),
    "a best path": lambda: jt.most_probable(WEATHER, [0, 1] * 50),
    "a best path without steps": lambda: jt.most_probable(WEATHER, []),
    "beliefs of no rows": lambda: jt.infer(NETWORK, []),
    "a fit": lambda: jt.fit(NETWORK, [{ODD.name: ODD.labels[row["x"] % 2], **row} for row in ROWS]),
    "a fit of a mixture": lambda: jt.fit(jt.Mixture([0.5, 0.5], jt.Poisson([1.0, 9.0])), [1, 2, 8, 9]),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_are_well_formed_and_short(answer):
    value = ANSWERS[answer]()
    html = value._repr_html_()
    root = ET.fromstring(f"<div>{html}</div>")  # noqa: S314 - our own text
    for table in root.iter("table"):
        assert len({len(row) for row in table.iter("tr")}) <= 1
        assert len(list(table.iter("tr"))) <= 33
    assert len(html) < 100_000
    assert "\n" not in repr(value)
    assert len(repr(value)) < 300


def test_many_rows_are_named_by_the_index_of_their_frame():
    pd = pytest.importorskip("pandas")
    html = jt.infer(NETWORK, pd.DataFrame({"x": [1, 2]}, index=["<ann>", "bob"]), targets=[ODD.name])._repr_html_()
    assert "<th>&lt;ann&gt;</th><td>0.2500<div" in html
    assert "<th>bob</th><td>0.2500<div" in html


def test_what_the_tables_say():
    best = jt.most_probable(jt.example("asia"), {"xray": "yes"})
    assert "<tr><th>lung</th><td>yes</td></tr>" in best._repr_html_()
    path = jt.most_probable(
        jt.MarkovChain([[0.9, 0.1], [0.2, 0.8]], "sun", states=["sun", "rain"]), ["sun", "sun", "rain"]
    )
    assert "<tr><th>0</th><td>1</td><td>sun</td></tr><tr><th>2</th><td>2</td><td>rain</td></tr>" in path._repr_html_()
    many = jt.infer(jt.example("alarm"), [{}] * 50)._repr_html_()
    assert "cut from 50 rows × 105 columns" in many
    fit = jt.fit(jt.Mixture([0.5, 0.5], jt.Poisson([1.0, 9.0])), [1, 2, 8, 9])._repr_html_()
    assert "<th>converged</th><td>yes</td>" in fit
