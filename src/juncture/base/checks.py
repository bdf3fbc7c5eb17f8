"""Checks of arguments: an argument of the wrong kind raises an error whose one sentence names the rule.

Every function returns the argument in the form in which the library uses it. `what` is the name of the argument in the
sentence, and `error` the class of the error.
"""

from __future__ import annotations

import math
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from juncture.base.values import short
from juncture.errors import InvalidData, JunctureError

SHORTENER = reprlib.Repr()  # of long lists it shows the beginning, without writing out the rest
SHORTENER.maxlist = SHORTENER.maxtuple = SHORTENER.maxdict = SHORTENER.maxset = 12
SHORTENER.maxstring = SHORTENER.maxlong = SHORTENER.maxother = 80


def shown(value: object) -> str:
    """The value as a message shows it: in one short line; a large object only by its class.

    >>> shown([1, 2]), shown(math)
    ('[1, 2]', 'a module')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    plain = isinstance(value, str | bytes | bool | int | float | complex | list | tuple | dict | set | range | None)
    text = " ".join(SHORTENER.repr(value).split()) if plain else f"{article(type(value).__name__)}"
    return short(text)


def article(noun: str) -> str:
    """The noun with `a` or `an`."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def check_kind(
    value: Any, kinds: type | tuple[type, ...], what: str, *, error: type[JunctureError] = InvalidData
) -> Any:
    """The value, which must be an instance of one of these classes.

    >>> check_kind(3, dict, "the evidence")
    Traceback (most recent call last):
    juncture.errors.InvalidData: the evidence must be a dict; got 3
    """
    if isinstance(value, kinds):
        return value
    names = [article(kind.__name__) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    raise error(f"{what} must be {' or '.join(names)}; got {shown(value)}")


def check_mapping(value: Any, what: str) -> Mapping[Any, Any]:
    """A mapping, as of names to values."""
    if not isinstance(value, Mapping):
        raise InvalidData(f"{what} must be a mapping, such as a dict; got {shown(value)}")
    return value


def check_function(value: Any, what: str) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(value):
        raise InvalidData(f"{what} must be a function; got {shown(value)}")
    return value


def check_choice(value: Any, choices: Iterable[Any], what: str, *, error: type[JunctureError] = InvalidData) -> Any:
    """One of a few words (or None, where that is among them).

    >>> check_choice("raise", ("warn", "raise"), "on_impossible")
    'raise'
    """
    known = tuple(choices)
    if is_one_of(value, known):
        return value
    words = " or ".join(f'"{word}"' if isinstance(word, str) else repr(word) for word in known)
    raise error(f"{what} must be {words}; got {shown(value)}")


def is_one_of(value: Any, words: Iterable[Any]) -> bool:
    """Whether a value is one of a few words; an array or a list never is."""
    return isinstance(value, str | None) and value in tuple(words)


def check_count(value: Any, what: str, *, least: int = 0, error: type[JunctureError] = InvalidData) -> int:
    """A whole number of at least `least`, as an int.

    >>> check_count(3, "k", least=1)
    3
    """
    if not is_count(value, least):
        raise error(f"{what} must be a whole number of at least {least}; got {shown(value)}")
    return operator.index(value)


def is_count(value: Any, least: int = 0) -> bool:
    """Whether it is a whole number, also one of NumPy, of at least `least`."""
    try:
        return not isinstance(value, type) and operator.index(value) >= least
    except TypeError:
        return False


def check_number(
    value: Any,
    what: str,
    *,
    above: float | None = None,
    least: float = -math.inf,
    below: float | None = None,
    most: float = math.inf,
    finite: bool = False,
    error: type[JunctureError] = InvalidData,
) -> float:
    """A single number, not NaN, within the ends, as a float.

    >>> check_number(0.5, "the level", above=0, below=1)
    0.5
    """
    number = as_float(value)
    inside = least <= number <= most and (above is None or number > above) and (below is None or number < below)
    if not inside or (finite and not math.isfinite(number)):
        ends = [f"above {above:g}" if above is not None else f"of at least {least:g}" if least > -math.inf else ""]
        ends += [f"below {below:g}" if below is not None else f"of at most {most:g}" if most < math.inf else ""]
        rule = " and ".join(end for end in ends if end)
        kind = "a finite number" if finite else "a number"
        raise error(f"{what} must be {kind}{' ' if rule else ''}{rule}; got {shown(value)}")
    return number


def as_float(value: Any) -> float:
    """A number of any kind as a float; NaN for everything else."""
    is_one = isinstance(value, Real) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "biuf"
    )
    try:
        return float(value) if is_one else math.nan
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_iterable(values: Any, what: str, *, error: type[JunctureError] = InvalidData) -> list[Any]:
    """The items of an iterable as a list; a text, whose items would be letters, is refused."""
    if isinstance(values, str | bytes):
        raise error(f"{what} must be a list; got {shown(values)}: write [{shown(values)}]")
    try:
        return list(values)
    except TypeError:
        raise error(f"{what} must be a list; got {shown(values)}") from None


