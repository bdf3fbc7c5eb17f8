"""Cut points part the line into intervals: which of them a number lies in, and what they are called.

Cuts c₁ < c₂ < … make the intervals below c₁, from c₁ up to but not including c₂, …, and from the last cut on.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from numbers import Real
from typing import Any, TypeAlias

from juncture.base.checks import is_iterable, shown
from juncture.errors import InvalidModel, JunctureError

Cuts: TypeAlias = tuple[float, ...]

SHORT = 4  # significant digits of a cut that nothing else asks to be longer
EXACT = 17  # significant digits that tell every double from all others


def as_cuts(given: Any, name: str, error: type[JunctureError]) -> Cuts:
    """The cuts as doubles, after a look at whether they are finite and increase."""
    is_ordered = is_iterable(given) and not isinstance(given, str | bytes | Set | Mapping)
    listed = list(given) if is_ordered else [None]
    try:
        cuts = [float(cut) if isinstance(cut, Real) else math.nan for cut in listed]
    except OverflowError:
        cuts = [math.nan]
    if not all(map(math.isfinite, cuts)) or not all(low < high for low, high in pairwise(cuts)):
        raise error(f"the cuts of {name!r} must be finite numbers, each greater than the last; got {shown(given)}")
    return tuple(cut + 0.0 for cut in cuts)  # -0.0 is 0.0


def as_number(value: Any) -> float:
    """A number, also from its text; Python's digit groups ("1_000") are not numbers here."""
    if isinstance(value, str) and "_" in value:
        raise ValueError(value)
    return float(value)


def is_number_text(text: str) -> bool:
    try:
        as_number(text)
    except ValueError:
        return False
    return True


def find_interval(cuts: Cuts, value: object) -> int | None:
    """The position of the interval that holds a finite number, or the text of one; None for all else.

    >>> [find_interval((29.5, 34.5), value) for value in (-1e9, 29.5, "34", 34.5, float("nan"), "old")]
    [0, 1, 1, 2, None, None]
    """
    if isinstance(value, bool):
        return None
    try:
        number = as_number(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return bisect_right(cuts, number) if math.isfinite(number) else None


def interval_labels(cuts: Sequence[float]) -> list[str]:
    """The intervals in words, with all digits of the cuts.

    >>> interval_labels((29.5, 34.5))
    ['< 29.5', '29.5 – 34.5', '≥ 34.5']
    """
    if not cuts:
        return ["any"]
    texts = [shortest_text(cut) for cut in cuts]
    between = (f"{low} – {high}" for low, high in pairwise(texts))
    return [f"< {texts[0]}", *between, f"≥ {texts[-1]}"]


def check_intervals(labels: Sequence[object], cuts: Cuts, name: str) -> None:
    """One interval more than cuts, each with a label that no number can be mistaken for."""
    if len(labels) != len(cuts) + 1:
        raise InvalidModel(f"variable {name!r} has {len(labels)} states and {len(cuts)} cuts; n cuts make n + 1 states")
    wrong = next((label for label in labels if not isinstance(label, str) or is_number_text(label)), None)
    if wrong is not None:
        raise InvalidModel(
            f"variable {name!r} has cuts and the state {wrong!r}: a number stands for the interval that it lies in, so"
            " that a state must be text that is no number; leave the states out to have them named by the cuts"
        )


def shortest_text(number: float) -> str:
    """The shortest text that reads back as the same double.

    >>> shortest_text(41000.0), shortest_text(0.1), shortest_text(-2e30)
    ('41000', '0.1', '-2e+30')
    """
    return repr(number).removesuffix(".0")


def round_between(low: float, high: float, least: float | None = None, most: float | None = None) -> float:
    """A short number near the middle of two others, greater than the first and at most the second.

    The number may also lie outside, where `least` and `most` allow it.

    >>> round_between(27.0, 32.0), round_between(41012.25, 41380.5), round_between(2019.0, 2020.0)
    (29.5, 41200.0, 2020.0)
    >>> round_between(0.2512341, 0.2512342, least=0.25, most=0.26)
    0.2512
    """
    above, at_most = low if least is None else least, high if most is None else most
    middle = low / 2 + high / 2
    rounded = (float(f"{middle:.{digits}g}") for digits in range(SHORT, EXACT + 1))
    return next((number for number in rounded if above < number <= at_most), high)  # neighbours have no middle


def round_to_width(number: float, width: float) -> float:
    """The number rounded to a hundredth of the width, or less.

    >>> round_to_width(1000000.123456, 0.25), round_to_width(12.3456789, 100.0)
    (1000000.123, 12.35)
    """
    if not number or not width:
        return number
    digits = 3 + math.floor(math.log10(abs(number))) - math.floor(math.log10(width))
    return float(f"{number:.{min(max(SHORT, digits), EXACT)}g}")
