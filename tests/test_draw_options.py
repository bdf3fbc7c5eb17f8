"""`draw`: evidence in place of beliefs, a part of a model, a direction, a width and a title."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import juncture as jt
from juncture.drawing.diagram import Diagram, Edge, Group, Node, keep_around
from juncture.drawing.layout.arrange import arrange
from juncture.errors import InvalidData, UnknownVariable

SVG = "{http://www.w3.org/2000/svg}"
ASIA = jt.example("asia")
FIELD = jt.FactorGraph(
    [jt.Factor([jt.Variable(name, 2) for name in pair], np.ones((2, 2))) for pair in ("ab", "bc", "cd")]
)
CHAIN = jt.MarkovChain([[0.9, 0.1], [0.2, 0.8]], "sun", states=["sun", "rain"])


def parse(picture):
    return ET.fromstring(picture.svg)  # noqa: S314 - our own text


def nodes_of(picture):
    kinds = ("variable", "factor", "parameter")
    return {mark.get("data-name") for mark in parse(picture).iter() if mark.get("class") in kinds}


def test_evidence_stands_for_its_beliefs():
    for evidence in ({"xray": "yes"}, {}):
        assert jt.draw(ASIA, evidence).svg == jt.draw(ASIA, jt.infer(ASIA, evidence)).svg
    with pytest.raises(UnknownVariable, match="did you mean 'xray'"):
        jt.draw(ASIA, {"xry": "yes"})
    with pytest.raises(InvalidData, match="another form"):
        jt.draw(CHAIN, {"state": "sun"})


def test_a_part_is_the_markov_blanket():
    moral = ASIA.graph.moralize()
    for name in ASIA.variables.names:
        assert nodes_of(jt.draw(ASIA, around=name)) == {name} | ASIA.graph.markov_blanket(name)
        assert nodes_of(jt.draw(moral, around=name)) == {name} | moral.markov_blanket(name)
    both = nodes_of(jt.draw(ASIA, around=["asia", "dysp"]))
    assert both == {"asia", "dysp"} | ASIA.graph.markov_blanket("asia") | ASIA.graph.markov_blanket("dysp")
    assert nodes_of(jt.draw(FIELD, around="a")) == {"a", "b", "f0"}
    assert nodes_of(jt.draw(FIELD, around="b")) == {"a", "b", "c", "f0", "f1"}


def test_a_part_has_the_beliefs_of_the_whole():
    root = parse(jt.draw(ASIA, {"xray": "yes"}, around="smoke"))
    tips = {mark.get("data-name"): mark[0].text for mark in root.iter() if mark.get("class") == "variable"}
    assert "yes: 68.8%" in tips["smoke"]
    strengths = jt.information.edge_information(ASIA)
    assert nodes_of(jt.draw(ASIA, strengths=strengths, around="smoke")) == {"smoke", "lung", "bronc"}
    best = jt.most_probable(ASIA, {"xray": "yes"})
    assert nodes_of(jt.draw(ASIA, best, around="smoke")) == {"smoke", "lung", "bronc"}


def test_plates_keep_the_members_that_are_left():
    diagram = Diagram(
        [Node(name) for name in "abcd"], [Edge("a", "b"), Edge("c", "d")], [Group("both", "bd"), Group("d", "d")]
    )
    part = keep_around(diagram, ["a"])
    assert part.groups == (Group("both", ("b",)),)
    assert [node.name for node in part.nodes] == ["a", "b"]


@pytest.mark.parametrize("name", ["asia", "alarm", "fuel"])
def test_arrows_lead_to_the_right(name):
    """All go the same way, boxes lie apart, and edges begin and end at the boxes of their nodes."""
    diagram = jt.example(name).to_diagram()
    turned = arrange(Diagram(diagram.nodes, diagram.edges, direction="right"))
    index, boxes = diagram.index, turned.boxes
    for edge, curve in zip(diagram.edges, turned.curves, strict=True):
        source, target = boxes[index[edge.source]], boxes[index[edge.target]]
        assert source.right < target.left
        assert source.center < curve[0].x <= source.right + 1e-6
        assert target.left - 1e-6 <= curve[-1].x < target.center
        assert source.top <= curve[0].y <= source.bottom
        assert target.top <= curve[-1].y <= target.bottom
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            beside = one.right <= other.left or other.right <= one.left
            assert beside or one.bottom <= other.top or other.bottom <= one.top
    assert max(box.right for box in boxes) <= turned.width + 1e-6
    assert max(box.bottom for box in boxes) <= turned.height + 1e-6


def test_a_width_scales_the_picture_and_its_image():
    plain, small = parse(jt.draw(ASIA)), parse(jt.draw(ASIA, width=200))
    assert small.get("width") == "200"
    assert small.get("viewBox") == plain.get("viewBox")
    ratio = float(plain.get("height")) / float(plain.get("width"))
    assert float(small.get("height")) == pytest.approx(200 * ratio, abs=0.1)
    image = pytest.importorskip("matplotlib.image")
    from juncture.drawing.images import SHARPNESS, render

    shown = image.imread(io.BytesIO(render(jt.draw(ASIA, width=200).svg, "png")))
    assert shown.shape[1] == pytest.approx(200 * SHARPNESS, abs=1)
    for wrong in (0, -3, "wide", float("nan")):
        with pytest.raises(InvalidData, match="width"):
            jt.draw(ASIA, width=wrong)


@pytest.mark.parametrize("kind", ["network", "chain", "factor graph", "the best"])
def test_every_picture_takes_a_title(kind):
    models = {"network": ASIA, "chain": CHAIN, "factor graph": FIELD, "the best": jt.most_probable(ASIA, k=2)}
    plain, titled = jt.draw(models[kind]), jt.draw(models[kind], title="<What> we know & don't")
    root = parse(titled)
    words = [mark.text for mark in root.iter(f"{SVG}text")]
    assert words[0] == "<What> we know & don't"
    assert words[1:] == [mark.text for mark in parse(plain).iter(f"{SVG}text")]
    assert float(root.get("height")) == pytest.approx(float(parse(plain).get("height")) + 30)
    wide = parse(jt.draw(models[kind], title="a long title " * 20))
    assert float(wide.get("width")) > 1000


def test_what_other_pictures_have_not_is_refused():
    for options in ({"around": "sun"}, {"direction": "right"}):
        with pytest.raises(InvalidData, match="networks and graphs"):
            jt.draw(CHAIN, **options)
    with pytest.raises(InvalidData, match="direction must be"):
        jt.draw(ASIA, direction="up")
    with pytest.raises(UnknownVariable, match="did you mean 'lung'"):
        jt.draw(ASIA, around="lng")
    with pytest.raises(InvalidData, match="names no node"):
        jt.draw(ASIA, around=[])
