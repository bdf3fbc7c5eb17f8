"""Random members of any family, from the constraints it declares for its parameters; near the edges too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from juncture.families.constraints import Constraint
from juncture.families.family import Family

DIMENSIONS = st.integers(1, 4)
Strategy = st.SearchStrategy[Any]


def magnitudes_from(*edges: float, low: float, high: float) -> Strategy:
    """Numbers at the edges or of every magnitude from 10^low to 10^high."""
    return st.one_of(st.sampled_from(edges), st.floats(low, high).map(lambda power: float(10.0**power)))


@st.composite
def signed(draw: Callable[..., Any], magnitudes: Strategy) -> float:
    return float(draw(st.sampled_from([-1.0, 1.0])) * draw(magnitudes))


POSITIVE = magnitudes_from(1e-12, 1e-6, 1.0, 2.0, 1e6, 1e12, low=-3, high=3)
REAL = signed(magnitudes_from(0.0, 1e-12, 1.0, 1e8, 1e12, low=-3, high=4))
PROBABILITY = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1e-12, 1 - 1e-12]), st.floats(0, 1))
COUNT = st.one_of(st.sampled_from([0, 1, 2, 1000]), st.integers(0, 60))


def vectors_of(entries: Strategy) -> Callable[[int], Strategy]:
    return lambda dimension: st.lists(entries, min_size=dimension, max_size=dimension).map(np.array)


def as_simplex(weights: np.ndarray) -> np.ndarray:
    total = weights.sum()
    return weights / total if total > 0 else np.eye(len(weights))[0]


def simplex(dimension: int) -> Strategy:
    entries = st.one_of(st.sampled_from([0.0, 0.0, 1e-12, 1.0]), st.floats(0.01, 1))
    return vectors_of(entries)(dimension).map(as_simplex)


@st.composite
def positive_definite(draw: Callable[..., Any], dimension: int) -> np.ndarray:
    """Q diag(s) Qᵀ with scales s from 1e-3 to 1e3, or nearly singular."""
    scales = draw(vectors_of(magnitudes_from(1.0, 1e-6, low=-3, high=3))(dimension))
    rotation = np.linalg.qr(np.random.default_rng(draw(st.integers(0, 99))).normal(size=(dimension, dimension)))[0]
    matrix = (rotation * scales) @ rotation.T
    return (matrix + matrix.T) / 2


# the rule of a constraint -> the values it allows, for vectors and matrices of a dimension
BY_RULE: dict[str, Callable[[int], Strategy]] = {
    "a finite number": lambda d: REAL,
    "a positive finite number": lambda d: POSITIVE,
    "a finite number of at least 0": lambda d: st.one_of(st.just(0.0), POSITIVE),
    "a number from 0 to 1": lambda d: PROBABILITY,
    "a number above 0 and at most 1": lambda d: PROBABILITY.filter(bool),
    "a whole number of at least 0": lambda d: COUNT,
    "a vector of finite numbers": vectors_of(REAL),
    "a vector of positive finite numbers": vectors_of(POSITIVE),
    "a vector of numbers of at least 0 that sum to 1 within 1e-9": simplex,
    "a symmetric positive definite matrix": positive_definite,
}


def allowed(constraint: Constraint, dimension: int) -> Strategy:
    if constraint.rule not in BY_RULE:
        raise LookupError(f"no strategy for parameters that are {constraint.rule}: add one to BY_RULE")
    return BY_RULE[constraint.rule](dimension)


# -- where parameters constrain each other: the draws of all -> parameters that go together


def ordered(drawn: dict[str, Any], dimension: int) -> dict[str, Any]:
    low = drawn["low"]
    return {"low": low, "high": low + max(abs(drawn["high"]), 1e-6, 1e-9 * abs(low))}


def enough_degrees(drawn: dict[str, Any], dimension: int) -> dict[str, Any]:
    return drawn | {"degrees": dimension - 1 + max(drawn["degrees"], 1e-3)}


def drawn_from_a_population(drawn: dict[str, Any], dimension: int) -> dict[str, Any]:
    population = drawn["population"]
    return drawn | {name: min(drawn[name], population) for name in drawn if name != "population"}


TOGETHER: dict[str, Callable[[dict[str, Any], int], dict[str, Any]]] = {
    "Uniform": ordered,
    "Wishart": enough_degrees,
    "InverseWishart": enough_degrees,
    "NormalInverseWishart": enough_degrees,
    "Hypergeometric": drawn_from_a_population,
}


@st.composite
def members(draw: Callable[..., Any], family: type[Family]) -> Any:
    """A single member, its parameters anywhere that their constraints allow."""
    dimension = draw(DIMENSIONS)
    drawn = {name: draw(allowed(rule, dimension)) for name, rule in family.parameters.items()}
    fitted = TOGETHER.get(family.__name__, lambda values, _: values)(drawn, dimension)
    return family(**fitted)
