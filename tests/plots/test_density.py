"""`plots.density`: what is in the axes is what the distribution says, and calls add up."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest

import juncture as jt
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.display import CORNERS
from juncture.families.registry import FAMILIES

mpl.use("Agg")  # before pyplot: no windows
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_a_curve_is_the_density():
    ax = jt.plots.density(Gaussian(1.0, 4.0))
    (line,) = ax.lines
    x, y = line.get_data()
    assert y == pytest.approx(Gaussian(1.0, 4.0).prob(x))
    assert line.get_label() == "Gaussian(mean=1.0, variance=4.0)"
    assert ax.get_ylim()[0] == 0


def test_posteriors_sharpen_with_the_number_of_observations():
    """S2-101: posteriors of a mean for n = 1, 5, 50 in one picture; each peak is higher and its curve narrower."""
    ax = plt.figure().add_subplot()
    data = np.random.default_rng(0).normal(2.0, 2.0, 50)
    for n in (1, 5, 50):
        posterior = Gaussian(0.0, 9.0).posterior(Gaussian.statistics(data[:n], variance=4.0))
        assert jt.plots.density(posterior, ax, label=f"n = {n}") is ax
    assert [text.get_text() for text in ax.legend().get_texts()] == ["n = 1", "n = 5", "n = 50"]
    peaks = [line.get_ydata().max() for line in ax.lines]
    widths = [np.ptp(line.get_xdata()) for line in ax.lines]
    assert peaks == sorted(peaks)
    assert widths == sorted(widths, reverse=True)
    assert len({line.get_color() for line in ax.lines}) == 3
    assert ax.get_ylim()[1] > peaks[-1]
    ax.figure.canvas.draw()


def test_whole_numbers_have_bars():
    ax = jt.plots.density(Bernoulli(0.3), color="tomato")
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([0.7, 0.3])
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx([0, 1])
    assert all(tick == round(tick) for tick in ax.get_xticks())
    assert len(jt.plots.density(FAMILIES["Poisson"](1e6)).lines) == 1


def test_a_batch_has_a_curve_for_each_member():
    ax = jt.plots.density(Gaussian([0.0, 1.0, 2.0], 1.0), linewidth=3)
    assert [line.get_linewidth() for line in ax.lines] == [3, 3, 3]
    assert len({line.get_label() for line in ax.lines}) == 3


def test_pairs_have_contours():
    gaussian = FAMILIES["MultivariateGaussian"]([1.0, 2.0], [[1.0, 0.8], [0.8, 2.0]])
    ax = jt.plots.density(gaussian, levels=5)
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert (low < [1 - 2, 2 - 2 * 2**0.5]).all()
    assert (high > [1 + 2, 2 + 2 * 2**0.5]).all()
    assert len(ax.collections) == 1
    ax.figure.canvas.draw()


@pytest.mark.parametrize("concentration", [[2.0, 3.0, 4.0], [1.0, 1.0, 1.0], [0.5, 0.5, 2.0], [1e5, 1e5, 1e5]])
def test_three_shares_are_a_triangle(concentration):
    ax = jt.plots.density(FAMILIES["Dirichlet"](concentration))
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2"]
    assert np.transpose(ax.lines[0].get_data())[:3] == pytest.approx(CORNERS)
    ax.figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused_in_a_sentence():
    with pytest.raises(jt.errors.InvalidData, match="from 1 to 20 distributions; the batch has 1,000: index it first"):
        jt.plots.density(Gaussian(np.zeros(1000), 1.0))
    with pytest.raises(jt.errors.Unsupported, match="no picture of Wishart"):
        jt.plots.density(FAMILIES["Wishart"](3.0, np.eye(2)))
    with pytest.raises(jt.errors.Unsupported, match="of vectors of 3 finite numbers"):
        jt.plots.density(FAMILIES["MultivariateGaussian"](np.zeros(3), np.eye(3)))
    assert not plt.get_fignums()


def test_a_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(jt.errors.MissingExtra, match=r"pip install 'juncture\[plot\]'"):
        jt.plots.density(Gaussian(0.0, 1.0))


def test_a_density_without_a_family_is_drawn_too():
    bumps = jt.information.Density.mixture([0.5, 0.5], [jt.Gaussian(-3.0, 1.0), jt.Gaussian(3.0, 1.0)])
    line = jt.plots.density(bumps).lines[0]
    assert line.get_xdata().min() < -5.0 < 5.0 < line.get_xdata().max()
    assert line.get_ydata().max() == pytest.approx(0.5 * jt.Gaussian(0.0, 1.0).prob(0.0), rel=0.01)


def test_angles_have_a_curve_over_one_turn():
    axes = jt.plots.density(jt.families.VonMises(0.5, 2.0))
    x = axes.lines[0].get_xdata()
    assert -np.pi <= x[0] < x[-1] <= np.pi
