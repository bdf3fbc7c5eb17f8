"""A bound on the error of a hyperplane from the margins of the points that it was learned from."""

from __future__ import annotations

import math
from typing import Any

from juncture.base.checks import check_count, check_number
from juncture.evaluation.learning_theory.bounds import check_delta


def margin_error_bound(
    margin_error: Any, num_samples: Any, delta: Any, *, radius: Any, norm: Any, margin: Any, constant: Any = 1.0
) -> float:
    """A bound on the error of a linear classifier: ν + √((c/m) (R²Λ²/ρ² ln²m + ln 1/δ)), with probability 1 - δ.

    Parameters
    ----------
    margin_error
        ν, the share of the points whose functional margin is less than ρ, from 0 to 1 (`Hyperplane.margin_error`, which
        takes ρ/‖w‖).
    num_samples
        m, the number of points.
    delta
        δ, between 0 and 1.
    radius
        R, the length of the longest point.
    norm
        Λ, the largest ‖w‖ that the learner may choose.
    margin
        ρ.
    constant
        c, which the theorem leaves open.

    Returns
    -------
    float
        It may be above 1, and then says nothing.

    Examples
    --------
    >>> round(margin_error_bound(0.02, 1_000_000, 0.05, radius=1.0, norm=1.0, margin=0.5), 4)
    0.0477
    """
    share = check_number(margin_error, "margin_error", least=0, most=1)
    number, chance = check_count(num_samples, "num_samples", least=1), check_delta(delta)
    length = check_number(radius, "radius", least=0, finite=True) * check_number(norm, "norm", least=0, finite=True)
    ratio = length / check_number(margin, "margin", above=0, finite=True)
    price = check_number(constant, "constant", above=0, finite=True)
    return share + math.sqrt(price / number) * math.hypot(ratio * math.log(number), math.sqrt(math.log(1 / chance)))
