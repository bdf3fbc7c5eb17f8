"""SQUAREM: EM that looks where its last two steps were heading, and goes further (Varadhan and Roland 2008)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.learning.expectation_maximization import Believed, NetworkEM
from juncture.learning.starts import rebuilt
from juncture.models.bayesian_network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class AcceleratedEM(NetworkEM):
    """Two steps of EM, then a leap along them, which is taken back when it does not raise the objective."""

    def step(self, state: Believed) -> Believed:
        once = super().step(state)
        twice = super().step(once)
        leap = extrapolated(state.model, once.model, twice.model)
        if leap is None:
            return twice
        reached = self.believed(leap)
        return reached if reached.objective > twice.objective else twice


def extrapolated(start: BayesianNetwork, once: BayesianNetwork, twice: BayesianNetwork) -> BayesianNetwork | None:
    """θ - 2αr + α²v for all tables, with r = θ₁ - θ, v = θ₂ - 2θ₁ + θ, α = -‖r‖/‖v‖; None when that leads nowhere."""
    tables = [
        [part.values for part in model.conditionals if isinstance(part, Conditional)] for model in (start, once, twice)
    ]
    steps = [(b - a, c - 2 * b + a) for a, b, c in zip(*tables, strict=True)]
    length, bend = (np.sqrt(sum(float(np.sum(step[place] ** 2)) for step in steps)) for place in range(2))
    if bend == 0.0 or length <= bend:
        return None
    alpha = -length / bend
    moved = iter([a - 2 * alpha * r + alpha**2 * v for a, (r, v) in zip(tables[0], steps, strict=True)])
    parts = [
        Conditional(part.child, part.parents, onto_simplex(next(moved), part.values))
        if isinstance(part, Conditional)
        else part
        for part in twice.conditionals
    ]
    return rebuilt(twice, parts)


def onto_simplex(values: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Rows that sum to 1 again: what fell below zero is drawn back towards where EM stood."""
    values = np.where(values > 0, values, 0.1 * otherwise)
    return np.asarray(values / values.sum(axis=-1, keepdims=True))
