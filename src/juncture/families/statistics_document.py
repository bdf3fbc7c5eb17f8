"""Statistics from plain data: `statistics_from_dict` and `statistics_from_json` undo `to_dict` and `to_json`.

Statistics from a file are checked here; their constructors run for every block of data and check nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import singledispatch
from typing import Any

import numpy as np

from juncture.base.checks import check_mapping
from juncture.base.documents.json_text import parse_strictly
from juncture.errors import FormatError, InvalidData, InvalidModel, JunctureError, Unsupported, hint
from juncture.families.family import Family
from juncture.families.registry import COMPOSED, FAMILIES
from juncture.families.statistics.sample_statistics import Range, Sample
from juncture.families.statistics.statistics import Moments, Statistics, check_known

LEAST, MOST = 1e-100, 1e100  # of weights; beyond, products with them would overflow or vanish


def statistics_from_json(text: str) -> Statistics:
    """The statistics that `Statistics.to_json` wrote; a `FormatError` says what is wrong with any other text.

    Parameters
    ----------
    text
        The text of a JSON document.

    Returns
    -------
    Statistics
        The statistics, of the family that the text names.

    Examples
    --------
    >>> import juncture as jt
    >>> counts = jt.Poisson.statistics([2, 0, 3])
    >>> jt.families.statistics_from_json(counts.to_json()) == counts
    True
    """
    document = parse_strictly(text, "statistics")
    if not isinstance(document, dict):
        raise FormatError("statistics are one JSON object")
    try:
        return statistics_from_dict(document)
    except (InvalidData, InvalidModel, Unsupported) as error:
        raise FormatError(str(error)) from error


def statistics_from_dict(document: Mapping[str, Any]) -> Statistics:
    """The statistics that `Statistics.to_dict` wrote."""
    kind, family = _kind_and_family(document)
    names = [name for name in kind._fields if name != "family"]
    if missing := [name for name in names if name not in document and name != "log_base_rest"]:
        raise InvalidData(f"statistics need {', '.join(missing)}")
    try:
        found = kind(family, **{name: _field(name, document[name]) for name in names if name in document})
    except (AttributeError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InvalidData(f"these are no statistics of {family.__name__}: {error}") from error
    check_statistics(found)
    return found


def _kind_and_family(document: Mapping[str, Any]) -> tuple[type[Statistics], type[Family]]:
    """The classes that the entries "kind" and "family" name."""
    known_kinds: list[type[Statistics]] = [Statistics, *Statistics.__subclasses__()]
    kinds, families = {kind.__name__: kind for kind in known_kinds}, FAMILIES | COMPOSED
    kind, family = kinds.get(str(document.get("kind"))), families.get(str(document.get("family")))
    if kind is None or family is None:
        nearest = hint(document.get("kind"), kinds) if kind is None else hint(document.get("family"), families)
        raise InvalidData(
            f"no statistics of the kind {document.get('kind')!r} of a family {document.get('family')!r}; {nearest}"
        )
    return kind, family


def _field(name: str, value: Any) -> Any:
    """The value of one field; the parts of several columns are statistics themselves."""
    if name != "parts":
        return value
    return [statistics_from_dict(check_mapping(part, "the statistics of a column")) for part in value]


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


def check_shape(shape: tuple[int, ...], wanted: tuple[int, ...], name: str) -> None:
    if shape != wanted:
        raise InvalidData(f"the {name} has the shape {shape} where the weights have {wanted}")


def check_finite(numbers: np.ndarray, name: str) -> None:
    if not (np.abs(numbers) <= MOST**2).all():
        raise InvalidData(f"the {name} must be numbers of at most {MOST**2:g}")


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
