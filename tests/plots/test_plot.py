"""`jt.plot` finds the function that draws a class."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import juncture as jt

ROWS = np.random.default_rng(0).normal(size=(12, 2))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (jt.Gaussian(0.0, 1.0), ""),
        (jt.information.Density(lambda x: -(x**2)), ""),
        (jt.clusters.principal_components(ROWS), "component"),
        (jt.clusters.hierarchical_clusters(ROWS), "height"),
        (jt.ProbabilisticPCA.standard(2, 1), "factor"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_class_decides_what_is_drawn(value, words):
    ax = Figure().subplots()
    assert jt.plot(value, ax=ax) is ax
    assert words in ax.get_xlabel() or words in ax.get_ylabel()
    assert ax.has_data()


def test_a_value_without_a_picture_is_refused():
    with pytest.raises(jt.errors.Unsupported, match="there is no picture of a BayesianNetwork"):
        jt.plot(jt.example("asia"))


def test_options_that_a_picture_does_not_have_are_refused():
    with pytest.raises(jt.errors.Unsupported, match="plot of a PrincipalComponents"):
        jt.plot(jt.clusters.principal_components(ROWS), bins=3)
