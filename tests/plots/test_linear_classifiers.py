"""Pictures of hyperplanes and margins."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import juncture as jt
from juncture.supervised import GaussianKernel, Hyperplane
from support.learned import fit_maximum_margin

POINTS, LABELS = [[0.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [0, 1, 1]


def test_a_machine_is_drawn_with_its_support_vectors():
    ax = Figure().subplots()
    machine = fit_maximum_margin(POINTS, LABELS)
    assert machine.plot(ax=ax) is ax
    circled = np.asarray(ax.collections[-1].get_offsets())
    assert circled == pytest.approx(machine.points[machine.support])
    curved = fit_maximum_margin(POINTS, LABELS, cost=1.0, kernel=GaussianKernel())
    assert jt.plot(curved, ax=Figure().subplots()).has_data()


def test_a_hyperplane_is_drawn_with_its_margin():
    boundary = Hyperplane([1.0, 1.0], -2.0)
    texts = boundary.plot(X=POINTS, y=LABELS, ax=Figure().subplots()).get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["first class", "second class", "margin 1.41"]
    wrong = boundary.plot(X=POINTS, y=[1, 0, 0], ax=Figure().subplots()).get_legend().get_texts()
    assert len(wrong) == 2


def test_only_planes_are_drawn():
    with pytest.raises(jt.errors.Unsupported, match="in a plane; the points have 1"):
        fit_maximum_margin([0.0, 1.0], [0, 1]).plot(ax=Figure().subplots())
