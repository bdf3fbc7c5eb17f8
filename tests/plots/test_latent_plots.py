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
