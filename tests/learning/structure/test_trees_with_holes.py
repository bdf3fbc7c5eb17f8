"""Trees from rows with holes: each edge is judged by the rows in which its family is observed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import IdentifierWarning, InvalidData, Unsupported
from juncture.estimators import BayesianNetworkClassifier, TreeAugmentedNaiveBayes
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.scores import EdgePrior
from juncture.learning.structure.searches.trees import available_gains

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
    linked, apart = (structure.score(DirectedGraph.parse(text), pair, "bic") for text in ("a -> b", "a; b"))
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
    with pytest.raises(InvalidData, match="lie on a plane in these rows"):
        learn_structure({"x": [0.5, None, 1.5], "y": [1.5, 2.0, 0.25]}, "chow-liu")


def mixed_rows(size=1200):
    """A class, a chain a - b - c of numbers in each class, and a column of states that follows the class only."""
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, size)
    a = rng.normal(size=size) + kind
    b = 0.9 * a + rng.normal(scale=0.5, size=size)
    c = b * np.where(kind == 1, 1.0, -1.0) + rng.normal(scale=0.5, size=size)
    columns = {"kind": kind, "a": a, "b": b, "c": c, "d": copy_noisily(kind, rng, 0.5, 2)}
    rows = pd.DataFrame(columns).astype({"kind": object, "d": object})
    return rows, rows.mask(rng.random(rows.shape) < 0.06, None)


@pytest.mark.parametrize("score", ["log-likelihood", "bic", EdgePrior("bic")], ids=str)
def test_real_and_mixed_columns_with_holes(score):
    """The tree of the complete rows; without holes, gains are those of the score."""
    rows, holed = mixed_rows()
    found, whole = (learn_structure(each, "tree-augmented", target="kind", score=score) for each in (holed, rows))
    assert links(found, "abc") == links(whole, "abc") == [{"a", "b"}, {"b", "c"}]
    numbers = holed.loc[rows["kind"] == 1, ["a", "b", "c"]].astype(float)
    assert links(learn_structure(numbers, "chow-liu", score=score)) == [{"a", "b"}, {"b", "c"}]
    data = Dataset(rows[["kind", "a", "b"]])
    gain = available_gains("log-likelihood", data).gains(1, [0], [2])[0]
    graphs = (DirectedGraph([("kind", "a"), ("b", "a")]), DirectedGraph([("kind", "a")], ["b"]))
    scores = [structure.score(graph, data, "log-likelihood") for graph in graphs]
    assert gain == pytest.approx(scores[0] - scores[1])


def test_a_classifier_of_mixed_columns_with_holes():
    """Real columns as they are: learned, and asked, with holes in columns and in the class."""
    rows, holed = mixed_rows(300)
    tree = TreeAugmentedNaiveBayes(discretize=None, tree_score="bic")
    for classifier in (tree, BayesianNetworkClassifier("tan", discretize=3)):
        mine = classifier.fit(holed[["a", "b", "c", "d"]], holed["kind"])
        assert mine.score(rows[["a", "b", "c", "d"]], rows["kind"]) > 0.9
        found = mine.predict_proba(holed[["a", "b", "c", "d"]][:20])
        assert found.sum(axis=1) == pytest.approx(np.ones(20))
