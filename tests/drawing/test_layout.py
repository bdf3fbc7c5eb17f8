"""Layout: nothing overlaps, arrows point down, edges end at borders, frames hold their members."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.diagram import Diagram, Edge, Group, Node, place_in_two_rows
from juncture.drawing.layout.arrange import arrange
from support.processor_time import takes_at_most

ASIA = "asia>tub smoke>lung smoke>bronc tub>either lung>either either>xray either>dysp bronc>dysp"
KINDS = ("variable", "parameter", "factor", "decision", "utility")


def graph(text, *, groups=(), directed=True, **nodes):
    pairs = [pair.split(">") for pair in text.split()]
    names = dict.fromkeys(name for pair in pairs for name in pair)
    described = [nodes.get(name, Node(name)) for name in names]
    return Diagram(described, [Edge(a, b, directed) for a, b in pairs], groups)


def overlap(one, other):
    return min(one.right, other.right) - max(one.left, other.left) > 0.01 and (
        min(one.bottom, other.bottom) - max(one.top, other.top) > 0.01
    )


def holds(frame, box):
    across = frame.left < box.left and box.right < frame.right
    return across and frame.top < box.top and box.bottom < frame.bottom


@st.composite
def diagrams(draw):
    number = draw(st.integers(1, 14))
    bars = st.lists(st.tuples(st.text(max_size=8), st.floats(0, 1)), max_size=12)
    nodes = []
    for name in range(number):
        kind = draw(st.sampled_from(KINDS))
        shown = draw(bars) if kind == "variable" else []
        note = draw(st.none() | st.text(max_size=12))
        nodes.append(Node(str(name), draw(st.none() | st.text(max_size=40)), kind, bars=shown, note=note))
    pairs = [(str(a), str(b)) for a in range(number) for b in range(a + 1, number)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=2 * number)) if pairs else []
    names = [node.name for node in nodes]
    groups = draw(st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=5), max_size=3))
    edges = [Edge(a, b) for a, b in chosen]
    return Diagram(nodes, edges, [Group(f"plate {index}", members) for index, members in enumerate(groups)])


@given(diagrams())
def test_no_overlap_all_arrows_down_frames_around_members(diagram):
    layout = arrange(diagram)
    assert not any(overlap(one, other) for one, other in combinations(layout.boxes, 2))
    place = dict(zip((node.name for node in diagram.nodes), layout.boxes, strict=True))
    for edge, curve in zip(diagram.edges, layout.curves, strict=True):
        assert place[edge.source].bottom < place[edge.target].top
        assert all(lower.y >= upper.y - 0.01 for upper, lower in pairwise(curve))
    for group, frame in zip(diagram.groups, layout.frames, strict=True):
        assert all(holds(frame, place[name]) for name in group.members)
    for box in (*layout.boxes, *layout.frames):
        assert box.left >= -0.01
        assert box.top >= -0.01
        assert box.right <= layout.width + 0.01
        assert box.bottom <= layout.height + 0.01


@given(diagrams())
def test_nested_and_separate_plates_hold_their_members_only(diagram):
    """Groups that cross cannot always keep others out; those that do not cross always do."""
    families = [frozenset(group.members) for group in diagram.groups]
    crossing = any(a & b and not (a <= b or b <= a) for a, b in combinations(families, 2))
    layout = arrange(diagram)
    for group, frame in zip(diagram.groups, layout.frames, strict=True):
        for node, box in zip(diagram.nodes, layout.boxes, strict=True):
            assert crossing or overlap(frame, box) == (node.name in group.members)


def test_curves_start_and_end_on_the_outline_of_their_nodes():
    diagram = graph(ASIA)
    layout = arrange(diagram)
    place = dict(zip((node.name for node in diagram.nodes), layout.boxes, strict=True))
    for edge, curve in zip(diagram.edges, layout.curves, strict=True):
        start, end = place[edge.source], place[edge.target]
        assert start.left <= curve[0].x <= start.right
        assert start.middle < curve[0].y <= start.bottom
        assert end.left <= curve[-1].x <= end.right
        assert end.top <= curve[-1].y < end.middle


def test_curves_keep_clear_of_other_nodes():
    diagram = graph("a>b b>c c>d d>e a>e a>d b>e x>c x>e y>d", b=Node("b", bars=[("yes", 0.5), ("no", 0.5)]))
    layout = arrange(diagram)
    for edge, curve in zip(diagram.edges, layout.curves, strict=True):
        points = [point for index in range(0, len(curve) - 1, 3) for point in bezier(curve[index : index + 4])]
        for node, box in zip(diagram.nodes, layout.boxes, strict=True):
            if node.name not in (edge.source, edge.target):
                assert not any(box.left < x < box.right and box.top < y < box.bottom for x, y in points)


def bezier(corners, steps=20):
    for step in range(steps + 1):
        t = step / steps
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
        yield tuple(sum(w * corner[axis] for w, corner in zip(weights, corners, strict=True)) for axis in (0, 1))


def test_two_rows_of_a_factor_graph():
    """S1-112: variables in the upper row, factors in the lower, whatever the components."""
    names = [Node(f"x{i}") for i in range(6)] + [Node(f"f{i}", kind="factor") for i in range(4)]
    edges = [Edge(f"x{i}", f"f{i}", directed=False) for i in range(4)] + [Edge("f0", "x1", directed=False)]
    layout = arrange(place_in_two_rows(Diagram(names, edges)))
    assert len({box.middle for box in layout.boxes[:6]}) == 1
    assert len({box.middle for box in layout.boxes[6:]}) == 1
    assert layout.boxes[0].bottom < layout.boxes[6].top


def test_undirected_and_cyclic_diagrams_are_laid_out():
    for directed in (True, False):
        layout = arrange(graph("a>b b>c c>a c>d d>c", directed=directed))
        assert len(layout.curves) == 5
        assert not any(overlap(one, other) for one, other in combinations(layout.boxes, 2))


def test_an_arrow_against_the_layers_still_ends_at_its_target():
    diagram = graph("a>b b>c c>a")
    layout = arrange(diagram)
    place = dict(zip("abc", layout.boxes, strict=True))
    for edge, curve in zip(diagram.edges, layout.curves, strict=True):
        assert place[edge.target].top <= curve[-1].y <= place[edge.target].bottom


@pytest.mark.parametrize("number", [0, 1, 100])
def test_edgeless_diagrams_are_packed_side_by_side(number):
    layout = arrange(Diagram([Node(f"node {index}") for index in range(number)]))
    assert len(layout.boxes) == number
    assert layout.width <= 2500
    if number == 100:
        assert 0.5 < layout.width / layout.height < 4


def test_a_simple_plate_holds_exactly_its_members():
    plate = Group("n = 1 … N", ("x", "z"))
    diagram = graph("mu>x z>x sigma>x pi>z", groups=[plate], sigma=Node("sigma", kind="parameter"))
    layout = arrange(diagram)
    for node, box in zip(diagram.nodes, layout.boxes, strict=True):
        assert overlap(layout.frames[0], box) == (node.name in plate.members)
        assert holds(layout.frames[0], box) == (node.name in plate.members)


def test_crossing_plates_overlap_in_the_shared_member_only():
    groups = [Group("users", ("U", "R")), Group("items", ("V", "R"))]
    diagram = graph("U>R V>R s>R", groups=groups)
    layout = arrange(diagram)
    place = dict(zip((node.name for node in diagram.nodes), layout.boxes, strict=True))
    for group, frame in zip(groups, layout.frames, strict=True):
        assert {name for name, box in place.items() if overlap(frame, box)} == set(group.members)


def random_edges(number, edges):
    return [
        Edge(str(index * 7919 % ((index % (number - 1)) + 1)), str(index % (number - 1) + 1)) for index in range(edges)
    ]


def test_a_thousand_nodes_take_a_few_seconds():
    edges = [edge for edge in random_edges(1000, 1400) if edge.source != edge.target]
    diagram = Diagram([Node(str(name)) for name in range(1000)], edges)
    with takes_at_most(5):  # about 1 second
        layout = arrange(diagram)
    assert len(layout.curves) == len(edges) > 1300


def test_a_long_chain_needs_no_deep_recursion():
    names = [str(name) for name in range(1500)]
    edges = [Edge(a, b) for a, b in pairwise(names)]
    layout = arrange(Diagram([Node(name) for name in names], edges))
    assert len({round(box.center) for box in layout.boxes}) == 1
