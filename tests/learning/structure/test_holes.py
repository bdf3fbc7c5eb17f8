"""Rows with holes: the node-average score by its definition, completions by the posterior, structural EM."""

from __future__ import annotations

import numpy as np
import pytest

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.holes.completion import complete_rows
from juncture.learning.structure.holes.observed_fit import ObservedFits
from juncture.learning.structure.learn import learn_structure, resolve_method
from juncture.learning.structure.scores.discrete import NodeAverage
from juncture.learning.structure.scores.scores import EdgePrior
from juncture.learning.structure.searches.structural_em import StructuralEM
from juncture.variables import Variable
from support.builders import joint_table, rows_with_holes
from support.structure_examples import keeps, random_rows


def test_each_family_is_averaged_over_the_rows_that_have_it():
    data = Dataset({"a": [0, 0, 1, None, 1, 1], "b": [0, 1, 1, 1, None, 1]})
    found = structure.score(DirectedGraph.parse("a -> b"), data, NodeAverage(cost=0.0))
    of_a = 2 / 5 * np.log(2 / 5) + 3 / 5 * np.log(3 / 5)  # rows 0, 1, 2, 4, 5
    of_b = 2 / 4 * np.log(1 / 2)  # rows 0, 1, 2, 5: b is open only where a is 0
    assert found == pytest.approx(6 * (of_a + of_b))
    cheaper = structure.score(DirectedGraph.parse("a -> b"), data, NodeAverage(cost=2.0))
    assert cheaper == pytest.approx(found - 2.0 * 3)


def test_without_holes_it_is_bic():
    data = random_rows(np.random.default_rng(0), 100, [2, 3, 2])
    graph = DirectedGraph.parse("n0 -> n1 -> n2")
    assert structure.score(graph, data, "node-average") == pytest.approx(structure.score(graph, data, "bic"))
    for name in ("hill-climbing", "exact", "ges", "chow-liu"):
        assert learn_structure(data, name, score="node-average") == learn_structure(data, name, score="bic")


def test_holes_are_drawn_from_their_joint_posterior():
    """Of 20,000 rows with one finding, the completions have the frequencies of the posterior."""
    model = example("asia")
    names = list(model.variables.names)
    codes = {name: np.full(20_000, -1) for name in names}
    codes["dysp"][:] = 0
    rows = complete_rows(model, Dataset.from_codes(model.variables, codes), 1, np.random.default_rng(0))
    joint = joint_table(model).take(0, axis=names.index("dysp"))
    expected = joint / joint.sum()
    counts = np.zeros(expected.shape)
    np.add.at(counts, tuple(rows.columns[name] for name in names if name != "dysp"), 1 / 20_000)
    assert np.abs(counts - expected).max() < 0.01
    assert (rows.columns["dysp"] == 0).all()
    assert not counts[expected == 0].any()


def test_completions_share_the_weight_and_keep_what_is_known():
    model = example("asia")
    data = rows_with_holes(model, 200, share=0.2)
    rows = complete_rows(model, data, 4, np.random.default_rng(0))
    assert len(rows) == 800
    assert rows.is_complete
    assert rows.weights.sum() == pytest.approx(200)
    for name, column in data.columns.items():
        known = np.repeat(column, 4)
        assert (rows.columns[name][known >= 0] == known[known >= 0]).all()


def test_structural_em_finds_a_network_through_holes():
    """A fifth of all cells is missing; what is found scores, on the rows as they are, above its start."""
    model = example("asia")
    data = rows_with_holes(model, 3000, share=0.2)
    found = learn_structure(data, rng=0)
    comparison = structure.compare(found, model.graph)
    assert comparison.precision >= 0.85
    assert comparison.recall >= 0.7
    start = learn_structure(data, "hill-climbing", score="node-average")
    best, before = (ObservedFits(data, 1.0).fit(graph).score for graph in (found, start))
    assert best >= before
    assert learn_structure(data, rng=0) == found


def test_constraints_hold_with_holes():
    data = rows_with_holes(example("asia"), 300, share=0.1)
    constraints = {"required": [("xray", "asia")], "forbidden": [("either", "xray")], "max_parents": 1}
    constraints |= {"tiers": [["dysp"], ["bronc", "smoke"]]}
    assert keeps(learn_structure(data, **constraints), **constraints)
    assert keeps(learn_structure(data, "exact", score="node-average", **constraints), **constraints)


def test_refusals():
    data = rows_with_holes(example("asia"), 50)
    empty = Dataset.from_codes([Variable("a", 2), Variable("b", 2)], {"a": [0, 1], "b": [-1, -1]})
    with pytest.raises(InvalidData, match="structural-em"):
        learn_structure(data, "ges")
    with pytest.raises(InvalidData, match="'b' has no value"):
        structure.score(DirectedGraph.parse("a; b"), empty, "node-average")
    with pytest.raises(InvalidData, match="at least 0"):
        NodeAverage(cost=-1.0)
    with pytest.raises(InvalidData, match="completions"):
        StructuralEM(completions=0)


@pytest.mark.parametrize("score", ["node-average", NodeAverage, NodeAverage(), EdgePrior("node-average")], ids=str)
def test_a_score_that_takes_holes_needs_no_em(score):
    """The quick way: by itself the search is hill climbing."""
    data = rows_with_holes(example("asia"), 400)
    assert learn_structure(data, score=score, rng=0).edges == learn_structure(data, "hill-climbing", score=score).edges
    assert resolve_method("auto", data, {"score": score}) == "hill-climbing"
    assert resolve_method("auto", data, {"score": "bdeu"}) == resolve_method("auto", data, {}) == "structural-em"
