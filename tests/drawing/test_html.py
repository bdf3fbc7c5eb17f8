"""Tables as HTML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np

import juncture as jt
from juncture.drawing.notebook import Markup, html_table


def test_texts_are_escaped_and_markup_is_not():
    table = html_table(["<a>"], [["<b>", Markup("<i>c</i>")], [None, 1.5]], "1 < 2", num_labels=1)
    assert "<th>&lt;a&gt;</th>" in table
    assert "<tr><th>&lt;b&gt;</th><td><i>c</i></td></tr><tr><th></th><td>1.5</td></tr>" in table
    assert table.endswith("</table><p>1 &lt; 2</p>")


def test_tables_of_values_are_well_formed_whatever_their_names():
    odd = jt.Variable("<&\"'>", ["<b>", "&"])
    values = [
        jt.Factor([odd, jt.Variable("x", 20)], np.ones((2, 20))),
        jt.Dataset({"<&>": ["a<b", None] * 10}),
        jt.page_rank([("<", ">"), (">", "<")]),
        jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(1.0, 1.0)]),
    ]
    for value in values:
        root = ET.fromstring(f"<div>{value._repr_html_()}</div>")  # noqa: S314 - our own text
        widths = [len(row) for row in root.iter("tr")]
        assert len(set(widths)) == 1, value
