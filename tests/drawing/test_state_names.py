"""The names of states in a node: cut where they are long, but never so far that two of them look the same."""

from __future__ import annotations

from juncture.drawing.boxes import extent, state_texts
from juncture.drawing.diagram import Diagram, Node
from juncture.drawing.svg import to_svg


def test_long_names_that_differ_early_are_cut():
    node = Node("x", bars=[("a very long name of a state", 0.5), ("the other long name of a state", 0.5)])
    assert all(text.endswith("…") for text in state_texts(node))


def test_names_that_differ_late_are_not_cut():
    names = [f"from 41000.0 up to {bound}" for bound in ("52000.0", "63000.0", "74000.0")]
    node = Node("income", bars=[(name, 1 / 3) for name in names])
    assert state_texts(node) == names
    svg = to_svg(Diagram([node]))
    assert all(f">{name}</text>" in svg for name in names)
    assert extent(node).left > extent(Node("income", bars=[("low", 1.0)])).left


def test_names_that_are_endless_are_cut_all_the_same():
    node = Node("x", bars=[("a" * 500 + "b", 0.5), ("a" * 500 + "c", 0.5)])
    assert max(map(len, state_texts(node))) < 60
