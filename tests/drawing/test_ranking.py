"""Layers: every arc points down, and the total length is the least there is."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.layout.orientation import orient
from juncture.drawing.layout.ranking import longest_path, rank
from juncture.drawing.layout.stacking import stack_leaves


@st.composite
def acyclic(draw, max_vertices):
    number = draw(st.integers(1, max_vertices))
    pairs = [(a, b) for a in range(number) for b in range(a + 1, number)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=2 * number)) if pairs else []
    names = draw(st.permutations(range(number)))
    return number, [(names[a], names[b]) for a, b in chosen]


def total_length(ranks, arcs):
    return sum(ranks[lower] - ranks[upper] for upper, lower in arcs)


@given(acyclic(30))
def test_arcs_point_down_and_are_no_longer_than_by_longest_path(graph):
    number, arcs = graph
    ranks = rank(number, arcs)
    assert min(ranks) == 0
    assert all(ranks[upper] < ranks[lower] for upper, lower in arcs)
    assert total_length(ranks, arcs) <= total_length(longest_path(number, arcs), arcs)


@given(acyclic(5))
def test_total_length_is_the_least_of_all_layerings(graph):
    number, arcs = graph
    layerings = product(range(number), repeat=number)
    feasible = [ranks for ranks in layerings if all(ranks[upper] < ranks[lower] for upper, lower in arcs)]
    assert total_length(rank(number, arcs), arcs) == min(total_length(ranks, arcs) for ranks in feasible)


@given(st.integers(2, 12), st.data())
def test_any_links_are_oriented_without_a_cycle(number, data):
    ends = st.tuples(st.integers(0, number - 1), st.integers(0, number - 1), st.booleans())
    links = [link for link in data.draw(st.lists(ends, max_size=30)) if link[0] != link[1]]
    arcs = orient(number, links)
    assert [set(arc) for arc in arcs] == [{a, b} for a, b, _ in links]
    ranks = longest_path(number, arcs)  # stays behind when there is a cycle
    assert all(ranks[upper] < ranks[lower] for upper, lower in arcs)


@given(acyclic(20))
def test_arrows_without_a_cycle_are_kept(graph):
    number, arcs = graph
    assert orient(number, [(upper, lower, True) for upper, lower in arcs]) == arcs


def test_undirected_chain_and_grid_spread_from_an_end():
    assert orient(4, [(1, 0, False), (1, 2, False), (2, 3, False)]) == [(0, 1), (1, 2), (2, 3)]
    grid = [(3 * row + column, 3 * row + column + 1, False) for row in range(3) for column in range(2)]
    grid += [(3 * row + column, 3 * row + column + 3, False) for row in range(2) for column in range(3)]
    assert rank(9, orient(9, grid)) == [0, 1, 2, 1, 2, 3, 2, 3, 4]


def test_wide_fans_are_stacked_and_narrow_ones_are_not():
    arcs = [(0, leaf) for leaf in range(1, 41)]
    stacked = stack_leaves(rank(41, arcs), arcs, [100.0] * 41)
    assert stacked[0] == 0
    assert min(stacked[1:]) == 1
    assert max(stacked) > 2
    assert stack_leaves(rank(6, arcs[:5]), arcs[:5], [100.0] * 6) == [0, 1, 1, 1, 1, 1]
