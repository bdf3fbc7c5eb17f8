"""The trellis of a best path as a picture (S2-162); its numbers and text are tested with the Viterbi algorithm."""

from __future__ import annotations

import juncture as jt

ONWARDS = jt.HiddenMarkovModel([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]], [[0.5, 0.5]] * 3)


def test_one_row_of_nodes_per_step():
    """Shaded along the path; what cannot be reached is left out, and each other state has one edge from before."""
    best = jt.most_probable(ONWARDS, [0, 1, 1])
    diagram = best.trellis.to_diagram()
    assert [node.row for node in diagram.nodes] == [0, 1, 1, 2, 2, 2]
    assert [node.text for node in diagram.nodes if node.shaded] == [str(state) for state in best.path]
    assert [edge.target for edge in diagram.edges] == [node.name for node in diagram.nodes if node.row]


def test_it_can_be_drawn():
    assert jt.draw(jt.most_probable(ONWARDS, [0, 1, 1]).trellis).svg.startswith("<svg")
