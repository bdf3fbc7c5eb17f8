"""Laplace's approximation: a Gaussian with the mode of the posterior and its curvature there, and the evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_number, shown
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.family import Family
from juncture.numerics.curvature import find_maximum, hessian
from juncture.numerics.stable import LOG_TWO_PI


@dataclass(frozen=True)
class LaplaceApproximation:
    """A Gaussian in place of exp(log_joint), with the log of the integral that it implies."""

    family: Family
    log_evidence: float
    mode: Any
    information: np.ndarray  # minus the second derivatives at the mode


def laplace_approximation(log_joint: Callable[[Any], Any], start: Any) -> LaplaceApproximation:
    """The approximation of the posterior ∝ exp(log_joint(θ)) around the maximum uphill of `start`.

    It depends on the parametrisation: take one in which θ may be any number, a logit for a probability or the logarithm
    of a rate, with the Jacobian in the prior.

    Parameters
    ----------
    log_joint
        log p(data, θ), a function of θ.
    start
        Where the search for the mode begins: a number, or a vector. θ has the same shape.

    Returns
    -------
    LaplaceApproximation
        The Gaussian, the mode, the information there, and the log-evidence.

    Examples
    --------
    >>> found = laplace_approximation(lambda mean: -0.5 * (mean - 3.0) ** 2 / 4, 0.0)
    >>> round(found.mode, 6), round(found.family.variance, 6), round(found.log_evidence, 6)
    (3.0, 4.0, 1.612086)
    """
    if not callable(log_joint):
        raise InvalidModel(f"log_joint is a function that gives log-densities; got {log_joint!r}")
    first = check_array(start, "a start", error=InvalidModel)
    if first.ndim > 1 or not first.size or not np.isfinite(first).all():
        raise InvalidModel(f"a start is a finite number or a vector of these; got {start!r}")

    def value(point: np.ndarray) -> float:
        try:
            found = log_joint(float(point[0]) if not first.ndim else point)
        except OverflowError:
            return np.nan
        if np.size(found) != 1:
            raise InvalidModel(f"log_joint gives a number for each point; it gave {shown(found)}")
        return float(check_array(found, "what log_joint gives", error=InvalidModel).reshape(()))

    with np.errstate(all="ignore"):  # a function without a maximum is followed as far as numbers go
        mode = _polish(value, find_maximum(value, np.atleast_1d(first)))
        information = -hessian(value, mode)
    covariance = np.linalg.inv(_check_information(information))
    evidence = laplace_evidence(value(mode), information)
    if not first.ndim:
        return LaplaceApproximation(Gaussian(mode[0], covariance[0, 0]), evidence, float(mode[0]), information)
    from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian

    return LaplaceApproximation(MultivariateGaussian(mode, covariance), evidence, mode, information)


def laplace_evidence(log_joint: float, information: Any) -> float:
    """Laplace's approximation of the log-evidence: log p(data, θ̂) + (k/2) log 2π - ½ log |information|.

    Parameters
    ----------
    log_joint
        log p(data, θ̂) at the mode θ̂, which includes the log prior.
    information
        Minus the second derivatives of log p(data, θ) at θ̂, (k, k), of all data together; a number for one parameter.
        At the maximum likelihood estimate in natural parameters it is n ∇²A(θ̂).

    Returns
    -------
    float
        log p(data), approximately.

    Examples
    --------
    >>> round(laplace_evidence(log_joint=-3.0, information=4.0), 6)
    -2.774209
    """
    matrix = np.atleast_2d(check_array(information, "the information"))
    if matrix.ndim != 2 or not matrix.size or matrix.shape[0] != matrix.shape[1]:
        raise InvalidData(f"the information is a square matrix; got an array of the shape {matrix.shape}")
    _check_information(matrix)
    height = check_number(log_joint, "the log-density at the mode")
    return float(height + 0.5 * len(matrix) * LOG_TWO_PI - 0.5 * np.linalg.slogdet(matrix)[1])


def _check_information(information: np.ndarray) -> np.ndarray:
    if not (np.isfinite(information).all() and np.linalg.eigvalsh(information)[0] > 0):
        raise Unsupported("this is no maximum with a curvature in every direction: Laplace's approximation needs one")
    return information


def _polish(value: Callable[[np.ndarray], float], mode: np.ndarray) -> np.ndarray:
    """One Newton step: a search by comparing heights ends half the digits away from the mode."""
    information = -hessian(value, mode)
    steps = np.diag(1e-2 / np.sqrt(np.diag(_check_information(information))))
    slope = np.array([_slope(value, mode, step) for step in steps])
    better = mode + np.linalg.solve(information, slope)
    return better if value(better) >= value(mode) - 1e-9 * abs(value(mode)) else mode


def _slope(value: Callable[[np.ndarray], float], point: np.ndarray, step: np.ndarray) -> float:
    """A central difference, with the error of third order taken out."""
    wide, narrow = ((value(point + part) - value(point - part)) / (2 * part.max()) for part in (step, step / 2))
    return float(4 * narrow - wide) / 3
