"""Searches end where rounding does, after few evaluations: each of them may be an integral."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.numerics.curvature import find_maximum


def test_a_quantile_of_any_size_takes_a_hundred_evaluations(monkeypatch):
    """A thousand powers of two are not tried one by one: some thirty, then a halving for each digit."""
    calls = []
    both = jt.families.BetaNegativeBinomial._cdf_and_sf
    monkeypatch.setattr(
        jt.families.BetaNegativeBinomial,
        "_cdf_and_sf",
        lambda family, x: calls.append(x) or both(family, x),
        raising=True,
    )
    heavy = jt.families.BetaNegativeBinomial(2.0, 0.05, 3.0)
    for wanted in (0.5, 0.999, 1 - 1e-9):
        calls.clear()
        found = heavy.quantile(wanted)
        assert len(calls) <= 110
        assert heavy.sf(found) <= 1 - wanted + 2.0**-53  # half a unit in the last place of the probability
        assert heavy.sf(0.99 * found - 1) > 1 - wanted


def test_the_highest_place_is_found_to_half_the_digits():
    """Values of a size where steps of 1e-9 no longer show: the search stops there."""
    points = []

    def hill(point: np.ndarray) -> float:
        points.append(point)
        return float(-800.0 - 150.0 * (point[0] - 1.3) ** 2 - 90.0 * (point[1] + 0.4) ** 2 - 40 * point[0] * point[1])

    found = find_maximum(hill, np.array([1.0, 0.0]))
    slopes = [-300.0 * (found[0] - 1.3) - 40 * found[1], -180.0 * (found[1] + 0.4) - 40 * found[0]]
    assert slopes == pytest.approx([0.0, 0.0], abs=1e-4)
    assert len(points) < 800
