"""The cuts of a variable as text, kept as a property named `juncture_cuts` by formats that have properties."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.base.intervals import as_number
from juncture.base.values import short
from juncture.errors import InvalidModel
from juncture.variables import Variable

KEY = "juncture_cuts"


def cuts_text(variable: Variable) -> str | None:
    """The cuts between spaces, each as the same double; None for a variable without."""
    return None if variable.cuts is None else " ".join(map(repr, variable.cuts))


def property_text(variable: Variable) -> str | None:
    """`juncture_cuts = 18.0 65.0`; None for a variable without cuts."""
    text = cuts_text(variable)
    return None if text is None else f"{KEY} = {text}".strip()


def read_cuts(text: str | None) -> list[float] | None:
    """The cuts in a text; None without a text."""
    try:
        return None if text is None else [as_number(word) for word in text.split()]
    except ValueError as error:
        raise InvalidModel(f"the cuts of a variable are numbers between spaces; found {short(str(text))!r}") from error


def find_cuts(properties: Iterable[str]) -> str | None:
    """The text of the cuts among the properties of a variable; None where there are none."""
    pairs = (text.partition("=") for text in properties)
    return next((cuts for key, equals, cuts in pairs if equals and key.strip() == KEY), None)
