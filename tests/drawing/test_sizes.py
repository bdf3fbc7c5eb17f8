"""Large models are described in words, or drawn in time that grows with them; no picture is begun that is too large."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import pytest

import juncture as jt
from juncture.drawing.diagram import Diagram, Edge, Node
from juncture.drawing.layout.arrange import num_bends
from juncture.drawing.layout.stacking import stack_leaves
from juncture.inference.picture import MAX_LINES, num_lines
from juncture.networks.picture import model_html


def complete(size):
    """Every node has all before it as parents."""
    variables = [jt.Variable(f"x{number}") for number in range(size)]
    return jt.BayesianNetwork(
        jt.LinearGaussian(child, variables[:number], [0.0] * number) for number, child in enumerate(variables)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_bends_are_counted(size):
    """An edge of a complete graph passes every node between its ends."""
    assert num_bends(complete(size).to_diagram()) == comb(size, 3)


def test_bends_of_undirected_edges_are_counted_too():
    nodes = tuple(Node(name) for name in "abc")
    ring = Diagram(nodes, tuple(Edge(*pair, directed=False) for pair in ("ab", "bc", "ca")))
    assert num_bends(ring) <= 1


def test_a_small_network_is_drawn_in_a_notebook():
    assert "<svg" in model_html(complete(20))


def test_a_dense_network_is_told_in_words():
    model = complete(120)
    assert len(model_html(model)) < 300
    assert num_lines(model.to_diagram()) == comb(120, 2) + comb(120, 3) > MAX_LINES
    with pytest.raises(jt.TooLarge, match="would have 287,980 lines and bends; the limit is 200,000"):
        jt.draw(model)


def test_a_chain_of_many_states_with_all_arrows_is_not_drawn():
    with pytest.raises(jt.TooLarge, match="200 nodes would have 40,000 lines"):
        jt.draw(jt.MarkovChain.uniform(200))


class Counted(list):
    """A list that counts how often somebody goes through it."""

    rounds = 0

    def __iter__(self):
        self.rounds += 1
        return super().__iter__()


@pytest.mark.parametrize("length", [10, 1000])
def test_stacking_goes_through_a_chain_a_few_times(length):
    """However long it is: once for each layer would be quadratic."""
    arcs, ranks = Counted(zip(range(length - 1), range(1, length), strict=True)), list(range(length))
    assert stack_leaves(ranks, arcs, [60.0] * length) == ranks
    assert arcs.rounds <= 4


def test_stacking_a_wide_fan_moves_leaves_down():
    """Each layer that is too wide gives leaves to the next, as long as one is."""
    arcs = [(0, leaf) for leaf in range(1, 201)]
    ranks = stack_leaves([0] + [1] * 200, arcs, [60.0] * 201)
    counts = [ranks.count(layer) for layer in range(max(ranks) + 1)]
    assert sum(counts) == 201
    assert max(counts) < 60


def test_a_long_chain_is_drawn_with_all_its_nodes():
    variables = [jt.Variable(f"x{number}", 2) for number in range(1500)]
    first = jt.Conditional(variables[0], [], [0.5, 0.5])
    rest = (jt.NoisyOr(child, [parent], [0.5]) for parent, child in pairwise(variables))
    assert jt.draw(jt.BayesianNetwork([first, *rest])).svg.count("<rect") >= 1500
