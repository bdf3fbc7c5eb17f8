"""The bound on the error by margins."""

from __future__ import annotations

import math

import pytest

from juncture.evaluation import margin_error_bound

GIVEN = {"radius": 2.0, "norm": 3.0, "margin": 0.5}


def test_the_bound_is_that_of_the_theorem():
    """S2-235: ν + √((c/m)(R²Λ²/ρ² ln²m + ln(1/δ))); it falls to ν with m, and falls with ρ."""
    root = math.sqrt(2 / 1000 * (4 * 9 / 0.25 * math.log(1000) ** 2 + math.log(20)))
    assert margin_error_bound(0.1, 1000, 0.05, constant=2.0, **GIVEN) == pytest.approx(0.1 + root)
    bounds = [margin_error_bound(0.1, 10**power, 0.05, **GIVEN) for power in (3, 6, 9, 15)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == pytest.approx(0.1, abs=1e-4)
    wider = margin_error_bound(0.1, 1000, 0.05, radius=2.0, norm=3.0, margin=1.0)
    assert wider < margin_error_bound(0.1, 1000, 0.05, **GIVEN)
