"""Learning a noisy OR from complete rows: Newton's method, for its log-likelihood is concave.

With θ = -log(1 - probability) ≥ 0 for each cause and for the leak, and η the sum over those that are active,
log P(off) = -η and log P(on) = log(1 - exp(-η)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.errors import InvalidData
from juncture.learning.conditionals.row_counts import RowCounts

MAX_STEPS = 500
CERTAIN = 40.0  # θ from which 1 - exp(-θ) is 1
LEAST, MOST = 1e-140, 700.0  # η between which nothing leaves the range of doubles
ROUNDING = 1e-15  # of the log-likelihood
RIDGE = 1e-12  # keeps a cause of which nothing is known where it is


def noisy_or_probabilities(part: RowCounts) -> np.ndarray:
    """The probabilities of the largest likelihood: the leak's, then those of the parents."""
    if not part.weights.sum() > 0:
        raise InvalidData(f"nothing is known of {part.child.name!r}: its noisy causes need at least one row")
    active = np.concatenate([np.ones((len(part.rows), 1)), part.rows[:, :-1]], axis=1)
    likelihood = Likelihood(active, part.rows[:, -1] == 1, part.weights)
    theta = np.full(active.shape[1], np.log(2.0))
    for _ in range(MAX_STEPS):
        moved = likelihood.improved(theta)
        if moved is None:
            break
        theta = moved
    return np.asarray(-np.expm1(-theta))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The log-likelihood of θ (leak and causes), and its derivatives."""

    active: np.ndarray  # (row, leak and causes): 0 or 1
    is_on: np.ndarray  # (row,)
    weights: np.ndarray  # (row,)

    def value(self, theta: np.ndarray) -> float:
        eta = self.eta(theta)
        return float(self.weights @ np.where(self.is_on, np.log(-np.expm1(-eta)), -eta))

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(the gradient, the curvature: the Hessian with its sign turned)."""
        odds = 1.0 / np.expm1(self.eta(theta))  # P(off) / P(on)
        first = np.where(self.is_on, self.weights * odds, -self.weights)
        second = np.where(self.is_on, self.weights * odds * (1.0 + odds), 0.0)
        return self.active.T @ first, (self.active * second[:, None]).T @ self.active

    def eta(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(self.active @ theta, LEAST, MOST))

    def improved(self, theta: np.ndarray) -> np.ndarray | None:
        """Towards where Newton leads, halved until the value rises; None where it leads no further than rounding."""
        gradient, curvature = self.slopes(theta)
        step = bounded_newton(theta, gradient, curvature) - theta
        value = self.value(theta)
        if gradient @ step <= ROUNDING * max(1.0, abs(value)):
            return None
        for halvings in range(40):
            moved = theta + step / 2**halvings
            if self.keeps_possible(theta, moved) and self.value(moved) > value:
                return np.asarray(moved)
        return None

    def keeps_possible(self, theta: np.ndarray, moved: np.ndarray) -> bool:
        """Whether no row that is on loses nearly all its causes: from there Newton would come back by doubling only."""
        told = self.is_on & (self.weights > 0)
        return bool((self.eta(moved)[told] >= 0.1 * self.eta(theta)[told]).all())


def bounded_newton(theta: np.ndarray, gradient: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """The largest point of gradient · d - ½ d · curvature · d, with 0 ≤ θ + d ≤ `CERTAIN`: least squares in bounds."""
    from scipy.optimize import lsq_linear

    own = np.diag(curvature)
    scale = np.sqrt(np.where(own > 0, own, 1.0))
    scaled = curvature / np.outer(scale, scale) + RIDGE * np.eye(len(theta))
    root = np.linalg.cholesky(scaled)
    goal = np.linalg.solve(root, scaled @ (theta * scale) + gradient / scale)
    found = lsq_linear(root.T, goal, bounds=(0.0, CERTAIN * scale), method="bvls", tol=1e-15)
    return np.asarray(found.x / scale)
