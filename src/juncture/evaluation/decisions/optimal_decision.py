"""`optimal_decision`: the number, or the action, of least expected loss under a distribution.

For the losses |t - y|^q it is the mean (q = 2), the median (q = 1) and, as q → 0, the mode. For other losses the
expected loss is summed or integrated on the points of the distribution and minimised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import as_float, check_array, check_iterable, shown
from juncture.base.shown import Shown
from juncture.components.mixture import Mixture
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.decisions.loss_matrix import LossMatrix
from juncture.factors.factor import Factor
from juncture.families.family import Family
from juncture.information.grids import common_grid
from juncture.numerics.quadrature.gauss_legendre import Grid

Loss = Callable[[np.ndarray, float], Any]
STARTS = 401  # points among which the search for the least expected loss begins
MEAN, MEDIAN, MODE = 2.0, 1.0, 0.0


@dataclass(frozen=True)
class OptimalDecision(Shown):
    """A decision and its risk, the expected loss.

    Attributes
    ----------
    decision
        The number, or the label of the action.
    risk
        The expected loss of the decision; for q = 0 and a density, None: every point has the loss 1 almost surely.
    """

    decision: Any
    risk: float | None


class Points(NamedTuple):
    """Numbers with their probabilities; those of a density are the points of a quadrature."""

    values: np.ndarray
    probabilities: np.ndarray
    grid: Grid | None = None
    density: Any = None

    def split_at(self, y: float) -> Points:
        """For a density, points whose panels end at y, where losses have a kink; else the same."""
        if self.density is None:
            return self
        grid = common_grid(*parts_of(self.density), more_ends=lambda _: np.array([y]))
        return Points(grid.points, np.exp(np.asarray(self.density.log_prob(grid.points))), grid)

    def expect(self, losses: np.ndarray) -> float:
        if self.grid is None:
            return float(self.probabilities @ losses)
        return self.grid.total(self.probabilities, "the expected loss", losses)


def optimal_decision(distribution: Any, loss: Any = 2, *, actions: Iterable[float] | None = None) -> OptimalDecision:
    """The decision of least expected loss: argmin over y of E loss(t, y).

    Parameters
    ----------
    distribution
        Of t: a family of single numbers, a `Mixture` of them, a `Factor` over one variable, or an array of draws.
    loss
        A number q for |t - y|^q: 2 gives the mean, 1 the median, 0 the mode. A function loss(t, y) of an array t and a
        number y. Or a `LossMatrix`, for a `Factor` or a list of probabilities over its classes.
    actions
        The decisions to choose from; by default all numbers.

    Returns
    -------
    OptimalDecision
        The `decision` and its `risk`.

    Examples
    --------
    >>> import juncture as jt
    >>> waiting = jt.Exponential(0.5)
    >>> [round(optimal_decision(waiting, q).decision, 6) for q in (2, 1, 0)]
    [2.0, 1.386294, 0.0]
    >>> asymmetric = optimal_decision(waiting, lambda t, y: np.where(t > y, 9 * (t - y), y - t))
    >>> round(asymmetric.decision, 4)  # the quantile of 9 / 10
    4.6052
    """
    if isinstance(loss, LossMatrix):
        return decide_once(distribution, loss)
    points = points_of(distribution)
    power = as_float(loss)
    if callable(loss) and not isinstance(loss, type):
        function: Loss = loss
    elif power >= 0 and np.isfinite(power):
        function = power_loss(power)
    else:
        raise InvalidData(f"a loss is a power q ≥ 0, a function of t and y, or a LossMatrix; got {shown(loss)}")
    if actions is not None:
        return best_of(points, function, np.array([as_float(each) for each in check_iterable(actions, "actions")]))
    if not callable(loss) and power in (MEAN, MEDIAN, MODE):
        return known_optimum(distribution, points, power, function)
    return search(points, function)


def power_loss(power: float) -> Loss:
    """|t - y|^q, and for q = 0 the loss 1 wherever t is not y."""

    def loss(t: np.ndarray, y: float) -> np.ndarray:
        return np.asarray(np.abs(t - y) ** power if power > 0 else (t != y), float)

    return loss


def points_of(distribution: Any) -> Points:
    if isinstance(distribution, Factor):
        if len(distribution.scope) != 1:
            raise Unsupported(f"a decision is about one variable; {distribution!r} has {len(distribution.scope)}")
        return Points(distribution.scope[0].numbers, distribution.normalize().values)
    if isinstance(distribution, Family | Mixture):
        grid = common_grid(*parts_of(distribution))
        density = None if grid.is_discrete else distribution
        return Points(grid.points, np.exp(np.asarray(distribution.log_prob(grid.points))), grid, density)
    draws = check_array(distribution, "the draws", ndim=1)
    if not draws.size or not np.isfinite(draws).all():
        raise InvalidData("the draws must be finite numbers, at least one")
    return Points(draws, np.full(len(draws), 1.0 / len(draws)))


def parts_of(distribution: Any) -> list[Any]:
    """The families that a mixture is made of; a family is its only part."""
    if not isinstance(distribution, Mixture):
        return [distribution]
    return [part for each in distribution.components for part in parts_of(each)]


def known_optimum(distribution: Any, points: Points, power: float, loss: Loss) -> OptimalDecision:
    """The mean, the median or the mode."""
    if power == MEAN:
        found = float(points.expect(points.values)) if points.grid is None else float(distribution.mean)
    elif power == MEDIAN:
        found = weighted_median(points) if points.grid is None else float(distribution.quantile(0.5))
    else:
        found = weighted_mode(points) if points.grid is None else float(distribution.mode)
    if power == MODE and points.density is not None:
        return OptimalDecision(found, None)
    around = points.split_at(found)
    return OptimalDecision(found, around.expect(np.asarray(loss(around.values, found))))


def weighted_median(points: Points) -> float:
    order = np.argsort(points.values, kind="stable")
    reached = np.cumsum(points.probabilities[order])
    return float(points.values[order][np.searchsorted(reached, 0.5 * reached[-1] * (1 - 1e-15))])


def weighted_mode(points: Points) -> float:
    values, places = np.unique(points.values, return_inverse=True)
    return float(values[np.argmax(np.bincount(places, points.probabilities))])


def best_of(points: Points, loss: Loss, actions: np.ndarray) -> OptimalDecision:
    """The first of the actions with the least expected loss."""
    if not actions.size or not np.isfinite(actions).all():
        raise InvalidData("actions are finite numbers, at least one")
    risks = [risk_at(points, loss, action) for action in actions.tolist()]
    best = int(np.argmin(risks))
    return OptimalDecision(float(actions[best]), float(risks[best]))


def risk_at(points: Points, loss: Loss, y: float) -> float:
    """The expected loss of a decision."""
    here = points.split_at(y)
    return here.expect(check_losses(loss, here.values, y))


def search(points: Points, loss: Loss) -> OptimalDecision:
    """The least expected loss among quantiles of the distribution, then between the neighbours of the best."""
    from scipy.optimize import minimize_scalar

    weights = points.probabilities * (1.0 if points.grid is None else points.grid.weights)
    order = np.argsort(points.values, kind="stable")
    reached = np.cumsum(weights[order])
    levels = np.concatenate([[1e-6], np.linspace(0, 1, STARTS)[1:-1], [1 - 1e-6]]) * reached[-1]
    starts = np.unique(points.values[order][np.searchsorted(reached, levels).clip(0, len(order) - 1)])
    first = best_of(points._replace(density=None), loss, starts)
    place = int(np.searchsorted(starts, first.decision))
    around = starts[max(place - 1, 0)], starts[min(place + 1, len(starts) - 1)]
    risk = partial(risk_at, points, loss)
    at_first = risk(first.decision)
    if around[0] == around[1]:
        return OptimalDecision(first.decision, at_first)
    options = {"xatol": 1e-12 * (around[1] - around[0])}
    found = minimize_scalar(risk, bounds=around, method="bounded", options=options)
    return (
        OptimalDecision(float(found.x), float(found.fun))
        if found.fun < at_first
        else OptimalDecision(first.decision, at_first)
    )


def check_losses(loss: Loss, values: np.ndarray, action: float) -> np.ndarray:
    losses = np.asarray(loss(values, action), float)
    if losses.shape != values.shape or np.isnan(losses).any():
        raise InvalidData(f"a loss is a number for each t; loss(t, {action:g}) has the shape {losses.shape} or NaN")
    return losses


def decide_once(distribution: Any, loss: LossMatrix) -> OptimalDecision:
    """The best action of a loss matrix under the probabilities of its classes."""
    if isinstance(distribution, Factor):
        loss = loss.align(distribution.scope[0].labels) if len(distribution.scope) == 1 else loss
        distribution = distribution.normalize().values
    risks = loss.expected(distribution)
    if len(risks) != 1:
        raise InvalidData(f"optimal_decision takes one distribution; got {len(risks)} rows: loss.decide takes many")
    best = int(risks[0].argmin())
    return OptimalDecision(loss.actions[best], float(risks[0, best]))
