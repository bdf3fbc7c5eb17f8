"""The trellis of a best path as a picture (S2-162); its numbers and text are tested with the Viterbi algorithm."""

from __future__ import annotations

import juncture as jt

ONWARDS = jt.HiddenMarkovModel([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]], [[0.5, 0.5]] * 3)


def test_one_column_of_nodes_per_step():
    """Marked along the path; what cannot be reached is left out, and each other state has one arrow from before."""
    best = jt.most_probable(ONWARDS, [0, 1, 1])
    diagram = best.trellis.to_diagram()
    assert [cell.step for cell in diagram.nodes] == [0, 1, 1, 2, 2, 2]
    assert [diagram.lanes[cell.lane] for cell in diagram.nodes if cell.is_marked] == [str(state) for state in best.path]
    assert [link.target for link in diagram.links] == [1, 2, 3, 4, 5]
    assert sum(link.is_marked for link in diagram.links) == 2
    assert all(diagram.nodes[link.source].step + 1 == diagram.nodes[link.target].step for link in diagram.links)


def test_it_can_be_drawn():
    assert jt.draw(jt.most_probable(ONWARDS, [0, 1, 1]).trellis).svg.startswith("<svg")
