"""`Draws`: shapes, summaries, rows, and the way to ArviZ."""

from __future__ import annotations

import math
import pickle
import sys
import types

import numpy as np
import pytest

import juncture as jt
from juncture.inference.sampling.diagnostics import effective_sample_size, r_hat, standard_error
from juncture.inference.sampling.draws import Draws

COIN = jt.Variable("coin", ["tails", "heads"])
HEIGHT = jt.Variable("height")


def example(log_weights: bool = False) -> Draws:
    rng = np.random.default_rng(2)
    values = {
        "coin": rng.integers(0, 2, (3, 40)),
        "height": rng.normal(size=(3, 40)),
        "matrix": rng.normal(size=(3, 40, 2, 2)),
    }
    return Draws(values, [COIN, HEIGHT], rng.normal(size=(3, 40)) if log_weights else None)


def test_draws_know_their_shape():
    draws = example()
    assert (draws.names, draws.num_chains, draws.num_draws, len(draws)) == (("coin", "height", "matrix"), 3, 40, 120)
    assert repr(draws) == "Draws(3 chains of 40 draws: coin, height, matrix)"
    assert "coin" in draws
    assert not draws["coin"].flags.writeable
    assert pickle.loads(pickle.dumps(draws)) == draws  # noqa: S301
    assert np.isclose(draws.weights.sum(), 1.0)
    assert repr(Draws({"x": [[0.5]]}, log_weights=[[0.0]])) == "Draws(1 weighted draw: x)"


def test_summaries_are_of_single_quantities():
    draws, summary = example(), example().summary()
    assert list(summary) == [
        "coin=tails",
        "coin=heads",
        "height",
        *(f"matrix[{i}, {j}]" for i in (0, 1) for j in (0, 1)),
    ]
    row, entry = summary["coin=heads"], draws["matrix"][:, :, 1, 0]
    assert row.mean == pytest.approx(draws["coin"].mean())
    assert summary["matrix[1, 0]"].standard_error == pytest.approx(standard_error(entry), rel=1e-12)
    assert summary["matrix[1, 0]"].r_hat == pytest.approx(r_hat(entry), rel=1e-12)
    assert summary["matrix[1, 0]"].tail_size == pytest.approx(effective_sample_size(entry, "tail"), rel=1e-12)
    assert summary.r_hat == max(one.r_hat for one in summary.rows.values())
    frame = draws.summary(["height"]).to_pandas()
    assert frame.shape == (1, 6)
    assert frame.loc["height", "mean"] == pytest.approx(draws["height"].mean())
    assert "height" in repr(summary)
    with pytest.raises(jt.UnknownVariable, match="coin=heads"):
        summary["heads"]


def test_weighted_summaries_use_the_delta_method():
    draws = example(log_weights=True)
    weights, heights = draws.weights, draws["height"]
    mean = (weights * heights).sum()
    row = draws.summary()["height"]
    assert np.isclose(row.mean, mean)
    assert np.isclose(row.standard_error, math.sqrt((weights**2 * (heights - mean) ** 2).sum()))
    assert row.r_hat is None
    assert draws.summary().r_hat is None


def test_equal_weights_have_the_size_of_the_draws():
    values = np.random.default_rng(0).normal(size=(2, 50))
    row = Draws({"x": values}, log_weights=np.full((2, 50), -700.0)).summary()["x"]
    assert np.isclose(row.bulk_size, 100)
    assert np.isclose(row.standard_error, values.std() / 10)


def test_draws_become_rows():
    draws = example(log_weights=True)
    rows = draws.to_dataset()
    assert np.array_equal(rows.columns["coin"], draws["coin"].reshape(-1))
    assert np.allclose(rows.weights, draws.weights.reshape(-1) * 120)
    assert example().to_dataset().to_pandas().shape == (120, 2)
    with pytest.raises(jt.errors.Unsupported, match="names only"):
        Draws({"x": [[1.0]]}).to_dataset()


def test_arviz_below_1_takes_groups_by_name():
    arviz = pytest.importorskip("arviz", exc_type=ImportError)
    if arviz.__version__.partition(".")[0] != "0":
        pytest.skip("this is ArviZ 1.x")
    data = example(log_weights=True).to_arviz()
    assert data.posterior["matrix"].dims[:2] == ("chain", "draw")
    assert np.array_equal(data.posterior["coin"], example()["coin"])
    assert data.sample_stats["log_weight"].shape == (3, 40)


def test_arviz_1_takes_one_mapping_of_groups(monkeypatch):
    """`arviz_base.from_dict` is what ArviZ 1.x gives as `arviz.from_dict`; it runs on Python 3.11 too."""
    base = pytest.importorskip("arviz_base")
    stand_in = types.SimpleNamespace(__version__="1.2.0", from_dict=base.from_dict)
    monkeypatch.setitem(sys.modules, "arviz", stand_in)
    data = example(log_weights=True).to_arviz()
    assert np.array_equal(data["posterior"]["matrix"], example()["matrix"])
    assert data["sample_stats"]["log_weight"].dims == ("chain", "draw")


def test_without_arviz_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(jt.errors.MissingExtra, match=r"juncture\[arviz\]"):
        example().to_arviz()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({},), "at least one name"),
        (({"x": [1, 2]},), "chain, draw"),
        (({"x": [[1, 2], [3]]},), "differ in length"),
        (({"x": [["a"]]},), "numbers"),
        (({"x": [[1, 2]], "y": [[1]]},), "same chains and draws"),
        (({"coin": [[0, 2]]}, [COIN]), "codes from 0 to 1"),
        (({"coin": [[0.0, 1.0]]}, [COIN]), "whole numbers"),
        (({"x": [[1.0]]}, (), [0.0]), "shape"),
        (({"x": [[1.0]]}, (), [[math.nan]]), "NaN"),
        (({"x": [[1.0]]}, (), [[-math.inf]]), "above"),
        (({0: [[1.0]]},), "texts"),
    ],
)
def test_what_makes_no_draws_is_refused(arguments, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        Draws(*arguments)


def test_unknown_names_are_refused():
    with pytest.raises(jt.UnknownVariable, match="height"):
        example()["heigt"]
