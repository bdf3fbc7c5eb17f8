"""Trees against a reference that tries every split, against scikit-learn's, and against the numbers of the texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import juncture as jt
from juncture.errors import InvalidData, UnknownVariable, UnseenStatesWarning
from support import tree_oracle
from support.learned import learn_tree

AGES = {"age": [23, 27, 34, 38, 35, 32]}
CLASSES = ["y", "y", "n", "n", "y", "n"]


@st.composite
def tables(draw, holes=True):
    """(columns, classes, weights): few rows with many ties."""
    number = draw(st.integers(2, 9))
    texts, numbers = st.sampled_from("abc"), st.integers(0, 4).map(float)
    columns = []
    for cells in (texts, numbers, numbers):
        kept = st.one_of(st.none(), cells, cells, cells) if holes else cells
        columns.append(draw(st.lists(kept, min_size=number, max_size=number)))
    y = draw(st.lists(st.sampled_from("pqr"), min_size=number, max_size=number))
    weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=number, max_size=number))
    return columns, y, [1.0, *weights[1:]]


def as_frame(columns):
    return {f"c{position}": column for position, column in enumerate(columns)}


def check_against_reference(tree, nodes):
    """Each node has the weight and the impurity of the reference, and its split the same score."""
    assert tree.num_nodes == len(nodes)
    assert tree.weights == pytest.approx([node[2] for node in nodes])
    for node, (_, found, _, _, _) in enumerate(nodes):
        assert (tree.split[node] >= 0) == (found is not None)
        if found is not None:
            assert tree.split[node] == found[0]
            assert tree.threshold[node] == pytest.approx(found[1], nan_ok=True)


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio", "gini"])
@pytest.mark.parametrize("missing", ["fractions", "mode", "class_mode"])
@given(table=tables())
def test_every_node_has_the_best_of_all_splits(criterion, missing, table):
    """S2-010, S2-016, S2-021, S2-022: thresholds between classes are as good as all thresholds; holes are sent on."""
    columns, y, weights = table
    tree = learn_tree(as_frame(columns), y, weights=weights, criterion=criterion, missing=missing)
    check_against_reference(tree, tree_oracle.grow(columns, y, weights, criterion, missing))


@pytest.mark.parametrize("missing", ["fractions", "mode"])
@given(table=tables())
def test_every_node_of_a_regression_tree_has_the_best_split(missing, table):
    """S2-023."""
    columns, y, weights = table
    numbers = [float("pqr".index(label)) ** 2 for label in y]
    tree = learn_tree(as_frame(columns), numbers, weights=weights, target="number", missing=missing)
    nodes = tree_oracle.grow(columns, numbers, weights, "variance", missing)
    check_against_reference(tree, nodes)
    assert tree.statistics[:, 2] == pytest.approx([node[3] for node in nodes], abs=1e-9)
    for rows, mean in zip((node[0] for node in nodes), tree.statistics[:, 1], strict=True):
        assert mean == pytest.approx(np.average([numbers[row] for row, _ in rows], weights=[w for _, w in rows]))


@given(table=tables(holes=False))
def test_whole_weights_are_repeated_rows(table):
    columns, y, _ = table
    weights = np.arange(len(y)) % 3
    weights[0] = 1
    repeated = [np.repeat(np.array(column, object), weights).tolist() for column in columns]
    one = learn_tree(as_frame(columns), y, weights=weights)
    other = learn_tree(as_frame(repeated), np.repeat(y, weights).tolist())
    assert one.nodes.split.tolist() == other.nodes.split.tolist()
    assert one.weights.tolist() == other.weights.tolist()


def test_columns_with_many_more_values_than_a_node_has_rows():
    """Such columns are sorted in place of counted; the tree is that of the reference."""
    rng = np.random.default_rng(3)
    numbers, groups = rng.permutation(60) / 7.0, [f"{group:02.0f}" for group in rng.integers(0, 50, 60)]
    y = ["p" if noise else "q" for noise in rng.integers(0, 2, 60)]
    tree = learn_tree({"x": groups, "z": numbers}, y, criterion="gain_ratio")
    nodes = tree_oracle.grow([groups, numbers.tolist()], y, [1.0] * 60, "gain_ratio", "mode")
    assert {0, 1} <= set(tree.split.tolist())
    check_against_reference(tree, nodes)


def test_the_age_table():
    """S2-017, S2-019: gains and gain ratios of the three candidates; the best is 29.5."""
    cuts = jt.supervised.candidate_thresholds(AGES["age"], CLASSES)
    assert cuts.tolist() == [29.5, 34.5, 36.5]
    gains = [jt.supervised.information_gain(AGES["age"], CLASSES, cut) for cut in cuts]
    assert gains == pytest.approx([0.459148, 0, 0.190875], abs=5e-7)
    ratios = [jt.supervised.gain_ratio(AGES["age"], CLASSES, cut) for cut in cuts]
    assert ratios[0] == pytest.approx(0.5, abs=1e-15)
    assert ratios[2] == pytest.approx(0.293643, abs=5e-7)
    assert learn_tree(AGES, CLASSES).threshold[0] == 29.5


def test_an_identifier_has_the_largest_gain_but_not_the_largest_ratio():
    """S2-020: the criterion changes the choice."""
    rows = {**AGES, "id": [f"{number}" for number in range(6)]}
    assert jt.supervised.information_gain(rows["id"], CLASSES) == pytest.approx(1.0)
    assert jt.supervised.gain_ratio(rows["id"], CLASSES) == pytest.approx(0.386853, abs=5e-7)
    assert learn_tree(rows, CLASSES).inputs[learn_tree(rows, CLASSES).split[0]].name == "id"
    assert learn_tree(rows, CLASSES, criterion="gain_ratio").split[0] == 0


QUINLAN = {
    "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
    "temperature": [75, 80, 85, 72, 69, 72, 83, 64, 81, 71, 65, 75, 68, 70],
    "humidity": [70, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96],
    "windy": [True, True, False, False, False, True, False, True, False, True, True, False, False, False],
}
PLAY = ["play" if letter == "p" else "don't" for letter in "pdddpppppddppp"]


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio"])
def test_the_tree_of_quinlan(criterion):
    """C4.5 (1993), figure 1-2: outlook, then humidity up to 75 if it is sunny, and wind if it rains; five leaves."""
    tree = learn_tree(QUINLAN, PLAY, criterion=criterion)
    assert len(tree.rules()) == 5
    named = {tree.inputs[split].name for split in tree.split[tree.split >= 0]}
    assert named == {"outlook", "humidity", "windy"}
    assert tree.inputs[tree.split[0]].name == "outlook"
    cuts = tree.threshold[~np.isnan(tree.threshold)]
    assert cuts.tolist() == [77.5]  # Quinlan takes the largest value below, 75 of all rows, in place of the middle
    assert (tree.predict(QUINLAN) == PLAY).all()


def test_identifiers_alone_are_averaged():
    """Where all columns have nearly as many values as rows, they count in the average gain."""
    rows = {"id": list("abcdef"), "other": list("uuvwxy")}
    assert learn_tree(rows, list("ppqqpq"), criterion="gain_ratio").split[0] >= 0


@pytest.mark.parametrize("missing", ["fractions", "mode", "class_mode"])
def test_gains_of_values_with_holes(missing):
    """As growth sends the rows with a hole on, against the slow reference; holes alone are refused."""
    values, y = ["a", "b", None, "a", "b", "b", None], list("pqqppqp")
    rows = [(row, 1.0) for row in range(7)]
    children = tree_oracle.children_of(rows, values, y, missing, lambda value: value)
    gain = jt.supervised.information_gain(values, y, missing=missing)
    assert gain == pytest.approx(tree_oracle.score(rows, children, y, "gain"))
    assert jt.supervised.gain_ratio(values, y, missing=missing) == pytest.approx(
        tree_oracle.score(rows, children, y, "gain_ratio")
    )
    numbers = [1.0, 3.0, np.nan, 1.5, 4.0, 5.0, np.nan]
    assert jt.supervised.information_gain(numbers, y, 2.0, missing=missing) == pytest.approx(gain)
    assert jt.supervised.candidate_thresholds(numbers, y).tolist() == [2.25, 3.5, 4.5]
    if missing != "class_mode":
        shares = np.array([tree_oracle.weight_of(part) / 7 for part in children.values()])
        entropy = jt.supervised.split_information(values, missing=missing)
        assert entropy == pytest.approx(-(shares * np.log2(shares)).sum())
    with pytest.raises(jt.errors.InvalidData, match="holes only"):
        jt.supervised.information_gain([None, None], list("pq"))


def test_entropies():
    """S2-011, S2-012, S2-018: 50/50 is 1 bit, k equal values log₂ k, a constant input tells nothing."""
    assert jt.supervised.split_information([1, 2, 3, 4, 5, 6, 7, 8]) == pytest.approx(3.0)
    assert jt.supervised.information_gain(["a"] * 4, list("pqpq")) == 0.0
    assert jt.supervised.information_gain(list("abab"), list("pqpq")) == pytest.approx(1.0)
    assert jt.supervised.information_gain(list("abab"), list("pppp")) == 0.0
    assert jt.supervised.gain_ratio(["a"] * 4, list("pqpq")) == 0.0


def test_exclusive_or_is_learned_though_no_first_split_gains():
    """S2-010."""
    rows = {"a": ["f", "f", "t", "t"], "b": ["f", "t", "f", "t"]}
    tree = learn_tree(rows, [0, 1, 1, 0])
    assert (tree.depth, tree.num_leaves) == (2, 4)
    assert tree.predict(rows).tolist() == [0, 1, 1, 0]
    assert learn_tree(rows, [0, 1, 1, 0], confidence=0.95).num_leaves == 1


@pytest.mark.parametrize("criterion", ["gain", "gini"])
@pytest.mark.parametrize("depth", [1, 3])
def test_thresholds_are_those_of_scikit_learn(criterion, depth):
    """A binary tree by the same criterion on numbers without ties is the same tree."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(150, 3))
    y = (x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=150) > 0.2).astype(int) + (x[:, 2] > 1)
    ours = learn_tree(x, y, criterion=criterion, max_depth=depth)
    kind = {"gain": "entropy", "gini": "gini"}[criterion]
    theirs = DecisionTreeClassifier(criterion=kind, max_depth=depth, random_state=0).fit(x, y).tree_
    assert ours.num_nodes == theirs.node_count
    assert sorted(ours.threshold[ours.split >= 0]) == pytest.approx(sorted(theirs.threshold[theirs.feature >= 0]))
    assert ours.importances == pytest.approx(theirs.compute_feature_importances())
    assert ours.predict_proba(x) == pytest.approx(theirs.value[theirs.apply(x.astype(np.float32)), 0])
    assert learn_tree(x, y, criterion=criterion).predict(x).tolist() == y.tolist()


