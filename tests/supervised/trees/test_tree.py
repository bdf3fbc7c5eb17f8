"""What a tree answers: predictions with holes, rules, explanations, pictures, files."""

from __future__ import annotations

from itertools import pairwise, product
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, InvalidModel
from juncture.supervised import DecisionTree
from support.learned import learn_tree

A, B = jt.Variable("outlook", ["overcast", "rain", "sunny"]), jt.Variable("lesson", ["practical", "theoretical"])
GO = jt.Variable("go", ["no", "yes"])
# outlook: rain → lesson, sunny → leaf; overcast has no branch
HAND = DecisionTree(
    [A, B], GO, [0, 1, -1, -1, -1], [np.nan] * 5, [2, 2, 0, 0, 0], [0, 1, 2, 0, 1],
    [[4, 6], [4, 1], [0, 5], [1, 1], [3, 0]],
)  # fmt: skip


def all_rows():
    return [dict(zip(("outlook", "lesson"), states, strict=True)) for states in product(A.labels, B.labels)]


def test_every_path_of_a_tree_built_by_hand():
    """S2-008, S2-013: a tie goes to the first class; a category without a branch ends at its node."""
    assert HAND.predict(all_rows()).tolist() == ["yes", "yes", "no", "no", "yes", "yes"]
    assert HAND.apply(all_rows()).tolist() == [0, 0, 3, 4, 2, 2]
    assert (HAND.depth, HAND.num_leaves, HAND.num_nodes) == (2, 3, 5)
    assert HAND.parent.tolist() == [-1, 0, 0, 1, 1]


def test_rules_are_disjoint_and_say_what_predict_says():
    """S2-009: exactly one rule holds for every complete row."""
    rules = HAND.rules()
    assert [str(rule) for rule in rules] == [
        "outlook = rain ∧ lesson = practical → go = no",
        "outlook = rain ∧ lesson = theoretical → go = no",
        "outlook = sunny → go = yes",
        "outlook = overcast → go = yes",
    ]
    for row in all_rows():
        firing = [rule for rule in rules if rule.holds(row)]
        assert [rule.prediction for rule in firing] == HAND.predict([row]).tolist()
    assert sum(rule.weight for rule in rules) == 10


@given(seed=st.integers(0, 1000))
def test_rules_agree_with_predictions_on_random_trees(seed):
    rng = np.random.default_rng(seed)
    rows = {"a": rng.choice(list("xyz"), 12), "n": rng.normal(size=12).round(1), "k": rng.integers(0, 5, 12)}
    tree = learn_tree(rows, rng.integers(0, 3, 12))
    fresh = {"a": rng.choice(tree.inputs[0].labels, 20), "n": rng.normal(size=20), "k": rng.integers(-1, 7, 20)}
    for row, label in zip(range(20), tree.predict(fresh), strict=True):
        cells = {name: column[row] for name, column in fresh.items()}
        assert [rule.prediction for rule in tree.rules() if rule.holds(cells)] == [label]


def test_holes_go_everywhere_in_fractions():
    """S2-022: fractions reach all leaves and sum to 1; a row of holes has the class shares of the root."""
    rows = [{"outlook": None, "lesson": "practical"}, {"outlook": None, "lesson": None}]
    expected = 0.5 * np.array([0.5, 0.5]) + 0.5 * np.array([0.0, 1.0])
    assert HAND.predict_proba(rows) == pytest.approx(np.array([expected, [0.4, 0.6]]))
    assert HAND.predict_proba({"outlook": [], "lesson": []}).shape == (0, 2)


@given(seed=st.integers(0, 1000))
def test_a_row_of_holes_has_the_shares_of_the_root(seed):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((15, 3)) < 0.2, np.nan, rng.integers(0, 4, (15, 3)))
    tree = learn_tree(x, rng.integers(0, 3, 15), categories=[0])
    assert tree.predict_proba(np.full((1, 3), np.nan))[0] == pytest.approx(tree.predictions[0])
    assert tree.predict_proba(x).sum(axis=1) == pytest.approx(np.ones(15))


def test_the_mode_takes_the_heaviest_child():
    """S2-021: among the rows of the node, or among those of its class."""
    rows, y = {"a": ["x", "x", "x", "z", "z", None]}, ["p", "p", "q", "q", "q", "q"]
    by_mode, by_class = (learn_tree(rows, y, missing=missing) for missing in ("mode", "class_mode"))
    assert by_mode.statistics[1:].tolist() == [[2, 2], [0, 2]]
    assert by_class.statistics[1:].tolist() == [[2, 1], [0, 3]]
    assert by_mode.apply({"a": [None]}).tolist() == [1]
    assert learn_tree(rows, y).statistics[1:] == pytest.approx(np.array([[2, 1.6], [0, 2.4]]))


