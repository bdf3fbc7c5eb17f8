"""SVG: well formed, complete, escaped, self-contained and the same every time."""

import os
import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.diagram import Diagram, Edge, Group, Node
from juncture.drawing.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
SPRINKLER = Diagram(
    [
        Node("cloudy", bars=[("no", 0.4), ("yes", 0.6)]),
        Node("sprinkler"),
        Node("rain", shaded=True, note="yes"),
        Node("grass", "wet grass"),
        Node("α", kind="parameter"),
        Node("f", kind="factor"),
    ],
    [
        Edge("cloudy", "sprinkler"),
        Edge("cloudy", "rain"),
        Edge("sprinkler", "grass"),
        Edge("rain", "grass"),
        Edge("α", "cloudy"),
        Edge("grass", "f", directed=False),
    ],
    [Group("days 1 … N", ["rain", "grass"])],
    title="Sprinkler",
)


def parse(diagram):
    return ET.fromstring(to_svg(diagram))  # noqa: S314 - our own text


def of_class(root, name):
    return [element for element in root.iter() if element.get("class") == name]


def texts(element):
    return [part.text for part in element.iter(f"{SVG}text")]


def test_every_node_edge_and_group_appears():
    """S1-032: the edges of the picture are the edges of the model."""
    root = parse(SPRINKLER)
    shown = {e.get("data-name") for kind in ("variable", "parameter", "factor") for e in of_class(root, kind)}
    assert shown == {node.name for node in SPRINKLER.nodes}
    edges = [(edge.get("data-source"), edge.get("data-target")) for edge in of_class(root, "edge")]
    assert edges == [(edge.source, edge.target) for edge in SPRINKLER.edges]
    assert [group.get("data-name") for group in of_class(root, "group")] == ["days 1 … N"]
    assert {"Sprinkler", "wet grass", "days 1 … N", "60.0%"} <= set(texts(root))


def test_only_directed_edges_have_heads():
    heads = [len(list(edge.iter(f"{SVG}path"))) for edge in of_class(parse(SPRINKLER), "edge")]
    assert heads == [2, 2, 2, 2, 2, 1]


def test_size_and_view_box_agree():
    root = parse(SPRINKLER)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert "sans-serif" in root.get("font-family")


def test_no_scripts_and_no_references():
    text = to_svg(SPRINKLER)
    assert text.count("http") == 1  # the name space
    for word in ("<script", "href", "url(", "@import", "<image", "onload", "<!"):
        assert word not in text


def test_observed_nodes_are_shaded_and_symbols_are_solid():
    """S1-031: open for latent, shaded for observed, a small solid dot for a parameter."""

    def fill(name):
        element = next(e for e in parse(SPRINKLER).iter() if e.get("data-name") == name)
        return next(element.iter(f"{SVG}rect")).get("fill")

    assert len({fill("cloudy"), fill("sprinkler")}) == 1
    assert fill("rain") != fill("sprinkler")
    assert fill("α") == fill("f")
    assert fill("α") not in (fill("rain"), fill("sprinkler"))


@given(st.lists(st.text(st.characters(codec=None), max_size=60), min_size=1, max_size=5, unique=True))
def test_any_names_give_well_formed_xml(names):
    nodes = [Node(name, name[::-1], bars=[(name, 0.25)], note=name) for name in names]
    edges = [Edge(a, b) for a, b in pairwise(names)]
    root = parse(Diagram(nodes, edges, [Group(names[0], names[:2])], title=names[-1]))
    assert len(of_class(root, "variable")) == len(names)
    assert len(of_class(root, "edge")) == len(names) - 1
    to_svg(Diagram(nodes)).encode("utf-8")


@pytest.mark.parametrize("name", ['<&">', "日本語", "naïve 🌧", "'single'", "a\tb\nc", "]]>"])
def test_names_come_back_from_the_picture(name):
    (node,) = of_class(parse(Diagram([Node(name)])), "variable")
    assert node.get("data-name") == name
    assert node.find(f"{SVG}title").text == name


def test_long_labels_are_cut_and_told_in_full():
    label = "the number of umbrellas left in the hall of the institute"
    (node,) = of_class(parse(Diagram([Node("n", label)])), "variable")
    assert texts(node)[0] == "the number…the institute"
    assert node.find(f"{SVG}title").text == label


def test_many_states_are_summed_up():
    shares = [0.30, 0.01, 0.20, 0.05, 0.04, 0.10, 0.02, 0.08, 0.05, 0.10, 0.03, 0.02]
    (node,) = of_class(parse(Diagram([Node("n", bars=[(f"s{i}", p) for i, p in enumerate(shares)])])), "variable")
    shown = texts(node)
    assert shown[1::2] == ["s0", "s2", "s3", "s5", "s7", "s8", "s9", "… 5 more"]
    assert shown[-1] == "12.0%"
    assert "s11: 2.0%" in node.find(f"{SVG}title").text


def test_bars_are_as_long_as_they_are_probable():
    (node,) = of_class(parse(Diagram([Node("n", bars=[("a", 0.25), ("b", 1.0 + 1e-9), ("c", 0.0)])])), "variable")
    wide = [float(rect.get("width")) for rect in node.iter(f"{SVG}rect")][1:]
    grounds, bars = wide[::2], wide[1::2]
    assert [round(bar / ground, 2) for bar, ground in zip(bars, grounds, strict=True)] == [0.25, 1.0, 0.0]


SCRIPT = """
from juncture.drawing.diagram import Diagram, Edge, Group, Node
from juncture.drawing.svg import to_svg
names = [f"n{i}" for i in range(40)]
edges = [Edge(names[i // 3], names[i]) for i in range(1, 40)] + [Edge(names[i], names[i + 9]) for i in range(0, 30, 2)]
print(to_svg(Diagram(map(Node, names), edges, [Group("a", names[5:9]), Group("b", names[7:12])])))
"""


def test_the_same_diagram_gives_the_same_bytes_in_every_process():
    pictures = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(pictures) == 1


def test_an_empty_diagram_is_a_picture():
    assert parse(Diagram([])).tag == f"{SVG}svg"
