"""Places: apart as asked, near to what pulls, and no worse than any small shift."""

import random

from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.layout.layers import build_layers
from juncture.drawing.layout.ordering import order
from juncture.drawing.layout.placement import assign_x, space_out

PLACES = st.integers(-50, 50).map(float)


def distance(places, wanted, weights):
    return sum(weight * (x - y) ** 2 for x, y, weight in zip(places, wanted, weights, strict=True))


@given(st.lists(st.tuples(PLACES, st.floats(0.1, 5), st.floats(0, 20)), min_size=1, max_size=8), st.integers())
def test_spaced_is_feasible_and_beats_random_feasible_places(rows, seed):
    wanted, weights, gaps = [list(column) for column in zip(*rows, strict=True)]
    gaps = gaps[:-1]
    places = space_out(wanted, weights, gaps)
    assert all(b - a >= gap - 1e-9 for a, b, gap in zip(places, places[1:], gaps, strict=False))
    rng = random.Random(seed)
    for _ in range(20):
        other = [places[0] + rng.gauss(0, 3)]
        for before, after, gap in zip(places, places[1:], gaps, strict=False):
            other.append(other[-1] + max(gap, after - before + rng.gauss(0, 3)))
        assert distance(places, wanted, weights) <= distance(other, wanted, weights) + 1e-6


def test_parents_lie_over_the_middle_of_their_children():
    graph = build_layers([0, 1, 1, 1], [(0, 1), (0, 2), (0, 3)], [])
    layers = order(graph)
    x = assign_x(graph, layers, [(20.0, 20.0)] * 4)
    assert abs(x[0] - sum(x[1:]) / 3) < 1
    assert sorted(x[1:]) == [x[vertex] for vertex in layers[1]]


def test_a_long_edge_runs_straight_beside_the_nodes_it_passes():
    graph = build_layers([0, 1, 2, 3, 4], [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], [])
    x = assign_x(graph, order(graph), [(30.0, 30.0)] * 5 + [(0.0, 0.0)] * 3)
    bends = graph.chains[-1][1:-1]
    assert len({round(x[bend], 6) for bend in bends}) == 1
    assert len({round(x[node], 6) for node in (1, 2, 3)}) == 1
    assert abs(x[bends[0]] - x[1]) > 30
