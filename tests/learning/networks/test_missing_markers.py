"""`fit(missing=…)`: markers are holes, in every kind of rows and for graphs and networks alike."""

from __future__ import annotations

import pandas as pd
import pytest

import juncture as jt
from juncture.data.sources import as_source

ROWS = {"a": ["x", "y", "?", "x", "y", "x"], "b": [0, 1, 1, -9, 0, 0]}
HOLES = {"a": ["x", "y", None, "x", "y", "x"], "b": [0, 1, 1, None, 0, 0]}
GRAPH = jt.DirectedGraph(edges=[("a", "b")])
A, B = jt.Variable("a", ["x", "y"]), jt.Variable("b", [0, 1])
NETWORK = jt.BayesianNetwork([jt.Conditional(A, [], [0.5, 0.5]), jt.Conditional(B, [A], [[0.6, 0.4], [0.3, 0.7]])])


@pytest.mark.parametrize("structure", [GRAPH, NETWORK])
def test_markers_are_holes(structure, tmp_path):
    expected = jt.fit(structure, HOLES, prior=1).model
    pd.DataFrame(ROWS).to_csv(tmp_path / "rows.csv", index=False)
    for rows in (ROWS, pd.DataFrame(ROWS), jt.Dataset(ROWS), str(tmp_path / "rows.csv")):
        assert jt.fit(structure, rows, prior=1, missing=["?", -9]).model == expected


def test_weights_are_kept():
    rows = jt.Dataset(ROWS, weights=[1, 2, 3, 1, 1, 2])
    expected = jt.fit(NETWORK, jt.Dataset(HOLES, weights=[1, 2, 3, 1, 1, 2]), prior=1).model
    assert jt.fit(NETWORK, rows, prior=1, missing=["?", -9]).model == expected
    assert jt.fit(NETWORK, ROWS, prior=1, weights=[1, 2, 3, 1, 1, 2], missing=["?", -9]).model == expected


def test_functions_of_frames_take_markers_and_sources_have_their_own():
    expected = jt.fit(NETWORK, HOLES, prior=1).model
    frames = [pd.DataFrame(ROWS).iloc[:3], pd.DataFrame(ROWS).iloc[3:]]
    assert jt.fit(NETWORK, lambda: iter(frames), prior=1, missing=["?", -9]).model == expected
    with pytest.raises(jt.errors.InvalidData, match="give block_rows and missing to the first as_source"):
        jt.fit(NETWORK, as_source(HOLES), missing="?")
