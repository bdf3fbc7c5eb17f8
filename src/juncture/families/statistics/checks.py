"""Checks of statistics from a file; their constructors run for every block of data and check nothing."""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.errors import InvalidData, JunctureError, Unsupported
from juncture.families.statistics.known import check_known
from juncture.families.statistics.sample_statistics import Range, Sample
from juncture.families.statistics.statistics import Moments, Statistics

LEAST, MOST = 1e-100, 1e100  # of weights; beyond, products with them would overflow or vanish


def check_statistics(found: Statistics) -> None:
    """Raise InvalidData for statistics that no data of the family can have."""
    if not ((found.weight == 0) | ((found.weight >= LEAST) & (found.weight <= MOST))).all():
        raise InvalidData(f"weights are at least 0, and from {LEAST:g} to {MOST:g} if not 0; got {found.weight}")
    try:
        with np.errstate(all="raise", under="ignore"):
            check_required(found)
            check_kind(found)
            check_numbers(found)
            try_estimate(found)
    except JunctureError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidData(f"these are no statistics of {found.family.__name__}: {error}") from error


def try_estimate(found: Statistics) -> None:
    """Raise whatever error an estimate raises, but not that the estimate does not exist."""
    if not isinstance(found, Sample):  # whose rows were looked at one by one
        with suppress(JunctureError), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # for whoever asks for the estimate
            found.family.estimate(found)


def check_required(found: Statistics) -> None:
    """Raise if a known parameter is unknown to the family, breaks its rule, or is missing."""
    check_known(found.family, found.known)
    if missing := [key for key in found.family.required if key not in found.known]:
        raise InvalidData(f"the statistics of {found.family.__name__} need to know the {missing[0]}")


def check_kind(found: Statistics) -> None:
    """Raise if the class of the statistics, or the length of their total, is not that of a row of the family."""
    if "num_states" in found.known:  # compared first: a row of the family has an entry for each state
        check_total(found, int(np.max(found.known["num_states"])))
    try:
        inside = np.asarray(found.family._support_given(found.known).inside(), float)
    except Unsupported:  # vectors, of which the family alone does not know how long they are
        return
    own: Any = found.family._summarise(inside[None], np.zeros(1), found.known)
    if type(found) is not type(own):
        raise InvalidData(
            f"the statistics of {found.family.__name__} are {type(own).__name__}, not {type(found).__name__}"
        )
    if "total" in own._fields:
        check_total(found, own.total.shape[-1])


def check_total(found: Any, length: int) -> None:
    """Raise if the total does not have so many entries."""
    given = np.shape(getattr(found, "total", ()))
    if given[-1:] != (length,):
        raise InvalidData(f"the total of {found.family.__name__} has {length:,} entries; got the shape {given}")


@singledispatch
def check_numbers(found: Any) -> None:
    """Raise for arrays of wrong shapes, and for numbers that are no sums over data."""
    check_shape(found.total.shape[:-1], found.batch_shape, "total")
    check_shape(found.log_base.shape, found.batch_shape, "log_base")
    check_finite(found.total, "total")
    check_finite(found.log_base, "log_base")
    if "log_base_rest" in found._fields:  # statistics of several columns have none of their own
        check_shape(found.log_base_rest.shape, found.batch_shape, "log_base_rest")
        check_finite(found.log_base_rest, "log_base_rest")


@check_numbers.register
def _(found: Moments) -> None:
    dimension = found.center.shape[len(found.batch_shape) :]
    check_shape(found.center.shape[: len(found.batch_shape)], found.batch_shape, "center")
    check_shape(found.residual.shape, found.center.shape, "residual")
    check_shape(found.scatter.shape, (*found.batch_shape, *dimension, *dimension), "scatter")
    for name in ("center", "residual", "scatter"):
        check_finite(getattr(found, name), name)
    squares = np.diagonal(found.scatter, axis1=-2, axis2=-1) if dimension else found.scatter
    if not (squares >= 0).all():
        raise InvalidData("the scatter is a sum of squares, of at least 0")


@check_numbers.register
def _(found: Sample) -> None:
    check_shape(found.values.shape[: found.weights.ndim], found.weights.shape, "values")
    if not ((found.weights >= 0) & (found.weights <= MOST)).all():
        raise InvalidData(f"weights are from 0 to {MOST:g}")
    found.family._check_rows(found.values, found.known)


@check_numbers.register
def _(found: Range) -> None:
    for name in ("low", "high"):
        check_shape(getattr(found, name).shape, found.batch_shape, name)
        check_finite(getattr(found, name), name)
    if not (found.low <= found.high).all():
        raise InvalidData("the smallest value lies above the largest")


def check_shape(shape: tuple[int, ...], wanted: tuple[int, ...], name: str) -> None:
    if shape != wanted:
        raise InvalidData(f"the {name} has the shape {shape} where the weights have {wanted}")


def check_finite(numbers: np.ndarray, name: str) -> None:
    if not (np.abs(numbers) <= MOST**2).all():
        raise InvalidData(f"the {name} must be numbers of at most {MOST**2:g}")
