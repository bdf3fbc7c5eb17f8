"""Central intervals hold what they say, of every distribution of numbers that has quantiles."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidData, Unsupported
from support.family_examples import MEMBERS, over

NUMBERS = [member for member in MEMBERS if not member.event_shape and hasattr(member.support, "low")]
CONFIDENCES = (0.5, 0.9, 0.99)


def check_interval(distribution, confidence, *, is_discrete=False):
    """Below the interval lies half of the rest, and above it the other half; of whole numbers at most that."""
    low, high = distribution.interval(confidence)
    below, up_to = np.asarray(distribution.cdf(low)), np.asarray(distribution.cdf(high))
    if is_discrete:
        assert (up_to >= 0.5 + confidence / 2 - 1e-9).all()
        assert (np.asarray(distribution.cdf(low - 1.0)) < 0.5 - confidence / 2 + 1e-9).all()
    else:
        np.testing.assert_allclose(below, 0.5 - confidence / 2, atol=1e-6)
        np.testing.assert_allclose(up_to, 0.5 + confidence / 2, atol=1e-6)


@over(NUMBERS)
def test_an_interval_holds_its_share_of_a_family(member):
    for confidence in CONFIDENCES:
        try:
            member.quantile(0.25)
        except Unsupported:
            with pytest.raises(Unsupported):
                member.interval(confidence)
        else:
            check_interval(member, confidence, is_discrete=member.support.is_discrete)


def test_an_interval_holds_its_share_of_other_distributions():
    rows = jt.results.RealMarginal("x", [[0.2, 0.8], [0.5, 0.5]], [[0.0, 3.0], [-1.0, 1.0]], [[1.0, 4.0], [0.1, 0.2]])
    mixture = jt.Mixture([0.25, 0.75], jt.Gaussian([0.0, 4.0], [1.0, 0.25]))
    for distribution in (jt.Gaussian([0.0, 5.0], 2.0), rows, mixture):
        for confidence in CONFIDENCES:
            check_interval(distribution, confidence)
        np.testing.assert_array_equal(distribution.standard_deviation, np.sqrt(distribution.variance))


def test_a_number_that_is_known_has_no_width():
    x, y = jt.Variable("x"), jt.Variable("y")
    model = jt.BayesianNetwork([jt.LinearGaussian(x, [], [], 1.0, 1.0), jt.LinearGaussian(y, [x], [2.0], 0.0, 0.0)])
    known = jt.infer(model, {"x": 3.0})["y"]
    assert (known.interval(), known.standard_deviation) == ((6.0, 6.0), 0.0)


def test_a_confidence_lies_between_0_and_1():
    for wrong in (0.0, 1.0, 95, "much", None):
        with pytest.raises(InvalidData, match="confidence"):
            jt.Gaussian().interval(wrong)
