"""`juncture learn --bootstrap`: each edge with the share of bootstrap samples in which it is learned."""

from __future__ import annotations

import json

import juncture as jt
from support.command_line import juncture


def test_edges_have_the_strengths_of_edge_strengths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = jt.Variable("a", ["n", "y"])
    b, c = jt.Variable("b b", ["n", "y"]), jt.Variable("c", ["n", "y"])
    model = jt.BayesianNetwork(
        [
            jt.Conditional(a, [], [0.5, 0.5]),
            jt.Conditional(b, [a], [[0.9, 0.1], [0.1, 0.9]]),
            jt.Conditional(c, [a], [[0.6, 0.4], [0.4, 0.6]]),
        ]
    )
    jt.sample(model, 120, rng=3).to_csv("rows.csv")
    options = ("learn", "rows.csv", "--method", "hill-climbing", "--bootstrap", "20")
    shares = jt.structure.strengths(jt.Dataset("rows.csv"), "hill-climbing", draws=20, rng=0)
    expected = {frozenset(edge[:2]): edge[2] for edge in shares.strongest()}
    facts = json.loads(juncture(*options, "--json").out)
    assert facts["strengths"]
    assert [found["edge"] for found in facts["strengths"]] == facts["edges"]
    for found in facts["strengths"]:
        assert abs(found["strength"] - expected[frozenset(found["edge"])]) < 1e-9
        assert 0 <= found["direction"] <= 1
    run = juncture(*options)
    assert "strength" in run.out
    assert any('"b b"' in line and "1.00" in line for line in run.out.splitlines())
    assert juncture("learn", "rows.csv", "--bootstrap", "0").returncode == 2