def test_regression_trees_are_those_of_scikit_learn():
    """S2-023."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(120, 3))
    y = np.sin(2 * x[:, 0]) + x[:, 1]
    ours = learn_tree(x, y, target="number", max_depth=4)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(x, y)
    assert ours.predict(x) == pytest.approx(theirs.predict(x), rel=1e-12)
    assert ours.importances == pytest.approx(theirs.feature_importances_)
    far = learn_tree(x, y + 1e6, target="number", max_depth=4)
    assert far.importances == pytest.approx(ours.importances, rel=1e-8)


def test_limits_of_growth():
    """S2-014."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    assert learn_tree(x, y, min_gain=1.0).num_leaves == 1
    assert learn_tree(x, y, max_depth=0).num_leaves == 1
    assert learn_tree(x, y, max_depth=3).depth == 3
    assert learn_tree(x, y, min_samples_leaf=10).weights.min() >= 10
    large = learn_tree(x, y, min_samples_split=30)
    assert large.weights[large.split >= 0].min() >= 30
    assert learn_tree(x, y, confidence=1 - 1e-9).num_leaves == 1


def test_the_chi_squared_limit_is_that_of_scipy():
    from scipy.stats import chi2_contingency

    rows, y = {"a": list("aaabbbccc")}, list("ppqqqpppp")
    table = [[2, 1], [1, 2], [3, 0]]
    level = chi2_contingency(table, correction=False).pvalue
    assert learn_tree(rows, y, confidence=1 - level * 1.001).num_leaves == 3
    assert learn_tree(rows, y, confidence=1 - level * 0.999).num_leaves == 1


