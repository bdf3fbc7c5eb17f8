"""The number of components, the Chinese restaurant, and the command that sorts rows into clusters."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from support.command_line import juncture

ONE = jt.Mixture([1.0], [jt.MultivariateGaussian([0.0, 0.0], np.eye(2))])


def three_clusters(rng):
    rows = np.concatenate([rng.normal(mean, 1.0, (60, 2)) for mean in (0.0, 7.0, 14.0)])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


@pytest.mark.parametrize("criterion", ["bic", "held-out"])
def test_three_clusters_are_found(criterion):
    rows = three_clusters(np.random.default_rng(0))
    found = jt.clusters.choose_components(ONE, rows, range(1, 5), criterion, start="k-means")
    assert found.best == found.model.num_components == 3
    assert found.scores[2] == found.scores.max()
    assert (found.errors > 0).all() == (criterion == "held-out")
    if criterion == "bic":
        best = found.fit.log_likelihood - 0.5 * np.log(len(rows)) * found.model.num_parameters
        assert found.scores[2] == pytest.approx(best)
    assert list(found.to_pandas()["components"]) == [1, 2, 3, 4]


def test_tables_of_a_restaurant():
    """S4-153: the expected number of tables is Σ α/(α + i)."""
    rng, count, alpha = np.random.default_rng(0), 30, 2.0
    draws = np.array([jt.clusters.chinese_restaurant(count, alpha, rng=rng).max() + 1 for _ in range(2000)])
    shares = alpha / (alpha + np.arange(count))
    assert jt.clusters.expected_tables(count, alpha) == pytest.approx(shares.sum())
    error = np.sqrt((shares * (1 - shares)).sum() / 2000)  # tables are independent coins
    assert draws.mean() == pytest.approx(shares.sum(), abs=5 * error)


def test_partitions_of_a_restaurant_are_exchangeable():
    """Three customers: all together has probability 2/((α + 1)(α + 2)), however they are numbered."""
    rng, alpha = np.random.default_rng(1), 1.5
    draws = [tuple(jt.clusters.chinese_restaurant(3, alpha, rng=rng)) for _ in range(6000)]
    total = (alpha + 1) * (alpha + 2)
    chances = {(0, 0, 0): 2, (0, 0, 1): alpha, (0, 1, 0): alpha, (0, 1, 1): alpha, (0, 1, 2): alpha**2}
    for partition, weight in chances.items():
        chance = weight / total
        share = draws.count(partition) / 6000
        assert share == pytest.approx(chance, abs=5 * np.sqrt(chance * (1 - chance) / 6000))


def test_the_command_labels_rows(tmp_path):
    rng = np.random.default_rng(0)
    which = np.repeat([0, 1], 40)
    rows = {
        "x": np.where(rng.random(80) < 0.1, np.nan, rng.normal(8.0 * which, 1.0)),
        "colour": np.where(rng.random(80) < 0.1 + 0.8 * which, "red", "blue"),
    }
    jt.Dataset(rows).to_csv(tmp_path / "rows.csv")
    out, model = tmp_path / "labelled.csv", tmp_path / "model.json"
    done = juncture("cluster", str(tmp_path / "rows.csv"), "--most", "3", "--out", str(out), "--model", str(model))
    assert done.returncode == 0, done.err
    found = jt.Dataset(out)
    labels = np.asarray(found.columns["component"])
    agreement = np.mean(labels == which)
    assert max(agreement, 1 - agreement) > 0.9
    assert set(found.columns) == {"x", "colour", "component", "probability", "outlier score"}
    assert jt.read(model).num_components == 2
    document = juncture("cluster", str(tmp_path / "rows.csv"), "-k", "2", "--json")
    assert json.loads(document.out)["components"] == 2
    assert juncture("cluster", str(tmp_path / "rows.csv"), "-k", "none").returncode == 2


def test_the_command_leaves_identifiers_and_dates_out(tmp_path):
    """Ids, codes, dates, text and NA in one table: the first three stay in it, but do not decide."""
    rng, which = np.random.default_rng(1), np.repeat([0, 1], 30)
    heights = [f"{height:.3f}" if rng.random() > 0.1 else "NA" for height in rng.normal(6.0 * which, 0.5)]
    lines = [
        f"{1000 + row},P{row:03d},2024-0{1 + row // 28}-{1 + row % 28:02d},{height},{'red' if own else 'blue'},{row**2}"
        for row, (height, own) in enumerate(zip(heights, which, strict=True))
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["id,code,day,height,colour,area", *lines]))
    out = tmp_path / "labelled.csv"
    done = juncture(
        "cluster", str(tmp_path / "rows.csv"), "--ignore", "area", "--most", "2", "--missing", "NA", "--out", str(out)
    )
    assert done.returncode == 0, done.err
    assert "the column 'id' has the running numbers 1,000 to 1,059, as an identifier has" in done.err
    assert "the column 'code' has 60 different values" in done.err
    assert "the column 'day' holds dates; it is left out (--keep day keeps it)" in done.err
    found = pd.read_csv(out)
    assert np.mean(found["component"].to_numpy() == which) in {0.0, 1.0}
    assert list(found.columns)[:4] == ["id", "code", "day", "height"]
    kept = juncture("cluster", str(tmp_path / "rows.csv"), "-k", "1", "--missing", "NA", "--out", str(out))
    assert "the column 'area' has 60 different whole numbers, read as real numbers" in kept.err


def test_the_command_says_what_a_cluster_is(tmp_path):
    """Sizes, means and shares are those of the rows that the file labels; the column of noise tells nothing apart."""
    rng, which = np.random.default_rng(2), np.repeat([0, 1], [60, 40])
    frame = pd.DataFrame(
        {
            "code": [f"P{row}" for row in range(100)],
            "noise": rng.normal(size=100).round(3),
            "size": rng.normal(9.0 * which, 1.0).round(3),
            "colour": np.where(rng.random(100) < 0.1 + 0.8 * which, "red", "blue"),
        }
    )
    frame.loc[::9, "size"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    line = ("cluster", str(tmp_path / "rows.csv"), "-k", "2", "--ignore", "code", "--out", str(tmp_path / "out.csv"))
    document = json.loads(juncture(*line, "--json").out)
    found = pd.read_csv(tmp_path / "out.csv")
    assert found["code"].tolist() == frame["code"].tolist()
    for each in document["clusters"]:
        own = found[found["component"] == each["component"]]
        size, colour = each["columns"]["size"], each["columns"]["colour"]
        assert each["rows"] == len(own)
        assert size["mean"] == pytest.approx(own["size"].mean(), rel=1e-9)
        assert size["standard_deviation"] == pytest.approx(own["size"].std(ddof=0), rel=1e-9)
        assert colour["red"] == pytest.approx((own["colour"] == "red").mean())
        assert each["distinguished_by"].startswith("size ")
        assert "noise" not in each["distinguished_by"]
    shown = juncture(*line).out
    assert f"component 0: {document['clusters'][0]['distinguished_by']}\n" in shown
    assert f"{found['size'].mean():.2f} ± {found['size'].std(ddof=0):.2f}" in shown
    to_output = juncture(*line[:-2])
    assert to_output.out == (tmp_path / "out.csv").read_text()
    assert "component 0: size " in to_output.err
    assert juncture(*line, "--ignore", "cod").err.endswith("has no column 'cod'; did you mean 'code'?\n")