def is_iterable(value: Any) -> bool:
    """Whether a value can be iterated; an array without axes claims to be iterable but is not."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and value.ndim == 0)


def check_tuples(
    values: Any, length: int, what: str, *, error: type[JunctureError] = InvalidData
) -> list[tuple[Any, ...]]:
    """A list of tuples of the given length, as in [("n × 2", ["a", "b"])]."""
    listed = check_iterable(values, what, error=error)
    items = [tuple(item) if is_iterable(item) and not isinstance(item, str) else () for item in listed]
    for item, given in zip(items, listed, strict=True):
        if len(item) != length:
            raise error(f"{what} must be a list whose items hold {length} things each; got {shown(given)}")
    return items


def check_flag(value: Any, what: str) -> bool:
    """True or False; 1 and 0 are accepted too."""
    if not isinstance(value, bool | int | np.bool_) or value not in (0, 1):
        raise InvalidData(f"{what} must be True or False; got {shown(value)}")
    return bool(value)


def check_counts(value: Any, what: str) -> int | list[int]:
    """A whole number of at least 0, or a list of them."""
    if not is_iterable(value) or isinstance(value, str | bytes):
        return check_count(value, what)
    return [check_count(number, what) for number in value]


def check_array(
    values: Any, what: str, *, ndim: int | None = None, error: type[JunctureError] = InvalidData
) -> np.ndarray:
    """Numbers as an array of floats, with `ndim` axes if that is given."""
    try:
        given = np.asarray(values)
        array = given.astype(np.float64, copy=False) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None or ndim not in (None, array.ndim):
        kind = (
            "numbers" if ndim is None else "a number" if ndim == 0 else "a list of numbers" if ndim == 1 else "a matrix"
        )
        raise error(f"{what} must be {kind}; got {shown(values)}")
    return array


def central_levels(confidence: Any) -> tuple[float, float]:
    """The probabilities below the two ends of a central interval, which holds this much between them.

    >>> central_levels(0.5)
    (0.25, 0.75)
    """
    inside = check_number(confidence, "confidence", above=0, below=1)
    return 0.5 - inside / 2, 0.5 + inside / 2


def check_index(array: np.ndarray, index: Any, what: str) -> np.ndarray:
    """The entries at an index in the sense of NumPy: a whole number, a slice, a list or a tuple of these."""
    try:
        return np.asarray(array[index])
    except (IndexError, TypeError, ValueError, OverflowError):
        raise InvalidData(
            f"{what} has a whole number from 0 to {len(array) - 1} as its index; got {shown(index)}"
        ) from None


def check_positions(values: Any, size: int, what: str) -> np.ndarray:
    """Whole numbers below `size`, or down to -size, counted from the end; an array without axes for a single one."""
    try:
        positions = np.asarray(values)
    except ValueError:  # a ragged list
        positions = np.empty((0, 0))
    is_whole = positions.dtype.kind in "iu" or positions.size == 0
    if (
        positions.ndim > 1
        or not is_whole
        or (positions.size and not (-size <= positions.min() <= positions.max() < size))
    ):
        raise InvalidData(f"{what} has a whole number from 0 to {size - 1}; got {shown(values)}")
    return positions.astype(np.int64)


def check_path(path: Any) -> Path:
    """The path of a file."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidData(f"the path of a file must be a text or a pathlib.Path; got {shown(path)}")
    if not str(path):
        raise InvalidData("the name of a file is empty; give its path")
    if "\0" in str(path):
        raise InvalidData(f"the path {str(path)!r} holds a NUL character, which no name of a file can hold")
    return Path(path)
