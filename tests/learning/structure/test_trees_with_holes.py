"""Trees from rows with holes: each edge is judged by the rows in which its family is observed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from juncture.data.dataset import Dataset
from juncture.errors import IdentifierWarning, InvalidData, Unsupported
from juncture.estimators import BayesianNetworkClassifier, TreeAugmentedNaiveBayes
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.available_rows import available_gains
from juncture.learning.structure.scores.scores import EdgePrior, structure_score

NAMES = ["kind", "a", "b", "c", "d", "e"]


def copy_noisily(values, rng, share, states=3):
    """The values, of which this share is drawn anew."""
    return np.where(rng.random(len(values)) < share, rng.integers(0, states, len(values)), values)


def clear_rows(size=1500):
    """A class, a chain a - b - c and two leaves d and e of b, all of which also follow the class."""
    rng = np.random.default_rng(0)
    columns = {"kind": rng.integers(0, 2, size)}
    columns["a"] = (rng.integers(0, 3, size) + columns["kind"] * (rng.random(size) < 0.3)) % 3
    for name, parent in (("b", "a"), ("c", "b"), ("d", "b"), ("e", "b")):
        columns[name] = copy_noisily(columns[parent], rng, 0.5)
    rows = pd.DataFrame(columns).map("k{}".format)
    return rows, rows.mask(rng.random(rows.shape) < 0.06, None)


ROWS, HOLED = clear_rows()
TREE = [{"a", "b"}, {"b", "c"}, {"b", "d"}, {"b", "e"}]


def links(graph, names="abcde"):
    return [set(edge) for edge in sorted(map(sorted, graph.edges)) if set(edge) <= set(names)]


@pytest.mark.parametrize("score", ["log-likelihood", "bic", "bdeu", EdgePrior("k2")], ids=str)
def test_the_tree_is_that_of_the_complete_rows(score):
    for method, options in (("chow-liu", {}), ("tree-augmented", {"target": "kind"})):
        found, whole = (learn_structure(rows, method, score=score, **options) for rows in (HOLED, ROWS))
        assert links(found) == links(whole) == TREE


def test_classifiers_find_it_too():
    for classifier in (TreeAugmentedNaiveBayes(), BayesianNetworkClassifier("tan")):
        graph = classifier.fit(HOLED[NAMES[1:]], HOLED["kind"]).model_.graph
        assert links(graph) == TREE
        assert set(graph.children("kind")) == set("abcde")


def test_a_gain_is_the_mutual_information_of_the_rows_that_have_the_family():
    data = Dataset(HOLED)
    found = available_gains("log-likelihood", data).gains(1, [0], [2])[0]
    whole = HOLED[["kind", "a", "b"]].dropna()
    joint = whole.value_counts(normalize=True)
    expected = 0.0
    for (kind, a, b), p in joint.items():
        of_a, of_b = (whole[whole["kind"] == kind][name].eq(state).mean() for name, state in (("a", a), ("b", b)))
        expected += p * np.log(p / (of_a * of_b * whole["kind"].eq(kind).mean()))
    assert found == pytest.approx(len(HOLED) * expected)


def test_without_holes_a_gain_is_that_of_the_score():
    pair = Dataset(ROWS).only(["a", "b"])
    linked, apart = (structure_score(DirectedGraph.parse(text), pair, "bic") for text in ("a -> b", "a; b"))
    assert available_gains("bic", pair).gains(1, [], [0])[0] == pytest.approx(linked - apart)


def test_weights_may_sum_to_one():
    assert links(learn_structure(HOLED, "chow-liu", weights=np.full(len(HOLED), 1 / len(HOLED)))) == TREE


def test_many_holes_in_one_column_do_not_cost_it_its_place():
    """Without its holes b stands between a and c; the few rows that show it count as much as all."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 3000)
    b = copy_noisily(a, rng, 0.3)
    c = copy_noisily(b, rng, 0.3)
    hidden = pd.Series(b, dtype=object).mask(rng.random(3000) < 0.6, None)
    graph = learn_structure({"a": a, "b": hidden, "c": c}, "chow-liu")
    assert links(graph, "abc") == [{"a", "b"}, {"b", "c"}]


def test_columns_that_are_never_observed_together_are_not_linked():
    rows = {"a": [0, 1] * 9 + [None] * 18, "b": [None] * 18 + [0, 1] * 9, "c": [0, 1] * 18}
    assert links(learn_structure(rows, "chow-liu", root="c"), "abc") == [{"a", "c"}, {"b", "c"}]
    assert learn_structure({"a": rows["a"], "b": rows["b"]}, "chow-liu").edges == ()
    assert learn_structure(rows, "chow-liu", required=[("a", "b")]).parents("b") == ("a",)


def test_an_identifier_gets_no_edge():
    """As many parameters as rows explain everything, and nothing; EM over such tables would take minutes."""
    rows = HOLED[NAMES].assign(identifier=[f"i{row}" for row in range(len(HOLED))])
    with pytest.warns(IdentifierWarning):
        graph = learn_structure(rows, "tree-augmented", target="kind")
    assert links(graph) == TREE
    assert [edge for edge in graph.edges if "identifier" in edge] == [("kind", "identifier")]


def test_what_is_refused():
    with pytest.raises(Unsupported, match="not one of variables with states"):
        learn_structure(HOLED, "chow-liu", score="bge")
    with pytest.raises(InvalidData, match=r"drop these rows, or learn with method='structural-em'$"):
        learn_structure(HOLED, "ges")
    with pytest.raises(InvalidData, match=r"drop these rows, or learn with method='structural-em'$"):
        learn_structure({"x": [0.5, None, 1.5], "y": [1.5, 2.0, 0.25]}, "chow-liu")
