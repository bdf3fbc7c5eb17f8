"""States on a circle: every transition has its arrow and its label, nodes keep apart, names are escaped."""

from __future__ import annotations

from itertools import combinations
from math import hypot
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import juncture as jt
from juncture.drawing.diagram import Node
from juncture.drawing.states import Arrow, StateDiagram, draw_arrow, is_free, place_on_circle
from juncture.drawing.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
CHAIN = jt.MarkovChain(
    [[0.9, 0.1, 0.0], [0.5, 0.499, 0.001], [0.25, 0.25, 0.5]], "<sun>", states=["<sun>", "rain", "fog"]
)


def parse(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own text


def test_every_transition_that_matters_has_an_arrow():
    root = parse(jt.draw(CHAIN).svg)
    edges = [
        (each.get("data-source"), each.get("data-target"))
        for each in root.iter(f"{SVG}g")
        if each.get("class") == "edge"
    ]
    assert sorted(edges) == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1"), ("2", "0"), ("2", "1"), ("2", "2")]
    words = [each.text for each in root.iter(f"{SVG}text")]
    assert words.count("0.25") == 2
    assert {"<sun>", "rain", "fog", "start 1", "0.9", "0.1"} <= set(words)


def test_a_hidden_markov_model_tells_where_it_starts():
    model = jt.HiddenMarkovModel([0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], None, states=["dry", "wet"])
    words = [each.text for each in parse(jt.draw(model).svg).iter(f"{SVG}text")]
    assert words == ["dry", "start 0.6", "wet", "start 0.4", "0.8", "0.2", "0.3", "0.7"]
    with pytest.raises(jt.errors.InvalidData, match="beliefs of a network"):
        jt.draw(model, jt.infer(model, np.zeros((2, 2))))


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12])
def test_arrows_run_from_border_to_border_and_stay_in_the_picture(count):
    nodes = tuple(
        Node(str(place), "long name" * (place % 3), note="start 0.5" if place % 2 else None) for place in range(count)
    )
    boxes = place_on_circle(nodes)
    for one, other in combinations(boxes, 2):
        assert (
            hypot(one.center - other.center, one.middle - other.middle)
            > (one.right - one.left + other.right - other.left) / 2
        )
    arrows = tuple(Arrow(source, target, "0.5") for source in range(count) for target in range(count))
    for arrow in arrows:
        curve = draw_arrow(arrow, boxes).curve
        assert is_free(curve[0], boxes[arrow.source])
        assert is_free(curve[-1], boxes[arrow.target])
    root = parse(to_svg(StateDiagram(nodes, arrows)))
    shift = root.find(f"{SVG}g").get("transform").removeprefix("translate(").removesuffix(")").split()
    for mark in root.iter(f"{SVG}rect"):
        if mark.get("x"):
            assert 0 <= float(mark.get("x")) + float(shift[0]) <= float(root.get("width"))
            assert 0 <= float(mark.get("y")) + float(shift[1]) <= float(root.get("height"))