def test_neighbouring_doubles_are_parted():
    x = [1.0, np.nextafter(1.0, 2.0), -1.7e308, 1.7e308]
    tree = learn_tree({"x": x}, [0, 1, 1, 0])
    assert tree.predict({"x": x}).tolist() == [0, 1, 1, 0]


def test_a_wrong_table_is_refused_in_a_sentence():
    cases = [
        (lambda: learn_tree({"a": [1, 2]}, [0]), InvalidData, "y has 1 rows, the table has 2"),
        (lambda: learn_tree({"a": [1, 2]}, [0, None]), InvalidData, "y is missing in 1 row, the first is row 1"),
        (lambda: learn_tree({}, []), InvalidData, "no rows"),
        (lambda: learn_tree({"a": [1, 2]}, "b"), UnknownVariable, "of which `y` names a column"),
        (lambda: learn_tree({"a": [1, 2]}, [0, 1], categories=["b"]), UnknownVariable, "has no column 'b'"),
        (lambda: learn_tree({"a": [1, 2]}, [0, 1], criterion="best"), InvalidData, "the criterion must be"),
        (lambda: learn_tree({"a": [1, 2]}, [0, 1], weights=[0, 0]), InvalidData, "all weights are zero"),
        (lambda: learn_tree({"a": [1, np.inf]}, [0, 1]), InvalidData, "infinite in row 1"),
        (lambda: learn_tree({"a": [1, 2]}, [0, 1e200], target="number"), InvalidData, "whose squares overflow"),
        (lambda: learn_tree(AGES, CLASSES).predict({"b": [1]}), InvalidData, "lacks the column 'age'"),
    ]
    for ask, error, words in cases:
        with pytest.raises(error, match=words):
            ask()


def test_columns_by_type():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    cells = {"t": ["a", "b", None, "a"], "n": [1, 2, 3, 4], "f": [0.5, None, 2.0, 1.0], "b": [True, False, True, True]}
    y = ["p", "q", "q", "p"]
    trees = [learn_tree(kind, y) for kind in (cells, pandas.DataFrame(cells), polars.DataFrame(cells))]
    assert all(tree == trees[0] for tree in trees)
    assert [variable.is_real for variable in trees[0].inputs] == [False, True, True, False]
    frame = pandas.DataFrame(cells).assign(t=lambda rows: rows["t"].astype("category"))
    assert learn_tree(frame, y).inputs[0].labels == ("a", "b")
    assert not any(variable.is_real for variable in learn_tree(cells, y, categories="all").inputs)
    assert learn_tree({**cells, "y": y}, "y", categories=["n"]).target.name == "y"


def test_a_category_that_no_row_had_is_missing():
    tree = learn_tree({"a": list("ppq")}, [0, 0, 1])
    with pytest.warns(UnseenStatesWarning):
        assert tree.predict_proba({"a": ["z"]}).tolist() == [pytest.approx([2 / 3, 1 / 3])]
