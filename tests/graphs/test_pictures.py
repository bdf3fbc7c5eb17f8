"""Every kind of graph draws, and notebooks show it."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import juncture as jt
from juncture.cli.main import app
from juncture.errors import InvalidData

SVG = "{http://www.w3.org/2000/svg}"
GRAPHS = {
    "directed": (jt.DirectedGraph.parse("a -> b <- c; d"), 2),
    "undirected": (jt.UndirectedGraph.parse("a -- b -- c -- a; d"), 0),
    "partly directed": (jt.PartiallyDirectedGraph.parse("a -> b <- c; b -> d; e -- f"), 3),
    "odd names": (jt.UndirectedGraph([("<a>", '"&')]), 0),
    "empty": (jt.UndirectedGraph(), 0),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_picture_has_every_node_and_edge(kind):
    graph, num_arrows = GRAPHS[kind]
    root = ET.fromstring(jt.draw(graph).svg)  # noqa: S314 - our own text
    names = [mark.get("data-name") for mark in root.iter() if mark.get("class") == "variable"]
    edges = [mark for mark in root.iter() if mark.get("class") == "edge"]
    assert names == list(graph.nodes)
    assert {(edge.get("data-source"), edge.get("data-target")) for edge in edges} == set(graph.edges)
    assert sum(edge.tag == f"{SVG}g" for edge in edges) == num_arrows  # a line and a head
    html = graph._repr_html_()
    assert html.count("<svg") == 1
    ET.fromstring(f"<div>{html}</div>")  # noqa: S314 - our own text


def test_a_large_graph_is_told_in_words():
    graph = jt.UndirectedGraph(pairwise(map(str, range(400))))
    assert "<svg" not in graph._repr_html_()
    assert "400 nodes" in graph._repr_html_()


def test_the_command_line_draws_edges(tmp_path):
    path = tmp_path / "graph.svg"
    assert CliRunner().invoke(app, ["draw", "a -> b -- c; d", str(path)]).exit_code == 0
    assert path.read_text() == jt.draw(jt.PartiallyDirectedGraph.parse("a -> b -- c; d")).svg
    refused = CliRunner().invoke(app, ["draw", "a -> b", "-", "--beliefs"])
    assert isinstance(refused.exception, InvalidData)
    assert "a graph has no probabilities" in str(refused.exception)
