"""Simple objects of wrong kinds, and whether a call that is given one leaks an error that nobody wrote."""

from __future__ import annotations

import datetime as dt
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn

import juncture as jt

if TYPE_CHECKING:
    from support.public_calls import Call

WRITERS = tuple(str(Path(module.__file__).parent) for module in (jt, sklearn))  # whose `raise` is on purpose


class Odd:
    """A class that can be made of anything."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass


def give_nothing(*_arguments: Any, **_options: Any) -> None:
    return None


WRONG: dict[str, Any] = {
    "None": None, "True": True, "0": 0, "3": 3, "-1": -1, "1.5": 1.5, "nan": float("nan"), "inf": float("inf"),
    "1e-200": 1e-200, "1e300": 1e300, "1j": 1j, "'text'": "text", "''": "", "b'x'": b"x", "[]": [], "[1]": [1],
    "[0.0]": [0.0], "[None]": [None], "['a']": ["a"], "[[]]": [[]], "[[1, 2], [3]]": [[1, 2], [3]], "{}": {},
    "{'a': 1}": {"a": 1}, "{1: 2}": {1: 2}, "()": (), "('a', 'b', 'c')": ("a", "b", "c"), "set()": set(),
    "object()": object(), "a function": give_nothing, "a class": Odd, "a date": dt.date(2020, 1, 1),
    "range(2)": range(2),
    "an array of text": np.array(["a", "b"]), "an array of objects": np.array([None, {}], dtype=object),
    "an array without axes": np.array(2.0), "an empty array of three axes": np.zeros((2, 0, 3)),
    "an array of dates": np.array(["2020-01-01"], dtype="datetime64[D]"), "an iterator": iter(()),
    "a Variable": jt.Variable("a", 2), "a Factor": jt.Factor([jt.Variable("a", 2)], [1, 2]), "a Gaussian":
    jt.Gaussian(), "a family": jt.Gaussian, "a hidden Markov model": jt.HiddenMarkovModel([1.0], [[1.0]], [[1.0]]),
    "a graph": jt.DirectedGraph(), "a mixture": jt.Mixture([1.0], jt.Gaussian([0.0], 1.0)),
    "no factors": jt.FactorGraph([]), "a dataset": jt.Dataset({"a": [1]}), "a network": jt.example("fuel"),
}  # fmt: skip


def leak_of(call: Call, parameter: str, name: str) -> str | None:
    """How the call with a wrong object ends in other than an answer or a sentence; None if it does not."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            repr(call.run(**{parameter: WRONG[name]}))
    except Exception as error:  # noqa: BLE001  what it is, is the question
        return None if is_on_purpose(error) else f"{call.name}({parameter}={name}): {described(error)}"
    return None


def is_on_purpose(error: Exception) -> bool:
    """One of the library, a TypeError or ValueError of some `raise`, or what the system says of a file by its name."""
    if isinstance(error, OSError):
        return error.filename is not None
    if len(str(error).split()) < 4:
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    is_raised = last.filename.startswith(WRITERS) and "raise" in (last.line or "")
    return isinstance(error, jt.JunctureError) or (isinstance(error, TypeError | ValueError) and is_raised)


def described(error: Exception) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(WRITERS[0])]
    place = f"{Path(frames[-1].filename).relative_to(WRITERS[0])}:{frames[-1].lineno}" if frames else "the test"
    return f"{type(error).__name__} at {place}: {' '.join(str(error).split())[:100]}"
