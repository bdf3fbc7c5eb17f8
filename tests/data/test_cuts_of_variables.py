"""Cuts stay with the variable: numbers are taken wherever states are, in memory, in files and at the command line."""

import math
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.base.intervals import interval_labels, round_between, round_to_width
from juncture.data.document import encode_variable
from juncture.learning.networks.document import read_variable
from juncture.variables import Variable

AGE = Variable("age", cuts=[18, 65])
BUYS = Variable("buys", ["no", "yes"])
NET = jt.BayesianNetwork(
    [
        jt.Conditional(AGE, [], [0.2, 0.5, 0.3]),
        jt.Conditional(Variable("same", cuts=[]), [], [1.0]),
        jt.Conditional(BUYS, [AGE], [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]),
    ]
)
finite = st.floats(allow_nan=False, allow_infinity=False)


def test_a_number_stands_for_the_interval_that_it_lies_in():
    for value in (18, 18.0, 41.5, "41.5", np.float32(41.5), np.int8(41), Decimal(41), "18 – 65"):
        assert AGE.code(value) == 1
    assert [AGE.code(value) for value in (-1e300, 17.999, 65, 10**300)] == [0, 0, 2, 2]
    for value in (None, math.nan, math.inf, "inf", True, "old", 10**400, "4_1"):
        assert AGE.find(value) is None
    with pytest.raises(jt.errors.UnknownState, match="'age' takes a finite number or one of its states, not 'old'"):
        AGE.code("old")


@given(cuts=st.lists(finite, max_size=6, unique=True), values=st.lists(finite, max_size=9))
def test_rows_and_single_values_agree_with_the_definition(cuts, values):
    variable = Variable("x", cuts=sorted(cuts))
    wanted = [sum(value >= cut for cut in cuts) for value in values]
    assert [variable.code(value) for value in values] == wanted
    for column in (values, np.array(values, float), pd.Series(values, dtype=float), list(map(repr, values))):
        assert jt.Dataset({"x": column}, [variable]).columns["x"].tolist() == wanted
    assert [float(cut.strip("<≥ ")) for cut in interval_labels(sorted(cuts))[-1:] if cuts] == sorted(cuts)[-1:]


def test_a_variable_with_cuts_is_a_value_and_is_checked():
    assert Variable("age", AGE.states) != AGE
    assert pickle.loads(pickle.dumps(AGE)) == AGE == Variable("age", AGE.states, cuts=(18.0, 65.0))  # noqa: S301
    assert read_variable(encode_variable(AGE)) == AGE
    assert repr(AGE) == "Variable('age', ['< 18', '18 – 65', '≥ 65'], cuts=[18.0, 65.0])"
    for states, cuts, message in (
        (None, [2, 1], "each greater than the last"),
        (None, [math.inf], "finite numbers"),
        (["young", "old"], [18, 65], "2 states and 2 cuts; n cuts make n \\+ 1 states"),
        ([0, 1, 2], [18, 65], "has cuts and the state 0: a number stands for the interval"),
        (["low", "7", "high"], [18, 65], "has cuts and the state '7'"),
    ):
        with pytest.raises(jt.errors.InvalidModel, match=message):
            Variable("age", states, cuts=cuts)


def test_every_verb_takes_numbers():
    wanted = jt.infer(NET, {"age": "18 – 65"}).to_dict()
    for evidence in ({"age": 41.5}, {"age": "41.5"}, pd.Series({"age": 41.5})):
        assert jt.infer(NET, evidence).to_dict() == wanted
    frames = [pd.DataFrame({"age": [41.5, np.nan, 70]}), pl.DataFrame({"age": [41.5, None, 70.0]})]
    for rows in (*frames, [{"age": 41.5}, {}, {"age": 70}], jt.Dataset(frames[0])):
        assert jt.infer(NET, rows, targets=["buys"])["buys"]["yes"] == pytest.approx([0.5, 0.51, 0.8])
        assert np.exp(jt.log_prob(NET, rows)) == pytest.approx([0.5, 1.0, 0.3])
    assert jt.log_prob(NET, {"age": 41.5}) == math.log(0.5)
    assert jt.most_probable(NET, {"age": 90}).assignment["buys"] == "yes"
    assert jt.infer(jt.do(NET, {"age": 3}))["buys"]["yes"] == pytest.approx(0.1)
    assert set(jt.sample(NET, 50, rng=0).labels("age")) <= set(AGE.states)
    fitted = jt.fit(NET, pd.DataFrame({"age": [41.5, 18, 70, 3], "same": [1, 2, 3, 4], "buys": ["no"] * 4}), prior=1.0)
    assert fitted.model["age"].values == pytest.approx([2 / 7, 3 / 7, 2 / 7])
    with pytest.raises(jt.errors.InvalidData, match="'age' is infinite in row 1"):
        jt.infer(NET, pd.DataFrame({"age": [1.0, math.inf]}))


def test_statistics_of_other_intervals_do_not_add():
    mine = jt.statistics(NET.graph, {"age": [3.0], "same": [1.0], "buys": ["no"]}, variables=NET.variables)
    other = [Variable("age", cuts=[20]), *NET.variables[1:]]
    theirs = jt.statistics(NET.graph, {"age": [3.0], "same": [1.0], "buys": ["no"]}, variables=other)
    assert type(mine).from_dict(mine.to_dict()) == mine
    with pytest.raises(jt.errors.InvalidData, match="'age' is cut into other intervals"):
        mine + theirs


@pytest.mark.parametrize("suffix", ["json", "bif", "xmlbif", "net", "xdsl"])
def test_files_keep_the_cuts(tmp_path, suffix):
    path = tmp_path / f"net.{suffix}"
    jt.write(NET, path)
    assert jt.read(path) == NET
    text = path.read_text(encoding="utf-8")
    for wrong in ("65.0 1.0", "many") if suffix != "json" else ("99.0", '"many"'):
        path.write_text(text.replace("18.0", wrong), encoding="utf-8")
        with pytest.raises(jt.FormatError, match=rf"net\.{suffix}:[0-9]+:.*cuts"):
            jt.read(path)


def test_a_file_that_cannot_keep_them_says_so(tmp_path):
    with pytest.warns(UserWarning, match="the cuts of age, same are dropped"):
        jt.write(NET, tmp_path / "net.uai")


@given(low=finite, high=finite)
def test_short_cuts_tell_the_values_apart(low, high):
    low, high = sorted((low, high))
    if low < high:
        assert low < round_between(low, high) <= high
        width = high / 5 - low / 5
        middle = low / 2 + high / 2
        assert abs(round_to_width(middle, width) - middle) <= max(width / 100, 4 * math.ulp(middle))


def test_labels_are_short_and_say_the_cuts_in_use():
    rng = np.random.default_rng(0)
    rows = {"income": np.exp(rng.normal(10, 1, 100_000)), "share": rng.random(100_000)}
    for strategy in ("frequency", "width"):
        fitted = jt.Discretizer(5, strategy).fit(rows)
        for variable in fitted.variables:
            assert max(len(label) for label in variable.states) <= 18
            texts = [label.replace("<", "").replace("≥", "").split("–")[0] for label in variable.states[1:]]
            assert tuple(map(float, texts)) == variable.cuts == fitted.cuts[variable.name]
    counts = np.bincount(jt.Discretizer(5).fit(rows).transform(rows).columns["income"])
    assert abs(counts / 20_000 - 1).max() < 0.011
