"""Laws of `Discretizer`: bins are intervals that cover the line, cuts follow their strategy, and they are kept."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.data.dataset import Dataset
from juncture.data.discretization import (
    Discretizer,
    FittedDiscretizer,
    ValueCounts,
    candidate_cuts,
    count_values,
    entropy_cuts,
    frequency_cuts,
    information_gains,
    is_worth_its_description,
)
from juncture.errors import FormatError, InvalidData, UnknownState, UnknownVariable
from juncture.variables import Variable

AGES = np.array([23, 27, 34, 38, 35, 32.0])
CLASSES = np.array([1, 1, 0, 0, 1, 0])
numbers = st.lists(st.floats(-1e300, 1e300) | st.integers(-3, 3).map(float), min_size=1, max_size=40)
strategies = st.sampled_from(["width", "frequency", "entropy"])


def entropy_of(classes):
    shares = np.bincount(classes) / len(classes)
    return -sum(share * math.log2(share) for share in shares if share)


def gain_of(cut, values, classes):
    below = values < cut
    rest = sum(side.mean() * entropy_of(classes[side]) for side in (below, ~below) if side.any())
    return entropy_of(classes) - rest


def test_the_worked_example_of_ages():
    """S2-016, S2-017: candidates 29.5, 34.5, 36.5 with gains 0.459148, 0, 0.190875; the best is 29.5."""
    column = count_values(AGES, CLASSES, None)
    places = candidate_cuts(column)
    assert [column.cut(place) for place in places] == [29.5, 34.5, 36.5]
    np.testing.assert_allclose(information_gains(column, places), [0.4591479170, 0.0, 0.1908745046], atol=1e-9)
    rows = {"age": np.repeat(AGES, 20), "class": np.repeat(CLASSES, 20)}
    fitted = Discretizer(bins=2, strategy="entropy").fit(rows, target="class")
    assert fitted.cuts == {"age": (29.5,)}


@given(
    pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2)), min_size=2, max_size=25),
)
def test_the_best_cut_of_all_is_a_candidate(pairs):
    """S2-016: the gain over candidates is the gain over all cuts, and no cut parts equal values (Fayyad)."""
    values, classes = np.array(pairs, dtype=float).T[0], np.array(pairs).T[1]
    column = count_values(values, classes, None)
    places = candidate_cuts(column)
    gains = information_gains(column, places) if len(places) else np.zeros(1)
    everywhere = [gain_of(cut, values, classes) for cut in np.arange(0.5, 9)]
    assert max(0.0, gains.max()) == pytest.approx(max(everywhere), abs=1e-12)
    for place, gain in zip(places, gains, strict=False):
        assert gain == pytest.approx(gain_of(column.cut(place), values, classes), abs=1e-12)


def criterion(values, classes, cut):
    """Fayyad and Irani (1993), as printed: gain > log₂(N−1)/N + Δ/N, Δ = log₂(3^k−2) − [k H − k₁ H₁ − k₂ H₂]."""
    sides = [classes[values < cut], classes[values >= cut]]
    k, (k1, k2) = len(set(classes)), [len(set(side)) for side in sides]
    h, h1, h2 = entropy_of(classes), entropy_of(sides[0]), entropy_of(sides[1])
    delta = math.log2(3**k - 2) - (k * h - k1 * h1 - k2 * h2)
    return gain_of(cut, values, classes) > (math.log2(len(values) - 1) + delta) / len(values)


def recursive_cuts(values, classes):
    places = [(low + high) / 2 for low, high in zip(np.unique(values)[:-1], np.unique(values)[1:], strict=True)]
    if not places:
        return []
    best = max(places, key=lambda cut: round(gain_of(cut, values, classes), 12))
    if not criterion(values, classes, best):
        return []
    below = values < best
    return [*recursive_cuts(values[below], classes[below]), best, *recursive_cuts(values[~below], classes[~below])]


@given(seed=st.integers(0, 10**6), num_classes=st.integers(2, 4), noise=st.sampled_from([0.0, 0.2]))
def test_entropy_cuts_are_those_of_the_plain_recursion(seed, num_classes, noise):
    rng = np.random.default_rng(seed)
    values = rng.permutation(80) * 1.0
    classes = (values // 17).astype(int) % num_classes
    classes = np.where(rng.random(80) < noise, rng.integers(0, num_classes, 80), classes)
    assert list(entropy_cuts(count_values(values, classes, None), 99)) == recursive_cuts(values, classes)


def test_entropy_cuts_stop_at_the_number_of_bins_with_the_most_telling():
    values = np.arange(200.0)
    classes = np.select([values < 100, values < 150], [0, 1], 2)
    column = count_values(values, classes, None)
    assert entropy_cuts(column, 2) == (99.5,)
    assert entropy_cuts(column, 3) == entropy_cuts(column, 9) == (99.5, 149.5)
    assert is_worth_its_description(ValueCounts(np.array([1.0, 2.0]), np.eye(2)), 1, 1.0)
    assert not is_worth_its_description(ValueCounts(np.array([1.0, 2.0]), np.eye(2) / 4), 1, 1.0)


@given(values=numbers, bins=st.integers(2, 7), strategy=strategies)
def test_bins_are_intervals_of_at_most_so_many(values, bins, strategy):
    """Codes rise with the values, equal values fall together, and only "width" leaves a bin empty."""
    array = np.array(values)
    fitted = Discretizer(bins, strategy).fit({"x": array, "y": array > 0}, target="y", columns=["x"])
    cuts = fitted.cuts["x"]
    codes = fitted.transform({"x": array}).columns["x"]
    assert len(cuts) < bins
    assert list(cuts) == sorted(set(cuts))
    assert codes.tolist() == [sum(value >= cut for cut in cuts) for value in values]
    if strategy != "width":
        assert set(codes.tolist()) == set(range(len(cuts) + 1))


@given(seed=st.integers(0, 1000), bins=st.integers(2, 6))
def test_equal_frequency_has_equal_counts_where_nothing_ties(seed, bins):
    values = np.random.default_rng(seed).normal(size=60 * bins)
    data = Discretizer(bins).fit({"x": values}).transform({"x": values})
    assert np.bincount(data.columns["x"]).tolist() == [60] * bins


def test_ties_make_fewer_bins_never_empty_ones():
    values = [0.0] * 90 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    fitted = Discretizer(bins=4).fit({"x": values})
    counts = np.bincount(fitted.transform({"x": values}).columns["x"])
    assert counts.tolist() == [90, 6]


def test_equal_width_is_equal():
    assert Discretizer(4, "width").fit({"x": [0.0, 1.0, 8.0]}, columns=["x"]).cuts == {"x": (2.0, 4.0, 6.0)}
    assert Discretizer(2, "width").fit({"x": [-1.7e308, 1.7e308]}).cuts == {"x": (0.0,)}


def test_weights_count_as_so_many_rows():
    rng = np.random.default_rng(0)
    values, classes, weights = rng.normal(size=50).round(1), rng.integers(0, 2, 50), rng.integers(0, 4, 50)
    for strategy in ("width", "frequency", "entropy"):
        discretizer = Discretizer(3, strategy)
        weighted = Dataset({"x": values, "y": classes}, weights=weights)
        repeated = {"x": np.repeat(values, weights), "y": np.repeat(classes, weights)}
        assert discretizer.fit(weighted, "y") == discretizer.fit(repeated, "y")
        assert discretizer.fit(weighted, "y").transform(weighted).weights.tolist() == weights.tolist()


def test_few_values_get_a_bin_each_and_a_constant_one():
    fitted = Discretizer(bins=5).fit({"x": [1.0, 2.0, 4.0, 4.0], "y": [7.0] * 4}, columns=["x", "y"])
    assert fitted.cuts == {"x": (1.5, 3.0), "y": ()}
    data = fitted.transform({"x": [1.0, 9.0], "y": [7.0, None]})
    assert data.variables == (
        Variable("x", ["< 1.5", "1.5 – 3", "≥ 3"], cuts=[1.5, 3]), Variable("y", ["any"], cuts=[]),
    )  # fmt: skip
    assert data.to_dict() == {"x": ["< 1.5", "≥ 3"], "y": ["any", None]}
    low = 1.0
    assert Discretizer().fit({"x": [low, math.nextafter(low, 2)]}).cuts == {"x": (math.nextafter(low, 2),)}


def test_holes_stay_holes_and_the_ends_are_open():
    fitted = FittedDiscretizer({"age": [29.5, 34.5]})
    for rows in (pd.DataFrame({"age": [-1e9, None, 29.5, 1e9]}), pl.DataFrame({"age": [-1e9, None, 29.5, 1e9]})):
        assert fitted.transform(rows).to_dict() == {"age": ["< 29.5", None, "29.5 – 34.5", "≥ 34.5"]}
    assert fitted.transform({"age": [None]}).to_dict() == {"age": [None]}
    assert fitted.transform({"age": ["30", "29.4"]}).to_dict() == {"age": ["29.5 – 34.5", "< 29.5"]}
    with pytest.raises(InvalidData, match="'age' is infinite in row 1"):
        fitted.transform({"age": [1.0, math.inf]})
    with pytest.raises(InvalidData, match="'x' is infinite in row 0"):
        Discretizer().fit({"x": [math.inf, 1.0]})
    with pytest.raises(InvalidData, match="'x' has no observed number to cut by"):
        Discretizer().fit({"x": [math.nan, math.nan]})


def test_which_columns_are_cut():
    rows = {"real": [0.5, 1.5, 2.5], "few": [0, 1, 1], "many": [3, 4, 5], "text": ["a", "b", "b"]}
    rows |= {"level": pd.Categorical([1, 2, 3]), "class": [5, 6, 7]}
    fitted = Discretizer(bins=2).fit(rows, target="class")
    assert list(fitted.cuts) == ["real", "many"]
    assert list(Discretizer(bins=2).fit(rows, columns=["few"]).cuts) == ["few"]
    data = fitted.transform(rows)
    assert [variable.name for variable in data.variables] == list(rows)
    assert data.variable("few") == Variable("few", [0, 1])
    assert data.states_from_data == ("few", "text", "class")


def test_other_columns_are_coded_by_the_variables_given():
    fitted = Discretizer(bins=2).fit({"x": [0.1, 1.0], "y": ["a", "b"]})
    variables = [*fitted.variables, Variable("y", ["c", "b", "a"])]
    data = fitted.transform({"y": ["a"], "x": [0.2]}, variables)
    assert data.variables == (variables[1], variables[0])
    with pytest.raises(UnknownState, match="'y' has no state 'd'"):
        fitted.transform({"y": ["d"], "x": [0.2]}, variables)
    assert fitted.transform({"y": ["a"]}).to_dict() == {"y": ["a"]}


def test_fitted_discretizers_are_kept_and_come_back():
    fitted = Discretizer(4).fit({"x": np.random.default_rng(0).normal(size=99), "y": np.arange(99)})
    for twin in (
        FittedDiscretizer.from_dict(fitted.to_dict()),
        FittedDiscretizer.from_json(fitted.to_json()),
        pickle.loads(pickle.dumps(fitted)),  # noqa: S301
        copy.deepcopy(fitted),
    ):
        assert twin == fitted
        assert hash(twin) == hash(fitted)
    with pytest.raises(AttributeError):
        fitted.cuts = {}


def test_labels_tell_near_cuts_apart():
    cuts = (1.0, 1.0 + 1e-9, 1e7)
    assert FittedDiscretizer({"x": cuts}).variables[0].states == (
        "< 1", "1 – 1.000000001", "1.000000001 – 10000000", "≥ 10000000",
    )  # fmt: skip


def test_classes_may_be_given_by_row():
    fitted = Discretizer(2, "entropy").fit({"x": np.arange(40.0)}, target=["a"] * 20 + [None] * 4 + ["b"] * 16)
    assert fitted.cuts == {"x": (21.5,)}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Discretizer(bins=1), "bins must be a whole number of at least 2; got 1"),
        (lambda: Discretizer(bins=True), "bins must be"),
        (lambda: Discretizer(strategy="widht"), "no strategy 'widht'; did you mean 'width'"),
        (lambda: Discretizer(strategy="entropy").fit({"x": [1.0]}), "needs a target"),
        (lambda: Discretizer(strategy="entropy").fit({"x": [1.0], "y": [0.5]}, "y"), "'y' is real-valued"),
        (lambda: Discretizer(strategy="entropy").fit({"x": [1.0]}, [0, 1]), "2 classes for 1 rows"),
        (lambda: Discretizer().fit({"x": ["tall"]}, columns=["x"]), "'tall' in row 0 is not a number"),
        (lambda: FittedDiscretizer({"x": [2.0, 1.0]}), "each greater than the last"),
        (lambda: FittedDiscretizer({"x": [math.nan]}), "finite numbers"),
        (lambda: FittedDiscretizer({"x": "wide"}), "finite numbers"),
        (lambda: FittedDiscretizer.from_dict({"cut": {}}), "one entry, 'cuts'"),
        (lambda: FittedDiscretizer.from_dict([1]), "one entry, 'cuts'"),
    ],
)
def test_what_cannot_be_cut_is_refused_with_a_sentence(build, message):
    with pytest.raises(InvalidData, match=message):
        build()


def test_text_that_is_no_discretizer_is_refused_with_a_sentence():
    for text, message in (("[1]", "one entry, 'cuts'"), ("{", "not JSON")):
        with pytest.raises(FormatError, match=message):
            FittedDiscretizer.from_json(text)


def test_unknown_columns_get_a_hint():
    with pytest.raises(UnknownVariable, match="no variable 'ages'; did you mean 'age'"):
        Discretizer().fit({"age": [1.0]}, columns=["ages"])
    with pytest.raises(UnknownVariable, match="no variable 'clas'; did you mean 'class'"):
        Discretizer().fit({"age": [1.0], "class": [0]}, target="clas")


@given(st.lists(st.integers(1, 5), min_size=5, max_size=8), st.integers(2, 4))
def test_a_frequency_cut_is_the_nearest_to_its_share_and_of_two_the_lower(weights, bins):
    values = np.arange(len(weights), dtype=float)
    below = [sum(weights[: place + 1]) for place in range(len(weights) - 1)]  # the weight up to each cut
    shares = [Fraction(sum(weights) * number, bins) for number in range(1, bins)]
    nearest = {min(range(len(below)), key=lambda place, share=share: abs(below[place] - share)) for share in shares}
    cuts = frequency_cuts(ValueCounts(values, np.array(weights, float)[:, None]), bins)
    assert [place + 1 for place in sorted(nearest)] == np.searchsorted(values, cuts).tolist()


def test_a_frequency_cut_between_two_equally_near_places_is_the_lower():
    """Half of eight rows lies two rows above the first place and two below the second."""
    column = ValueCounts(np.arange(3.0), np.array([[2.0], [4.0], [2.0]]))
    assert frequency_cuts(column, 2) == (0.5,)
