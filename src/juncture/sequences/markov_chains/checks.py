"""Checks of the arguments of a Markov chain: whole numbers, labels, distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_count
from juncture.errors import InvalidModel
from juncture.numerics import as_probabilities
from juncture.sequences.markov_chains.labels import ChainLabels, shape_of
from juncture.variables import Variable

MAX_ORDER = 30  # arrays have 32 axes at least, and further ones would not fit any memory


def as_order(number: Any) -> int:
    order = check_count(number, "the order of a Markov chain", least=1)
    if order > MAX_ORDER:
        raise InvalidModel(
            f"the order of a Markov chain is at most {MAX_ORDER}, as its table has an axis for each state of the"
            f" history; got {order}"
        )
    return order


def as_labels(states: Any, transition: Any) -> ChainLabels:
    """The labels given, or 0, 1, … for as many states as the table has."""
    if isinstance(states, ChainLabels):
        return states
    if states is not None:
        return ChainLabels(Variable("state", states))
    shape = shape_of(transition)
    if not shape or not shape[-1]:
        raise InvalidModel(
            "a Markov chain needs a transition table of at least one state, such as [[0.9, 0.1], [0.5, 0.5]]"
        )
    return ChainLabels(Variable("state", shape[-1]))


def as_distribution(given: Any, labels: ChainLabels, order: int, what: str) -> np.ndarray:
    """A distribution of the first `order` states, as it is given, or a point mass at the given states."""
    shape = (labels.num_states,) * order
    if order == 1 and labels.is_label(given):
        return point_mass((labels.code(given),), shape)
    if order > 1 and shape_of(given) == (order,):
        return point_mass(tuple(labels.code(label) for label in given), shape)
    if shape_of(given) != shape:
        raise InvalidModel(
            f"{what} is a state or a table of the shape {shape}, of the first {order} states"
            if order > 1
            else f"{what} is a state or {shape[0]} probabilities; got {given!r}"
        )
    return as_probabilities(np.ravel(given), (labels.num_states**order,), name=what).reshape(shape)


def point_mass(position: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    distribution = np.zeros(shape)
    distribution[position] = 1.0
    distribution.setflags(write=False)
    return distribution
