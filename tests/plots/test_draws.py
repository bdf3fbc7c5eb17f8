"""Plots of draws: what is in the axes is what the draws say."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import juncture as jt
from juncture.inference.sampling.diagnostics import autocorrelation
from juncture.plots.draws import rank_histograms

mpl.use("Agg")  # before pyplot: no windows
plt = pytest.importorskip("matplotlib.pyplot")
COIN = jt.Variable("coin", ["tails", "heads"])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def draws():
    rng = np.random.default_rng(4)
    values = {"coin": rng.integers(0, 2, (3, 80)), "x": rng.normal(size=(3, 80)), "y": rng.normal(size=(3, 80, 2))}
    return jt.sampling.Draws(values, [COIN])


def test_a_trace_has_a_line_for_each_chain(draws):
    axes = jt.plots.trace(draws)
    assert [ax.get_title() for ax in axes] == ["coin=heads", "x", "y[0]", "y[1]"]
    assert np.allclose(axes[1].lines[2].get_ydata(), draws["x"][2])
    share = axes[0].lines[0].get_ydata()  # of windows of 2 draws
    assert np.allclose(share, (draws["coin"][0, 1:] + draws["coin"][0, :-1]) / 2)


def test_autocorrelations_are_those_of_the_chains(draws):
    (ax,) = jt.plots.autocorrelation(draws, ["x"], max_lag=7)
    assert np.array_equal(ax.lines[1].get_ydata(), autocorrelation(draws["x"])[1, :8])


def test_ranks_are_counted_in_bins():
    values = np.array([[0.1, 0.5, 0.6, 0.9], [0.2, 0.3, 0.7, 0.8]])  # ranks 0, 3, 4, 7 and 1, 2, 5, 6
    assert np.array_equal(rank_histograms(values, 4) * 4 / 4, [[1, 1, 1, 1], [1, 1, 1, 1]])
    assert np.array_equal(rank_histograms(values, 2) * 4 / 2, [[2, 2], [2, 2]])
    assert np.array_equal(rank_histograms(np.array([[0, 0], [1, 1]]), 2), [[2, 0], [0, 2]])


def test_equal_draws_share_their_ranks():
    assert np.allclose(rank_histograms(np.ones((3, 40)), 7), 1.0)
    shares = rank_histograms(np.array([[0, 0, 0, 1], [0, 1, 1, 1]]), 8)
    assert np.allclose(shares, [[1.5] * 4 + [0.5] * 4, [0.5] * 4 + [1.5] * 4])


def test_a_rank_plot_draws_its_heights(draws):
    (ax,) = jt.plots.rank(draws, ["x"], bins=10)
    heights = rank_histograms(draws["x"], 10)
    assert np.allclose([patch.get_data().values for patch in ax.patches if hasattr(patch, "get_data")], heights)
    assert np.allclose(heights.mean(axis=0), 1.0)


def test_given_axes_are_drawn_in(draws):
    axes = plt.figure().subplots(2, 2)
    assert jt.plots.trace(draws, axes=axes).tolist() == axes.reshape(-1).tolist()
    with pytest.raises(jt.errors.InvalidData, match="axes must be 4 axes"):
        jt.plots.rank(draws, axes=axes[0])


def test_too_many_quantities_are_refused():
    many = jt.sampling.Draws({"x": np.zeros((1, 5, 30))})
    with pytest.raises(jt.errors.InvalidData, match="choose names="):
        jt.plots.trace(many)
