"""`draw` of answers: what each picture shows; notebooks show it, and a file takes it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import juncture as jt
from juncture.drawing.shares import MAX_COLUMNS

SVG = "{http://www.w3.org/2000/svg}"
ASIA = jt.example("asia")
WEATHER = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["<dry>", "&wet"])
TREND = jt.LinearGaussianStateSpace([[1, 1], [0, 1]], [[1, 0]], np.diag([0.1, 0.1]), 1.0, [0, 0], np.eye(2))
SEEN = [0.1, None, 2.3, 2.9]
ROWS = [{"xray": "yes"}, {"smoke": "no"}, {}]
POINTS = [1, 2, 8, 9]
ANSWERS = {
    "beliefs about one row": (lambda: jt.infer(ASIA, {"xray": "yes"}), {"lung", "bronc"}),
    "beliefs about rows": (lambda: jt.infer(ASIA, ROWS, targets=["lung"]), {"lung", "yes", "no", "row"}),
    "a marginal of rows": (lambda: jt.infer(ASIA, ROWS)["lung"], {"lung", "yes", "no"}),
    "a joint of rows": (lambda: jt.infer(ASIA, ROWS).joint("lung", "tub"), {"lung, tub", "yes, no"}),
    "a best assignment": (lambda: jt.most_probable(ASIA, {"xray": "yes"}), {"variable", "lung", "yes"}),
    "the best assignments": (lambda: jt.most_probable(ASIA, {"xray": "yes"}, k=3), {"rank", "1", "3", "lung"}),
    "assignments of rows": (lambda: jt.most_probable(ASIA, ROWS), {"row", "0", "2", "lung"}),
    "a path": (lambda: jt.most_probable(WEATHER, [0, 1, 1]), {"<dry>", "&wet", "step"}),
    "the best paths": (lambda: jt.most_probable(WEATHER, [0, 1, 1], k=2), {"<dry>", "&wet"}),
    "a trellis": (lambda: jt.most_probable(WEATHER, [0, 1, 1]).trellis, {"<dry>", "step", "0", "2"}),
    "beliefs about states": (lambda: jt.infer(WEATHER, [0, 1, 1]), {"<dry>", "state", "0%"}),
    "a forecast of states": (lambda: jt.infer(WEATHER, [0]).forecast(3), {"<dry>", "1", "3"}),
    "beliefs about real states": (lambda: jt.infer(TREND, SEEN), {"state 0", "state 1", "mean", "observed"}),
    "a forecast": (lambda: jt.infer(TREND, SEEN).forecast(3), {"observation", "mean", str(len(SEEN))}),
    "real states": (lambda: jt.most_probable(TREND, SEEN), {"state 0", "state 1"}),
    "beliefs of a mixture": (lambda: jt.infer(jt.Mixture([0.5, 0.5], jt.Poisson([1.0, 9.0])), POINTS), {"component"}),
    "a fit": (lambda: jt.fit(jt.Mixture([0.5, 0.5], jt.Poisson([1.0, 9.0])), POINTS), {"objective", "step"}),
    "missingness": (
        lambda: jt.evaluation.missingness({"a": [1, None, None], "b": [0, 1, None]}),
        {"rows", "a", "b", "66.7%"},
    ),
}


def parse(text):
    return ET.fromstring(text)  # noqa: S314 - our own text


def words(svg):
    return {mark.text for mark in parse(svg).iter(f"{SVG}text")}


def of_class(svg, name):
    return [mark for mark in parse(svg).iter() if mark.get("class") == name]


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_answer_is_drawn(answer):
    make, expected = ANSWERS[answer]
    value = make()
    assert expected <= words(jt.draw(value).svg)
    if not isinstance(value, list):
        parse(f"<div>{value._repr_html_()}</div>")


def test_notebooks_show_the_picture():
    names = ["a path", "a trellis", "beliefs about states", "a forecast of states", "beliefs about real states"]
    for answer in [*names, "a forecast", "real states", "a fit", "missingness"]:
        assert "<svg" in ANSWERS[answer][0]()._repr_html_(), answer


def test_a_path_fills_the_lane_of_its_state():
    path = jt.most_probable(WEATHER, [0, 0, 1, 1, 1])
    tips = [mark.find(f"{SVG}title").text for mark in of_class(jt.draw(path).svg, "share")]
    assert tips == ["<dry>, step 0 to 1: 100%", "&wet, step 2 to 4: 100%"]
    both = jt.most_probable(WEATHER, [0, 0, 1, 1, 1], k=2)
    assert [f"path {rank + 1}, log-probability {each.log_prob:.4g}" for rank, each in enumerate(both)] == sorted(
        word for word in words(jt.draw(both).svg) if word and word.startswith("path")
    )


def test_what_differs_from_the_best_assignment_is_marked():
    best = jt.most_probable(ASIA, {"xray": "yes"}, k=4)
    expected = sum(each.assignment[name] != best[0].assignment[name] for each in best for name in each.assignment)
    assert len(of_class(jt.draw(best).svg, "marked")) == expected > 0


def test_a_network_shows_its_most_probable_states():
    best = jt.most_probable(ASIA, {"xray": "yes"})
    root = parse(jt.draw(ASIA, best).svg)
    shown = {
        mark.get("data-name"): [word.text for word in mark.iter(f"{SVG}text")]
        for mark in root.iter()
        if mark.get("class") == "variable"
    }
    assert shown == {name: [name, *filter(None, [best.assignment.get(name)])] for name in ASIA.variables.names}
    with pytest.raises(jt.errors.InvalidData, match="which this model has not"):
        jt.draw(jt.example("fuel"), best)


def test_the_band_of_a_state_is_its_95_percent_interval():
    beliefs = jt.infer(TREND, SEEN)
    first, second = beliefs.to_diagram().panels
    deviations = np.sqrt(np.diagonal(beliefs.smoothed_covariance, axis1=1, axis2=2))
    np.testing.assert_allclose(first.high - first.values, 1.959964 * deviations[:, 0], rtol=1e-6)
    np.testing.assert_allclose(second.values - second.low, 1.959964 * deviations[:, 1], rtol=1e-6)
    np.testing.assert_array_equal(first.points[0], [0.1, np.nan, 2.3, 2.9])
    assert second.points == ()


def test_what_is_not_a_coordinate_has_a_panel_of_its_own():
    doubled = jt.LinearGaussianStateSpace(0.9, 2.0, 0.1, 1.0, 0.0, 1.0)
    state, seen = jt.infer(doubled, [1.0, 2.0]).to_diagram().panels
    assert (state.title, seen.title) == ("state", "observation")
    np.testing.assert_allclose(seen.values, 2 * state.values)
    np.testing.assert_allclose(
        (seen.high - seen.values) ** 2, 4 * (state.high - state.values) ** 2 + 1.959964**2, rtol=1e-6
    )


def test_dates_name_the_steps():
    pd = pytest.importorskip("pandas")
    dates = pd.date_range("2024-02-28", periods=3, name="day")
    for model, seen in ((WEATHER, [0, 1, 1]), (TREND, SEEN[1:])):
        found = words(jt.draw(jt.infer(model, pd.Series(seen, index=dates))).svg)
        assert {"2024-02-28", "day"} <= found
        assert "step" not in found
    path = jt.most_probable(WEATHER, pd.Series([0, 1, 1], index=dates))
    assert {"2024-02-28", "2024-03-01"} <= words(jt.draw(path.trellis).svg)


def test_long_answers_stay_small():
    long = jt.infer(WEATHER, [0, 1, 1, 0, 0] * 2000)
    assert len(of_class(jt.draw(long).svg, "share")) <= 2 * MAX_COLUMNS
    assert len(jt.most_probable(WEATHER, [0, 1] * 500).trellis._repr_html_()) < 100_000
    many = jt.infer(ASIA, [{}] * 500)
    assert "the first 60 of 500 rows" in words(jt.draw(many).svg)


def test_nothing_and_the_impossible_are_drawn_too():
    certain = jt.HiddenMarkovModel([1, 0], np.eye(2), np.eye(2))
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        impossible = jt.infer(certain, [[0, 1], [0]])[0]
    assert "steps without a shade are impossible" in words(jt.draw(impossible).svg)
    nothing = [
        jt.infer(ASIA, []), jt.infer(jt.BayesianNetwork([]), [{}]), jt.most_probable(ASIA, []), jt.infer(WEATHER, []),
        jt.most_probable(WEATHER, []), jt.most_probable(WEATHER, []).trellis, jt.infer(WEATHER, [0]).forecast(0),
        jt.infer(TREND, np.zeros((0, 1))), jt.infer(TREND, [0.0]).forecast(0), jt.infer(TREND, [None, None]),
        jt.most_probable(jt.BayesianNetwork([])), jt.most_probable(jt.BayesianNetwork([]), k=2),
        jt.evaluation.missingness({}),
    ]  # fmt: skip
    for answer in nothing:
        parse(jt.draw(answer).svg)


def test_missingness_as_text():
    found = jt.evaluation.missingness({"a": [1, None, None, 2], "b": [0, 1, None, 3], "c": [1, 2, 3, 4]})
    assert str(found).splitlines()[1:] == [
        "   rows      a      b",
        "      2      ·      ·",
        "      1      ?      ·",
        "      1      ?      ?",
        "missing  50.0%  25.0%",
        "1 variable without holes",
    ]
    assert len(of_class(jt.draw(found).svg, "filled")) == 3


def test_what_cannot_be_drawn_is_refused_in_a_sentence():
    complete = jt.fit(jt.DirectedGraph.parse("a -> b"), {"a": [0, 1], "b": [1, 0]})
    with pytest.raises(jt.errors.Unsupported, match=r"took no steps.*draw fit\.model"):
        jt.draw(complete)
    assert "<svg" in complete._repr_html_()  # of the model
    for wrong, told in (([], "an empty list"), ([1], "one by one"), (jt.Gaussian, "got type"), (3, "got int")):
        with pytest.raises(jt.errors.Unsupported, match=told):
            jt.draw(wrong)
    with pytest.raises(jt.errors.InvalidData, match="answers of one question"):
        jt.draw([jt.most_probable(ASIA), 3])


def test_the_table_of_a_forecast_numbers_its_steps_as_the_picture_does():
    for forecast, first in ((jt.infer(WEATHER, [0, 1]).forecast(2), 2), (jt.infer(TREND, SEEN).forecast(2), len(SEEN))):
        table = forecast._repr_html_().partition("<table")[2]
        assert f"<th>{first}</th>" in table
        assert "<th>0</th><" not in table.partition("</tr>")[2]


def test_the_table_of_real_states_has_the_index_of_the_frame():
    import pandas as pd

    rows = pd.DataFrame({"x": [1.0, 2.0]}, index=pd.Index(["monday", "tuesday"]))
    assert "<th>tuesday</th>" in jt.infer(TREND, rows)._repr_html_()
