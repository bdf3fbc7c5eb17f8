"""Order within layers: crossings are counted right and groups stay together."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.layout.layers import build_layers
from juncture.drawing.layout.ordering import crossings, first_order, order


@st.composite
def two_layers(draw):
    upper, lower = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    pairs = st.tuples(st.integers(0, upper - 1), st.integers(upper, upper + lower - 1))
    return upper, lower, draw(st.lists(pairs, max_size=20))


@given(two_layers())
def test_crossings_are_those_of_all_pairs(graph):
    upper, lower, arcs = graph
    built = build_layers([0] * upper + [1] * lower, arcs, [])
    layers = [list(range(upper)), list(range(upper, upper + lower))]
    expected = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(arcs, 2))
    assert crossings(built, layers) == expected


@given(two_layers())
def test_sweeps_never_add_crossings_and_keep_every_vertex(graph):
    upper, lower, arcs = graph
    built = build_layers([0] * upper + [1] * lower, arcs, [])
    result = order(built)
    assert [sorted(layer) for layer in result] == [list(range(upper)), list(range(upper, upper + lower))]
    assert crossings(built, result) <= crossings(built, first_order(built, downwards=True))


def test_trees_have_no_crossings():
    ranks = [(number + 1).bit_length() - 1 for number in range(31)]
    arcs = [((number - 1) // 2, number) for number in range(1, 31)]
    shuffled = arcs[::2] + arcs[1::2][::-1]
    built = build_layers(ranks, shuffled, [])
    assert crossings(built, order(built)) == 0


def test_long_edges_bend_in_every_layer_they_pass():
    built = build_layers([0, 1, 2, 3], [(0, 1), (1, 2), (2, 3), (0, 3)], [])
    assert [built.layer_of[vertex] for vertex in built.chains[-1]] == [0, 1, 2, 3]
    for chain in built.chains:
        assert all(lower in built.below[upper] for upper, lower in pairwise(chain))


def test_members_of_a_group_stand_between_its_borders():
    arcs = [(0, upper) for upper in range(1, 7)]
    built = build_layers([0] + [1] * 6, arcs, [frozenset({1, 4, 6})])
    layer = order(built)[1]
    (left,), (right,) = built.borders[0]
    assert set(layer[layer.index(left) + 1 : layer.index(right)]) == {1, 4, 6}


def test_crossing_groups_share_what_lies_between():
    built = build_layers([0, 0, 1], [(0, 2), (1, 2)], [frozenset({0, 2}), frozenset({1, 2})])
    first, second = order(built)
    (one_left, two_left), (one_right, two_right) = zip(*built.borders, strict=True)
    assert first == [one_left[0], 0, two_left[0], one_right[0], 1, two_right[0]]
    assert second == [one_left[1], two_left[1], 2, one_right[1], two_right[1]]
