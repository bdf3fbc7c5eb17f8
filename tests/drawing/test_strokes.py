"""Lines that say more: strengths of edges by width, differences of graphs by colour, and the legend."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import juncture as jt
from juncture.drawing.diagram import Diagram, Edge, Node, Stroke
from juncture.drawing.palette import EDGE, EXTRA_LINE, MISSED_LINE, TURNED_LINE
from juncture.drawing.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"


def lines_of(picture) -> dict[tuple[str, str], dict[str, str]]:
    """For each edge the attributes of its line, with its tooltip as `note`."""
    root = ET.fromstring(picture.svg)  # noqa: S314 - our own text
    found = {}
    for mark in root.iter():
        if mark.get("class") == "edge":
            line = mark if mark.tag == f"{SVG}path" else mark.find(f"{SVG}path")
            note = mark.findtext(f"{SVG}title")
            found[mark.get("data-source"), mark.get("data-target")] = {**line.attrib, "note": note}
    return found


@pytest.mark.parametrize("model", [jt.example("asia"), jt.example("asia").to_markov_network()])
def test_the_strongest_edge_is_widest(model):
    information = jt.information.edge_information(model)
    lines = lines_of(jt.draw(model, strengths=information))
    widths = {edge: float(line["stroke-width"]) for edge, line in lines.items()}
    assert max(widths.values()) == widths[max(information, key=information.get)] == 5.0
    ranked = sorted(information, key=information.get)
    assert [widths[edge] for edge in ranked] == sorted(widths.values())
    assert all(lines[edge]["note"] == f"{nats:.4g}" for edge, nats in information.items())


def test_an_edge_without_a_strength_stays_as_it_is():
    graph = jt.DirectedGraph.parse("a -> b -> c")
    lines = lines_of(jt.draw(graph, strengths={("a", "b"): 0.0}))
    assert lines["a", "b"]["stroke-width"] == "0.8"
    assert lines["b", "c"]["stroke-width"] == "1.4"
    assert lines["b", "c"]["note"] is None


@pytest.mark.parametrize(
    ("model", "strengths", "words"),
    [
        (jt.example("asia"), {("asia", "xray"): 1.0}, "which the picture has not"),
        (jt.example("asia"), {("asia", "tub"): -1.0}, "strength of the edge"),
        (jt.example("asia"), {("asia", "tub"): float("nan")}, "strength of the edge"),
        (jt.example("asia"), [1.0], "strengths"),
        (jt.MarkovChain.uniform(2), {}, "drawn by its states"),
    ],
)
def test_strengths_that_fit_no_edge_are_refused(model, strengths, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        jt.draw(model, strengths=strengths)


def test_edge_strengths_draw_weak_edges_dashed():
    strengths = jt.structure.strengths(jt.sample(jt.example("student"), 300, rng=0), draws=20, rng=0)
    lines = lines_of(jt.draw(strengths))
    kept = {frozenset(edge) for edge in strengths.average().edges}
    shown = {(tail, head): strength for tail, head, strength, _ in strengths.strongest() if strength >= 0.1}
    assert lines.keys() == shown.keys()
    for edge, line in lines.items():
        assert ("stroke-dasharray" in line) == (frozenset(edge) not in kept)
        assert line["note"].startswith(f"strength {shown[edge]:.2f}")
    assert strengths._repr_html_().count("<svg") == 1


def test_a_comparison_has_a_colour_for_each_difference():
    learned = jt.PartiallyDirectedGraph.parse("a -> b; c -> b; d -- c; d -> e")
    truth = jt.DirectedGraph.parse("a -> b; b -> c; d -> c; a -> e")
    found = jt.structure.compare(learned, truth)
    lines = lines_of(jt.draw(found))
    colours = {edge: (line["stroke"], "stroke-dasharray" in line) for edge, line in lines.items()}
    assert colours == {
        ("a", "b"): (EDGE, False),
        ("c", "b"): (TURNED_LINE, False),
        ("c", "d"): (TURNED_LINE, False),
        ("d", "e"): (EXTRA_LINE, False),
        ("a", "e"): (MISSED_LINE, True),
    }
    assert sum(line["stroke"] != EDGE for line in lines.values()) == found.distance
    assert found._repr_html_().count("<svg") == 1


def test_the_legend_lies_within_the_picture():
    plain = Diagram([Node("a"), Node("b")], [Edge("a", "b")])
    shown = Diagram(plain.nodes, plain.edges, legend=[("a <long> explanation of a line", Stroke(3.0, dashed=True))])
    before, after = (ET.fromstring(to_svg(diagram)) for diagram in (plain, shown))  # noqa: S314 - our own text
    assert float(after.get("height")) > float(before.get("height"))
    words = next(mark for mark in after.iter(f"{SVG}text") if "<long>" in (mark.text or ""))
    assert float(words.get("y")) < float(after.get("height"))
    assert float(words.get("x")) + 6 * len(words.text) < float(after.get("width"))
    assert not any(mark.get("class") == "legend" for mark in before.iter())
