"""Stochastic gradient descent: the gradient of one row at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_function
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.errors import InvalidData
from juncture.numerics.descent.descend import Descent, as_point, value_at
from juncture.numerics.descent.step_rules import ConstantStep, DecreasingStep, StepRule
from juncture.numerics.iteration import Trace


def descend_stochastic(
    gradient: Callable[[np.ndarray, int], Any],
    start: Any,
    num_rows: int,
    *,
    step: StepRule | None = None,
    num_steps: int = 1000,
    function: Callable[[np.ndarray], Any] | None = None,
    rng: Any = None,
) -> Descent:
    """Minimise a sum over rows by the gradient of one row at a time, drawn with replacement.

    Parameters
    ----------
    gradient
        The gradient of the term of one row: a function of the point and the number of the row.
    start
        The first point.
    num_rows
        How many rows there are.
    step
        `ConstantStep` or `DecreasingStep`, by default ConstantStep(0.1).
    num_steps
        The number of steps.
    function
        The whole sum, if its values along the way are wanted.
    rng
        A NumPy generator or a seed.

    Returns
    -------
    Descent

    Examples
    --------
    >>> from juncture.supervised import DecreasingStep
    >>> rows = np.array([1.0, 2.0, 6.0])
    >>> mean = descend_stochastic(lambda x, row: x - rows[row], 0.0, 3, step=DecreasingStep(), num_steps=2000, rng=0)
    >>> bool(abs(mean.point[0] - 3.0) < 0.2)
    True
    """
    check_function(gradient, "gradient")
    number, steps = check_count(num_rows, "num_rows", least=1), check_count(num_steps, "num_steps", least=1)
    rule = ConstantStep(0.1) if step is None else step
    if not isinstance(rule, ConstantStep | DecreasingStep):
        raise InvalidData("step must be ConstantStep or DecreasingStep: one row says nothing about a line search")
    drawn = as_generator(rng).integers(number, size=steps)
    points = [as_point(start)]
    for k, row in enumerate(drawn, start=1):
        with np.errstate(over="ignore", invalid="ignore"):
            slope = check_array(gradient(points[-1], int(row)), "what the gradient gives").reshape(-1)
            there = points[-1] - rule.length(float, 0.0, k) * slope
        if there.shape != points[0].shape or not np.isfinite(there).all():
            raise InvalidData(f"step {k}, of row {row}, does not lead to finite numbers: take shorter steps")
        points.append(there)
    whole = None if function is None else check_function(function, "function")
    values = () if whole is None else tuple(value_at(whole, point) for point in points)
    lengths = [rule.length(float, 0.0, k) for k in range(1, steps + 1)]
    return Descent(points, lengths, Trace(values, False, f"took {number_of(steps, 'step')}"))
