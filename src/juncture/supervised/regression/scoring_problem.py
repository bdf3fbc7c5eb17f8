"""Rows of a generalised linear model as a problem to minimise, and where to start.

The score of a row with weight w is w (t - μ) μ'(η) / V(μ) · φ(x), its information w μ'(η)² / V(μ) · φ(x) φ(x)ᵀ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juncture.base.checks import check_array
from juncture.data.feature_names import Names
from juncture.errors import InvalidData
from juncture.families.discrete.binomial import Binomial
from juncture.learning.conditionals.softmax import orthogonal_directions, standardization
from juncture.numerics.newton import Expansion
from juncture.runtime.parallel import block_rows, map_blocks, one_thread
from juncture.supervised.regression.bases import Basis, check_basis
from juncture.supervised.regression.generalized_linear import read_offset, read_trials
from juncture.supervised.regression.links import Link, as_link
from juncture.supervised.regression.responses import Response, as_response
from juncture.supervised.regression.rows import read_rows


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of a generalised linear model: half the deviance of coefficients, with dispersion 1, and its derivatives."""

    family: type
    response: Response
    link: Link
    basis: Basis
    features: np.ndarray  # (row, feature)
    targets: np.ndarray  # (row,); shares of successes for a binomial
    weights: np.ndarray  # (row,); times the trials for a binomial
    offset: np.ndarray  # (row,)
    counts: np.ndarray  # (row,): the weights of rows as given
    trials: np.ndarray | None
    successes: float | None
    names: Names | None
    change: np.ndarray | None = None  # (feature, direction): coefficients are change times those of directions
    back: np.ndarray | None = None  # (direction, feature): from coefficients to those of directions

    def orthogonal(self) -> Problem:
        """The same problem in orthonormal directions of the standardised features: no unit or offset costs digits."""
        has_constant = self.basis.has_constant
        given = self.features[:, int(has_constant) :]
        standard = standardization(given, self.counts, is_centered=has_constant)
        roots, size = np.sqrt(self.counts)[:, None], block_rows((2 * self.features.shape[1],))
        with one_thread(len(given) > size):
            triangles = map_blocks(
                lambda part: np.asarray(
                    np.linalg.qr(standard.of_rows(given[part], has_constant) * roots[part], mode="r")
                ),
                len(given),
                size,
            )
            turn, change = orthogonal_directions(triangles), standard.change(has_constant)
            columns = np.empty((turn.shape[1], len(given)))

            def turn_rows(part: slice) -> None:
                columns[:, part] = turn.T @ standard.of_rows(given[part], has_constant).T

            map_blocks(turn_rows, len(given), size)
        back = np.linalg.solve(change.T, turn / (turn**2).sum(axis=0)).T
        return replace(self, features=columns.T, change=change @ turn, back=back)

    def every(self, step: int) -> Problem:
        """The problem of every row whose number is a multiple of `step`."""
        return replace(
            self,
            features=self.features[::step],
            targets=self.targets[::step],
            weights=self.weights[::step],
            offset=self.offset[::step],
            counts=self.counts[::step],
            trials=None if self.trials is None else self.trials[::step],
        )

    def means(self, coefficients: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(self.link.inverse(self.features @ coefficients + self.offset))

    def expand(self, coefficients: np.ndarray) -> Expansion:
        """Half the deviance, its gradient, and the Fisher information; inf where a mean leaves the family."""
        size = len(coefficients)
        rows = block_rows((2 * size,))
        with one_thread(len(self.features) > rows), np.errstate(all="ignore"):
            parts = map_blocks(lambda part: self._expand_block(coefficients, part), len(self.features), rows)
        if any(part is None for part in parts):
            return Expansion(np.inf, np.zeros(size), np.eye(size))
        value, gradient, hessian = (sum(part[place] for part in parts if part is not None) for place in range(3))
        return Expansion(float(value), np.asarray(gradient), np.asarray(hessian))

    def _expand_block(self, coefficients: np.ndarray, part: slice) -> tuple[float, np.ndarray, np.ndarray] | None:
        features, targets, weights = self.features[part], self.targets[part], self.weights[part]
        scores = features @ coefficients + self.offset[part]
        means = np.asarray(self.link.inverse(scores))
        if not self.response.holds(means):
            return None
        derivative = np.asarray(self.link.derivative(scores))
        slope = weights * derivative / self.response.variance(means)
        bend = slope * derivative
        value = 0.5 * float(weights @ self.response.deviance(targets, means))
        gradient = features.T @ (slope * (means - targets))
        found = value, gradient, (features * bend[:, None]).T @ features
        return found if all(np.isfinite(part).all() for part in found) else None

    def row_gradient(self, coefficients: np.ndarray, row: int) -> np.ndarray:
        """The gradient of one row, for stochastic descent."""
        found = self._expand_block(coefficients, slice(row, row + 1))
        if found is None:
            raise InvalidData(
                f"at {coefficients.round(4).tolist()} row {row} has no mean in the family: take shorter steps, or"
                " another start"
            )
        return found[1]


def read_problem(  # noqa: PLR0913, PLR0917
    family: Any,
    inputs: Any,
    targets: Any,
    basis: Any,
    link: Any,
    offset: Any,
    exposure: Any,
    trials: Any,
    successes: Any,
    weights: Any,
) -> Problem:
    """The rows, checked."""
    response, chosen = as_response(family, successes), check_basis(basis)
    rows, linked = read_rows(inputs, targets, weights), as_link(link, response.canonical)
    if trials is not None and family is not Binomial:
        raise InvalidData("trials= is for jt.Binomial only")
    number = read_trials(trials, len(rows.targets)) if family is Binomial else None
    if number is None:
        response.check_targets(rows.targets)
    elif not ((rows.targets >= 0) & (rows.targets <= number) & (rows.targets == np.floor(rows.targets))).all():
        raise InvalidData("targets of a binomial are whole numbers from 0 to the trials of their row")
    return Problem(
        family,
        response,
        linked,
        chosen,
        chosen.features(rows.inputs),
        rows.targets if number is None else rows.targets / number,
        rows.weights if number is None else rows.weights * number,
        read_offset(offset, exposure, len(rows.targets), linked),
        rows.weights,
        number,
        None if successes is None else float(successes),
        rows.names,
    )


def first_point(problem: Problem, start: Any) -> tuple[np.ndarray, Expansion]:
    """The start as given, or least squares of linked targets that are drawn to their mean, which has a likelihood."""
    size = problem.features.shape[1] if problem.back is None else problem.back.shape[1]
    tries: Iterable[np.ndarray]
    if start is not None:
        given = check_array(start, "start", ndim=1)
        if given.shape != (size,) or not np.isfinite(given).all():
            raise InvalidData(f"start is a list of {size} finite numbers, one for each feature")
        tries = [given if problem.back is None else problem.back @ given]
    else:
        middle = float(problem.weights @ problem.targets / problem.weights.sum())
        drawn = (0.5 * (problem.targets + middle), np.full(len(problem.targets), middle))
        tries = (solve_linked(problem, means) for means in drawn)
    for point in tries:
        here = problem.expand(point) if np.isfinite(point).all() else None
        if here is not None and np.isfinite(here.value):
            return point, here
    raise InvalidData(
        f"no start was found at which all rows have means of a {problem.family.__name__} with the link"
        f" {problem.link.name!r}: give start=, coefficients at which they have"
    )


def solve_linked(problem: Problem, means: np.ndarray) -> np.ndarray:
    """The coefficients whose scores are closest to the links of these means.

    They come from products of the features, which are orthonormal, or nearly so where rows have trials.
    """
    size = block_rows((2 * problem.features.shape[1],))
    with np.errstate(all="ignore"):
        scores = np.asarray(problem.link.function(means)) - problem.offset
    if not np.isfinite(scores).all():
        return np.full(problem.features.shape[1], np.nan)

    def multiply(part: slice) -> tuple[np.ndarray, np.ndarray]:
        features = problem.features[part]
        heavy = features * problem.weights[part, None]
        return heavy.T @ features, heavy.T @ scores[part]

    with one_thread(len(scores) > size):
        parts = map_blocks(multiply, len(scores), size)
    squares, products = (np.sum([part[place] for part in parts], axis=0) for place in range(2))
    return np.asarray(np.linalg.lstsq(squares, products, rcond=None)[0])