def test_explanations_are_sentences():
    """S2-009: the path with its counts."""
    assert HAND.explain({"outlook": "rain", "lesson": "theoretical"}).splitlines() == [
        "The tree has 10 training rows: 4 no, 6 yes.",
        "outlook = rain: 5 training rows: 4 no, 1 yes.",
        "lesson = theoretical: 3 training rows: 3 no.",
        "Prediction: go = no, with a share of 100%.",
    ]
    assert "no training row that came here has it" in HAND.explain(["overcast", "practical"])
    assert "50.0% of the row goes to outlook = rain" in HAND.explain({"outlook": None, "lesson": None})
    tree = learn_tree({"age": [1, 2, 3, 4]}, [1.0, 1.0, 3.0, 5.0], target="number", max_depth=1)
    assert tree.explain({"age": 2}).splitlines()[1:] == [
        "age = 2, ≤ 2.5: 2 training rows, y has the mean 1 and the standard deviation 0.",
        "Prediction: y = 1.",
    ]
    with pytest.raises(InvalidData, match="explain takes one row"):
        HAND.explain([["rain", "practical"], ["rain", "practical"]])


def test_the_picture_has_a_box_for_each_node():
    svg = jt.draw(HAND).svg
    root = ET.fromstring(svg)  # noqa: S314 (our own text)
    boxes = [mark for mark in root.iter("{http://www.w3.org/2000/svg}g") if mark.get("class") == "node"]
    lines = [mark for mark in root.iter("{http://www.w3.org/2000/svg}path") if mark.get("class") == "edge"]
    assert (len(boxes), len(lines)) == (5, 4)
    assert all(word in svg for word in ("outlook", "theoretical", "5 rows", "go = no"))
    assert "<svg" in HAND._repr_html_()
    hostile = learn_tree({"<script>": ["<b>", "&"]}, ["<i>", "x"])
    assert "<script>" not in jt.draw(hostile).svg


def test_boxes_of_one_level_do_not_overlap():
    from juncture.drawing.decision_trees import place_boxes

    rng = np.random.default_rng(0)
    tree = learn_tree({"a": rng.choice(list("pqrs"), 60), "b": rng.normal(size=60)}, rng.integers(0, 3, 60))
    places = place_boxes(tree.to_diagram())
    for depth in range(tree.depth + 1):
        level = [places[node] for node in np.flatnonzero(tree.depths == depth)]
        gaps = [b.middle - b.width / 2 - a.middle - a.width / 2 for a, b in pairwise(level)]
        assert min(gaps, default=1) > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"split": [0, 1, -1, -1]}, "one entry for each node"),
        ({"num_children": [2, 2, 0, 0, 1]}, "num_children must count"),
        ({"num_children": [4, 0, 0, 0, 0], "split": [0, -1, -1, -1, -1]}, "must rise from 0 to at most 2"),
        ({"split": [7, 1, -1, -1, -1]}, "position of one of the 2 inputs"),
        ({"branch": [0, 2, 1, 0, 1]}, "must rise"),
        ({"threshold": [0.5, *[np.nan] * 4]}, "threshold must be a finite number"),
        ({"statistics": [[0, 0]] * 5}, "not all 0"),
        ({"statistics": [[1, 2, 3]] * 5}, "2 entries for each node"),
        ({"split": [0.5, 1, -1, -1, -1]}, "whole numbers"),
    ],
)
def test_what_is_no_tree_is_refused(change, words):
    parts = {name: getattr(HAND, name) for name in HAND._fields}
    with pytest.raises(InvalidModel, match=words):
        DecisionTree(**(parts | change))


def test_importances_are_the_falls_of_the_impurity():
    rows = {"a": list("ppqq"), "b": list("xyxy"), "c": ["k"] * 4}
    tree = learn_tree(rows, [0, 1, 2, 2])
    assert tree.importances == pytest.approx([1.0 / 1.5, 0.5 / 1.5, 0.0])
    assert learn_tree(rows, [0, 0, 0, 0]).importances.tolist() == [0, 0, 0]


def test_a_tree_in_a_file(tmp_path):
    for model in (HAND, learn_tree({"x": [1.0, 2.0]}, [0.5, 7.0], target="number")):
        jt.write(model, tmp_path / "tree.json")
        assert jt.read(tmp_path / "tree.json") == model
