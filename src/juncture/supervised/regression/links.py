"""Links: the function g with g(mean) = w·φ(x) of a generalised linear model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from juncture.base.checks import check_choice, check_function
from juncture.base.values import Value

Function = Callable[[np.ndarray], np.ndarray]


class Link(Value):
    """A link function with its inverse, and the derivative of the inverse.

    Parameters
    ----------
    name
        What it is called.
    function
        g: from means to scores.
    inverse
        From scores to means. Where it leaves the means of the family, the likelihood is 0.
    derivative
        Of the inverse, by the score.

    Examples
    --------
    >>> cube = Link("cube root", np.cbrt, lambda score: score**3, lambda score: 3 * score**2)
    >>> float(cube.inverse(np.array(2.0)))
    8.0
    """

    _fields = ("name", "function", "inverse", "derivative")
    name: str
    function: Function
    inverse: Function
    derivative: Function

    def __init__(self, name: str, function: Function, inverse: Function, derivative: Function) -> None:
        functions = {"function": function, "inverse": inverse, "derivative": derivative}
        self._set(name=str(name), **{key: check_function(value, key) for key, value in functions.items()})

    def __repr__(self) -> str:
        return f"Link({self.name!r})"


def ones(score: np.ndarray) -> np.ndarray:
    return np.ones_like(score)


def as_given(values: np.ndarray) -> np.ndarray:
    return values


def reciprocal(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values)


def minus_squared_reciprocal(score: np.ndarray) -> np.ndarray:
    return -np.divide(1.0, score**2)


def squared_reciprocal(mean: np.ndarray) -> np.ndarray:
    return np.divide(1.0, mean**2)


def reciprocal_root(score: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(score))


def reciprocal_root_slope(score: np.ndarray) -> np.ndarray:
    return -0.5 * np.power(score, -1.5)


def doubled(score: np.ndarray) -> np.ndarray:
    return 2 * score


def logistic_slope(score: np.ndarray) -> np.ndarray:
    return np.asarray(expit(score) * expit(-score))


def normal_density(score: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * score**2) / np.sqrt(2 * np.pi)


def log_log_complement(mean: np.ndarray) -> np.ndarray:
    return np.log(-np.log1p(-mean))


def complement_of_doubly_exponential(score: np.ndarray) -> np.ndarray:
    return -np.expm1(-np.exp(score))


def complement_slope(score: np.ndarray) -> np.ndarray:
    return np.exp(score - np.exp(score))


LINKS = {
    link.name: link
    for link in (
        Link("identity", as_given, as_given, ones),
        Link("log", np.log, np.exp, np.exp),
        Link("logit", logit, expit, logistic_slope),
        Link("probit", ndtri, ndtr, normal_density),
        Link("complementary log-log", log_log_complement, complement_of_doubly_exponential, complement_slope),
        Link("inverse", reciprocal, reciprocal, minus_squared_reciprocal),
        Link("inverse squared", squared_reciprocal, reciprocal_root, reciprocal_root_slope),
        Link("square root", np.sqrt, np.square, doubled),
    )
}


def as_link(link: Any, canonical: str) -> Link:
    """A link by its name, or itself; None is the canonical link of the family."""
    if isinstance(link, Link):
        return link
    return LINKS[canonical if link is None else check_choice(link, LINKS, "link")]
