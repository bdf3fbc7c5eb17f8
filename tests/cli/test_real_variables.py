"""Real-valued variables on the command line: query, mpe, predict and draw."""

from __future__ import annotations

import json

import pytest

import juncture as jt
from support.command_line import juncture

SEX, HEIGHT, WEIGHT = jt.Variable("sex", ["f", "m"]), jt.Variable("height"), jt.Variable("weight")
PEOPLE = jt.BayesianNetwork(
    [
        jt.Conditional(SEX, [], [0.5, 0.5]),
        jt.LinearGaussian(HEIGHT, [SEX], [[], []], [1.65, 1.78], [0.0036, 0.0049]),
        jt.LinearGaussian(WEIGHT, [SEX, HEIGHT], [[60.0], [75.0]], [-35.0, -52.0], [64.0, 81.0]),
    ]
)


@pytest.fixture
def network(tmp_path):
    jt.write(PEOPLE, tmp_path / "people.json")
    return str(tmp_path / "people.json")


def test_query_prints_numbers_and_states(network):
    beliefs = jt.infer(PEOPLE, {"height": 1.82})
    text = juncture("query", network, "sex", "weight", "--given", "height=1.82")
    assert text.returncode == 0
    assert f"{beliefs['sex']['m']:.6f}" in text.out
    assert f"{beliefs['weight'].mean:.6g}" in text.out
    found = json.loads(juncture("query", network, "weight", "--given", "height=1.82", "--json").out)
    assert found["marginals"]["weight"]["mean"] == beliefs["weight"].mean
    assert found["marginals"]["weight"]["95 %"] == beliefs["weight"].quantile(0.95)
    assert "'height' is real-valued; 'tall' is not a number" in juncture("query", network, "--given", "height=tall").err


def test_mpe_prints_the_log_density(network):
    best = jt.most_probable(PEOPLE, {"height": 1.82})
    text = juncture("mpe", network, "--given", "height=1.82", "-k", "2").out
    assert "log density" in text
    assert f"{best.assignment['weight']:.6g}" in text


def test_predict_a_number_with_its_interval(network, tmp_path):
    rows = tmp_path / "rows.csv"
    jt.sample(PEOPLE, 300, rng=0).to_pandas().to_csv(rows, index=False)
    text = juncture("predict", network, str(rows), "--target", "weight", "--out", str(tmp_path / "out.csv"))
    assert "in 300 rows with a known weight\nbase: " in text.out
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "weight,standard deviation of weight,5 % of weight,95 % of weight"
    assert len(lines) == 301
    found = json.loads(juncture("predict", network, str(rows), "--target", "height", "--json").out)
    assert len(found["predicted"]) == len(found["5 %"]) == 300
    states = juncture("predict", network, str(rows), "--target", "sex").out
    assert states.startswith("sex,P(sex=f),P(sex=m)")


def test_fit_takes_missing_cells(network, tmp_path):
    frame = jt.sample(PEOPLE, 120, rng=0).to_pandas()
    frame.loc[::7, "sex"] = frame.loc[::5, "height"] = frame.loc[3::9, "weight"] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    text = juncture("fit", network, str(tmp_path / "rows.csv"), "--out", str(tmp_path / "fitted.json"))
    assert "missing cells    55" in text.out
    wanted = jt.fit(PEOPLE, frame).model
    assert jt.read(tmp_path / "fitted.json")["weight"].coefficients == pytest.approx(wanted["weight"].coefficients)


def test_draw_shows_densities(network, tmp_path):
    assert juncture("draw", network, str(tmp_path / "people.svg"), "--given", "height=1.82").returncode == 0
    assert "polyline" in (tmp_path / "people.svg").read_text()


def test_what_is_no_number_is_refused_with_what_to_write(network):
    assert juncture("query", network, "--given", "height=1,82").err.endswith("is not a number; write height=1.82\n")
    assert "'nan' is not a number" in juncture("query", network, "--given", "height=nan").err
    assert "give what was observed, --given height=1.5" in juncture("query", network, "--likelihood", "height=1,2").err
    assert "infer with --method auto" in juncture("query", network, "--method", "junction-tree").err


def test_info_counts_real_variables_and_the_cost(network):
    facts = json.loads(juncture("info", network, "--json").out)
    assert (facts["real_variables"], facts["largest_table"]) == (2, jt.cost(PEOPLE).largest_table)
    assert "joint_parameters" not in facts


def test_whole_numbers_are_real_on_request(tmp_path):
    rows, out = tmp_path / "rows.csv", tmp_path / "out.json"
    lines = [f"{number % 30},{number * 0.37:.2f},{'ab'[number % 2]}" for number in range(90)]
    rows.write_text("\n".join(["age,size,kind", *lines]))
    told = juncture("learn", str(rows), "--out", str(out)).err
    assert told.endswith(
        "'age' has 30 different whole numbers, read as real numbers; --states age takes its different cells as states\n"
    )
    assert jt.read(out).variable("age").is_real
    assert juncture("learn", str(rows), "--states", "age", "--out", str(out)).err == ""
    assert jt.read(out).variable("age").num_states == 30
    assert juncture("learn", str(rows), "--real", "age", "--out", str(out)).err == ""
    assert jt.read(out).variable("age").is_real
    assert "did you mean 'age'?" in juncture("learn", str(rows), "--real", "ages").err
