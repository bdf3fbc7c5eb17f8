"""What `print` shows of factors and conditionals, and their tables as plain data with labels."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidModel

MODEL = jt.example("asia")


def test_a_conditional_prints_its_labelled_table():
    assert str(MODEL["dysp"]).splitlines() == [
        "Conditional(dysp | bronc, either)",
        "bronc  either  dysp=yes  dysp=no",
        "yes    yes          0.9      0.1",
        "yes    no           0.8      0.2",
        "no     yes          0.7      0.3",
        "no     no           0.1      0.9",
    ]
    assert repr(MODEL["dysp"]) == "Conditional(dysp | bronc, either)"
    assert str(MODEL["asia"]).splitlines() == ["Conditional(asia)", "asia", "yes   0.01", "no    0.99"]


def test_a_factor_prints_its_labelled_table():
    joint = jt.infer(MODEL, {"xray": "yes"}).joint("lung", "bronc")
    assert str(joint).splitlines() == [
        "Factor(lung, bronc; 2 × 2)",
        "lung  bronc=yes  bronc=no",
        "yes      0.2799    0.2088",
        "no       0.2264    0.2849",
    ]
    assert str(jt.Factor([], 2.5)) == "Factor(; one number): 2.5"
    logs = jt.Factor.from_logs([jt.Variable("coin", ["heads", "tails"])], [-2000, -np.inf])
    assert str(logs).splitlines() == ["Factor(coin; 2 of logarithms)", "coin", "heads  -2000", "tails   -inf"]


def test_the_middle_of_a_long_table_is_left_out_and_counted():
    wide = jt.Factor([jt.Variable("a", 1000), jt.Variable("b", 11)], np.arange(11000.0).reshape(1000, 11))
    lines = str(wide).splitlines()
    assert lines[1].split() == ["a", "b=0", "b=1", "b=2", "b=3", "b=4", "…", "b=6", "b=7", "b=8", "b=9", "b=10"]
    assert lines[2].split() == ["0", "0", "1", "2", "3", "4", "…", "6", "7", "8", "9", "10"]
    assert lines[12] == "… 980 rows left out"
    assert lines[22].split()[::11] == ["999", "1.1e+04"]
    assert lines[23] == "… 1 column left out"
    alone = str(jt.Factor([jt.Variable("x", 21)], np.arange(21.0))).splitlines()
    assert (alone[11], alone[12], alone[13]) == ("9    9", "… 1 row left out", "11  11")


def test_other_kinds_of_conditionals_print_without_writing_out_their_tables():
    def fever(count):
        causes = [jt.Variable(f"cause{number}", 1000) for number in range(count)]
        return jt.NoisyMax(jt.Variable("fever", 2), causes, [np.tile([0.9, 0.1], (1000, 1))] * count, [1.0, 0.0])

    assert f"… {1000**4 - 20:,} rows left out" in str(fever(4))
    for beyond in (fever(12), fever(13)):  # rows, columns
        assert str(beyond) == repr(beyond)


def test_a_label_is_cut_only_where_it_is_very_long():
    long = jt.Factor([jt.Variable("x", ["a" * 200, "b"])], [1, 2])
    assert max(map(len, str(long).splitlines())) < 60


def test_conditionals_as_plain_data():
    dysp = MODEL["dysp"]
    assert dysp.to_dict()["yes", "no"] == {"yes": 0.8, "no": 0.2}
    assert MODEL["lung"].to_dict() == {"yes": {"yes": 0.1, "no": 0.9}, "no": {"yes": 0.01, "no": 0.99}}
    assert MODEL["asia"].to_dict() == {"yes": 0.01, "no": 0.99}
    joint = dysp.to_factor().to_dict()
    assert joint["yes", "no", "yes"] == 0.8
    assert len(joint) == 8
    assert jt.Factor([], 2.5).to_dict() == {(): 2.5}
    twice = jt.Conditional(jt.Variable("a", [1, True]), [], [0.5, 0.5])
    with pytest.raises(InvalidModel, match="equal as keys"):
        twice.to_dict()


def test_conditionals_as_frames():
    pytest.importorskip("pandas")
    frame = MODEL["dysp"].to_pandas()
    assert frame.index.names == ["bronc", "either"]
    assert frame.columns.name == "dysp"
    assert frame.loc[("yes", "no"), "yes"] == 0.8
    assert MODEL["asia"].to_pandas().to_dict("records") == [{"yes": 0.01, "no": 0.99}]
    causes = [jt.Variable(name, ["no", "yes"]) for name in ("cold", "flu")]
    noisy = jt.NoisyOr(jt.Variable("fever", ["no", "yes"]), causes, [0.4, 0.8])
    assert noisy.to_pandas().loc[("yes", "yes"), "yes"] == pytest.approx(0.88)


def test_a_conditional_of_a_real_parent_has_no_rows():
    parents = [jt.Variable("hours"), jt.Variable("taught", ["no", "yes"])]
    part = jt.Logistic(jt.Variable("passed", ["no", "yes"]), parents, [0.3, 1.0], -4.0)
    assert str(part) == repr(part) == "Logistic(passed | hours, taught)"
