"""Gaussian networks in rational arithmetic: the joint by recursion, conditioned on one variable after another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import juncture as jt

Row = list[Fraction]


@dataclass(frozen=True)
class Oracle:
    """Exact means and covariances given evidence; `log_evidence` is the density over the free coordinates."""

    names: tuple[str, ...]
    mean: Row
    covariance: list[Row]
    log_evidence: float

    def moments(self, *names: str) -> tuple[np.ndarray, np.ndarray]:
        places = [self.names.index(name) for name in names]
        mean = np.array([float(self.mean[place]) for place in places])
        return mean, np.array([[float(self.covariance[row][column]) for column in places] for row in places])


def joint_of(model: jt.BayesianNetwork) -> tuple[tuple[str, ...], Row, list[Row]]:
    """Mean and covariance by the recursions down the network, parents first."""
    names = tuple(model.graph.topological_order())
    mean: Row = []
    covariance: list[Row] = []
    for place, name in enumerate(names):
        part: Any = model[name]
        weights = [Fraction(0)] * place
        if isinstance(part, jt.results.Constant):
            constant, variance = Fraction(float(part.value)), Fraction(0)
        else:
            constant, variance = Fraction(float(part.intercept)), Fraction(float(part.variance))
            for parent, weight in zip(part.parents.names, part.coefficients.tolist(), strict=True):
                weights[names.index(parent)] = Fraction(weight)
        mean.append(constant + sum(w * m for w, m in zip(weights, mean, strict=True)))
        cross = [sum((w * c for w, c in zip(weights, row, strict=True)), Fraction(0)) for row in covariance]
        own = variance + sum(w * c for w, c in zip(weights, cross, strict=True))
        for row, entry in zip(covariance, cross, strict=True):
            row.append(entry)
        covariance.append([*cross, own])
    return names, mean, covariance


def condition(model: jt.BayesianNetwork, evidence: Mapping[str, float], tolerance: float = 1e-9) -> Oracle:
    """Condition in topological order: a variable that earlier ones determine is a test, another has a density."""
    names, mean, covariance = joint_of(model)
    log_evidence = 0.0
    for place, name in enumerate(names):
        if name not in evidence:
            continue
        value = Fraction(float(evidence[name]))
        variance, gap = covariance[place][place], value - mean[place]
        if variance == 0:
            if abs(gap) > tolerance * (abs(value) + abs(mean[place])):
                log_evidence = -math.inf
            continue
        squares = float(gap * gap / variance)
        log_evidence -= 0.5 * (squares + math.log(2 * math.pi) + log_fraction(variance))
        column = [row[place] for row in covariance]
        mean = [m + c * gap / variance for m, c in zip(mean, column, strict=True)]
        covariance = [
            [entry - a * b / variance for entry, b in zip(row, column, strict=True)]
            for row, a in zip(covariance, column, strict=True)
        ]
    return Oracle(names, mean, covariance, log_evidence)


def log_fraction(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)
