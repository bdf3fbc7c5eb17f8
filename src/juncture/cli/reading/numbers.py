"""Numbers on the command line, each with the sentence that refuses what is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import typer


def whole_number(least: int = 0) -> Callable[[Any], int]:
    """The parser of whole numbers of at least `least`."""

    def parse(text: Any) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        return check_least(number, least, text, f"a whole number of at least {least}")

    return parse


def real_number(least: float = -math.inf) -> Callable[[Any], float]:
    """The parser of finite numbers of at least `least`."""

    def parse(text: Any) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        return check_least(number, least, text, "a number" + ("" if least == -math.inf else f" of at least {least:g}"))

    return parse


UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def seconds(text: Any) -> float:
    """A time such as 10s, 500ms or 2min, in seconds; a number without a unit is in seconds."""
    unit = next((unit for unit in UNITS if str(text).endswith(unit)), "")
    try:
        number = float(str(text).removesuffix(unit)) * UNITS.get(unit, 1.0)
    except ValueError:
        number = math.nan
    return check_least(number, 0.0, text, "a time such as 10s, 500ms or 2min")


def check_least(number: Any, least: float, text: Any, what: str) -> Any:
    if not (math.isfinite(number) and number >= least):
        raise typer.BadParameter(f"it must be {what}; got {str(text)!r}")
    return number
