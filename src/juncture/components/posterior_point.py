"""Priors of tables by the point of the posterior that learning takes, its mean or its mode.

Emissions estimate at the mode: a Dirichlet adds its concentration less 1 to the counts, a number adds itself. The mean
of the posterior under Dirichlet(α) is its mode under Dirichlet(α + 1), so that one shift serves both points. Conjugate
priors of other families keep their mode.
"""

from __future__ import annotations

from functools import singledispatch
from numbers import Real
from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.components.mixture import MixturePrior
from juncture.errors import InvalidData
from juncture.families.vectors.dirichlet import Dirichlet

POINTS = ("mean", "mode")


def check_point(point: Any) -> str:
    """The point of the posterior as users give it."""
    return check_choice(point, POINTS, "point, which names the mean or the mode of the posterior,")


@singledispatch
def prior_for_point(prior: Any, point: str) -> Any:
    """The prior whose mode emissions have to take, so that the estimate is this point under the given prior."""
    return prior


@prior_for_point.register
def _(prior: Dirichlet, point: str) -> Any:
    concentration = np.asarray(prior.concentration)
    if point == "mean":
        return Dirichlet(concentration + 1.0)
    less_one(concentration, "the prior", prior)
    return prior


@prior_for_point.register(Real)
def _(prior: Any, point: str) -> Any:
    return prior if point == "mean" else less_one(prior, "the pseudo-count of a prior", prior)


@prior_for_point.register
def _(prior: MixturePrior, point: str) -> Any:
    return MixturePrior(prior_for_point(prior.weights, point), prior_for_point(prior.components, point))


@prior_for_point.register(list)
@prior_for_point.register(tuple)
def _(prior: Any, point: str) -> Any:
    return [prior_for_point(each, point) for each in prior]


def less_one(counts: Any, what: str, given: Any) -> Any:
    """α - 1, which a Dirichlet(α) adds to the counts at its mode."""
    if not np.all(np.asarray(counts) >= 1):
        raise InvalidData(
            f"the mode of the posterior need not exist for prior counts below 1; {what} is {given!r}: raise it, or"
            ' ask for point="mean"'
        )
    return counts - 1
