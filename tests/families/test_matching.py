"""Special functions behind moment matching and divergences, against sums with fifty digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import juncture as jt
from juncture.families.matching import TRIGAMMA_BLOCK, shape_gap, trigamma_excess

STEPS = 80
BERNOULLI = [Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66)]
NUMBERS = [1e-300, 1e-8, 1e-3, 0.3, 1.0, 2.7, 7.999, 8.0, 15.9, 16.0, 40.0, 1e4, 1e9, 1e150]


def exact_excess(x: float) -> Decimal:
    """ψ'(x) - 1/x, from x + 80 on by the first terms of its series."""
    with localcontext() as context:
        context.prec = 60
        first, last = Decimal(x), Decimal(x) + STEPS
        near = sum(1 / ((first + k) ** 2 * (first + k + 1)) for k in range(STEPS))
        terms = (Decimal(b.numerator) / b.denominator / last ** (2 * k + 3) for k, b in enumerate(BERNOULLI))
        return near + 1 / (2 * last**2) + sum(terms)


def test_the_excess_of_the_trigamma_function_has_all_its_digits():
    found = trigamma_excess(np.array(NUMBERS[1:-1]))
    for x, value in zip(NUMBERS[1:-1], found, strict=True):
        exact = exact_excess(x)
        assert abs(Decimal(float(value)) - exact) <= 4 * Decimal(2) ** -53 * exact, x


def test_the_excess_does_not_depend_on_its_neighbours():
    rng = np.random.default_rng(3)
    x = np.exp(rng.uniform(-5, 8, 2 * TRIGAMMA_BLOCK + 17))
    together = trigamma_excess(x.reshape(-1, 1))[:, 0]
    alone = [trigamma_excess(x[[index]])[0] for index in range(0, len(x), 997)]
    assert together[::997].tolist() == alone


def test_the_slope_of_the_gap_is_its_derivative():
    for shape in (0.05, 0.7, 3.0, 15.0, 17.0, 400.0):
        step = 1e-5 * shape
        above, below = (shape_gap(np.array(at))[0] for at in (shape + step, shape - step))
        assert shape_gap(np.array(shape))[1] == pytest.approx(shape * (above - below) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("num_rows", [1023, 1024, 5000])
def test_counts_that_repeat_are_summed_as_row_by_row(num_rows):
    """Values counted once each, and the same rows as floating-point numbers, which are not counted."""
    rows = np.random.default_rng(0).poisson(4.0, num_rows)
    for family, known in ((jt.Poisson, {}), (jt.Binomial, {"trials": 40}), (jt.NegativeBinomial, {"successes": 3})):
        counted, plain = family.statistics(rows, **known), family.statistics(rows.astype(float), **known)
        assert counted == plain
        assert counted == family.statistics(rows[:500], **known) + family.statistics(rows[500:], **known)


def test_a_row_outside_is_named_among_counts_that_repeat():
    rows = np.random.default_rng(0).poisson(4.0, 3000)
    rows[1234] = -1
    with pytest.raises(jt.errors.InvalidData, match="row 1234"):
        jt.Poisson.statistics(rows)
