"""Pictures of factors and of hierarchies of clusters."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import juncture as jt

ROWS = np.random.default_rng(0).normal(size=(12, 3)) * [3.0, 2.0, 1.0]


def test_a_scree_shows_shares():
    found = jt.clusters.principal_components(ROWS)
    axes = jt.plots.scree(found, Figure().subplots())
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(found.shares.tolist())
    assert axes.lines[0].get_ydata()[-1] == pytest.approx(1.0)


def test_loadings_are_shown_by_column():
    model = jt.fit(jt.ProbabilisticPCA.standard(3, 2), ROWS).model
    axes = jt.plots.loadings(model, ["a", "b", "c"], Figure().subplots())
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    assert np.asarray(axes.images[0].get_array()) == pytest.approx(model.canonical().loadings)
    with pytest.raises(jt.errors.InvalidData, match="3 columns, and 1 names"):
        jt.plots.loadings(model, ["a"], Figure().subplots())


def test_steps_have_a_panel_each():
    """S4-185, S0-058: the first and the last step, and some between, with what they reached."""
    start = jt.Mixture([0.5, 0.5], [jt.MultivariateGaussian(row, 10 * np.eye(3)) for row in ROWS[:2]])
    fitted = jt.fit(start, ROWS, prior="weak", history=True)
    panels = jt.plots.steps(fitted, ROWS, (0, 2), axes=Figure().subplots(2, 2))
    titles = [ax.get_title() for ax in panels]
    assert titles[0] == f"start: {fitted.trace.values[0]:.6g}"
    assert titles[-1] == f"step {fitted.trace.num_steps}: {fitted.trace.values[-1]:.6g}"
    assert [len(ax.patches) for ax in panels] == [4] * 4
    clusters = jt.clusters.k_means(ROWS, 3, start=ROWS[:3], history=True)
    for ax, step in zip(jt.plots.steps(clusters, ROWS, axes=Figure().subplots(1, 2)), (0, -1), strict=True):
        points, centers = ax.collections
        assert np.asarray(points.get_offsets()) == pytest.approx(ROWS[:, :2])
        assert np.asarray(centers.get_offsets()) == pytest.approx(clusters.history[step].centers[:, :2])
    for wrong in (ROWS, jt.fit(jt.ProbabilisticPCA.standard(3, 1), ROWS)):
        with pytest.raises(jt.errors.Unsupported, match="draws the fit of a mixture"):
            jt.plots.steps(wrong, ROWS)


def test_topics_have_a_panel_each():
    model = jt.LatentDirichletAllocation([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]], words=["a", "b", "c"])
    first, second = jt.plots.topics(model, 2, Figure().subplots(1, 2))
    assert [text.get_text() for text in first.get_yticklabels()] == ["b", "c"]
    assert [bar.get_width() for bar in second.patches] == [0.5, 0.3]
    with pytest.raises(jt.errors.InvalidData, match="2 axes"):
        jt.plots.topics(model, 2, Figure().subplots())


def test_a_dendrogram_has_a_line_a_merge():
    tree = jt.clusters.hierarchical_clusters(ROWS)
    axes = jt.plots.dendrogram(tree, ax=Figure().subplots())
    assert sorted(max(line.get_ydata()) for line in axes.lines) == pytest.approx(sorted(tree.heights))
    assert sorted(int(text.get_text()) for text in axes.get_xticklabels()) == list(range(12))
