"""Real-valued variables in pictures: small densities in the nodes of a network and in the tables of a notebook."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import juncture as jt
from juncture.networks.picture import STEPS, density_heights

K, X, Y = jt.Variable("k", ["a", "b"]), jt.Variable("x"), jt.Variable("y")
MODEL = jt.BayesianNetwork(
    [
        jt.Conditional(K, [], [0.5, 0.5]),
        jt.LinearGaussian(X, [K], [[], []], [0.0, 10.0], [1.0, 1.0]),
        jt.LinearGaussian(Y, [X], [1.0], 0.0, 1.0),
    ]
)


def test_nodes_of_real_variables_hold_their_densities():
    svg = jt.draw(MODEL, jt.infer(MODEL, {"y": 3.0})).svg
    groups = {
        group.get("data-name"): group
        for group in ET.fromstring(svg).iter()  # noqa: S314
        if group.get("data-name") in {"k", "x", "y"}
    }
    lines = {name: [part for part in group if part.tag.endswith("polyline")] for name, group in groups.items()}
    assert [len(lines[name]) for name in ("k", "x", "y")] == [0, 2, 0]  # what is observed shows its value
    assert len(lines["x"][0].get("points").split()) == STEPS + 2
    assert ">3</text>" in svg


def test_a_curve_shows_the_mixture_and_single_points():
    both = density_heights(jt.infer(MODEL)["x"])
    middle, sides = both[STEPS // 2], (max(both[: STEPS // 2]), max(both[STEPS // 2 :]))
    assert middle < 0.01
    assert min(sides) > 0.9
    point = jt.results.RealMarginal("x", [0.5, 0.5], [0.0, 3.0], [0.0, 1.0])
    assert max(density_heights(point)) == 1.0
    assert density_heights(jt.results.RealMarginal("x", [1.0], [2.0], [0.0])) == ()


def test_a_network_of_real_variables_only_is_drawn_too(tmp_path):
    model = jt.BayesianNetwork([jt.LinearGaussian(X, [], [], 1.0, 4.0), jt.LinearGaussian(Y, [X], [1.0], 0.0, 0.0)])
    picture = jt.draw(model, jt.infer(model))
    assert "1 ± 2" in picture.svg
    pytest.importorskip("matplotlib")
    picture.save(tmp_path / "model.png")


def test_notebooks_show_densities():
    beliefs = jt.infer(MODEL)
    assert beliefs._repr_html_().count("<svg") == 2
    assert "<svg" in beliefs["x"]._repr_html_()
    assert "<svg" not in jt.infer(MODEL, [{}, {}])["x"]._repr_html_()
