"""A diagram refuses what cannot be drawn, in a sentence that names it."""

from dataclasses import FrozenInstanceError

import pytest

from juncture.drawing.diagram import Diagram, Edge, Group, Node, place_in_two_rows
from juncture.errors import InvalidModel, UnknownVariable


def test_values_are_frozen_and_equal_by_content():
    one = Diagram([Node("a"), Node("b")], [Edge("a", "b")], [Group("n", ["a"])])
    other = Diagram((Node("a"), Node("b")), (Edge("a", "b"),), (Group("n", ("a",)),))
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(FrozenInstanceError):
        one.title = "new"


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: Diagram([Node("a"), Node("a")]), InvalidModel, "2 nodes named 'a'"),
        (lambda: Diagram([Node("rain")], [Edge("rain", "rein")]), UnknownVariable, "did you mean 'rain'"),
        (lambda: Diagram([Node("a")], groups=[Group("N", ["b"])]), UnknownVariable, "no variable 'b'"),
        (lambda: Diagram([Node("a")], [Edge("a", "a")]), InvalidModel, "to itself"),
        (lambda: Group("N", []), InvalidModel, "has no members"),
        (lambda: Node("a", kind="cloud"), InvalidModel, "kind 'cloud'"),
        (lambda: Node("a", bars=[("yes", 1.5)]), InvalidModel, "'yes' the bar 1.5"),
        (lambda: Node("a", bars=[("yes", float("nan"))]), InvalidModel, "between 0 and 1"),
        (lambda: Node("a", kind="factor", bars=[("yes", 0.5)]), InvalidModel, "only a variable"),
        (lambda: Diagram([Node("a", row=0), Node("b")]), InvalidModel, "'b' has no row"),
        (lambda: Diagram([Node("a", row=0), Node("b", row=0)], [Edge("a", "b")]), InvalidModel, "within a row"),
    ],
)
def test_what_cannot_be_drawn_is_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_two_rows_put_factors_below():
    """S1-112: links join opposite kinds, so variables and factors can stand in two rows."""
    graph = Diagram([Node("x"), Node("f", kind="factor")], [Edge("x", "f", directed=False)])
    assert [node.row for node in place_in_two_rows(graph).nodes] == [0, 1]
    with pytest.raises(InvalidModel, match="within a row"):
        place_in_two_rows(Diagram([Node("x"), Node("y")], [Edge("x", "y")]))
