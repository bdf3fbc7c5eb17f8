"""`Shown`: what a notebook shows of a value that has no picture and no table of its own."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

MAX_LETTERS = 200  # of a text in a table


class Shown:
    """Shown in notebooks as its text, with a table of those of its public fields that are single numbers or texts."""

    def _repr_html_(self) -> str:
        return shown_html(self)


def shown_html(value: Any) -> str:
    """The text of a value, and a table of its single fields."""
    text = escape(repr(value))
    words = f"<pre>{text}</pre>" if "\n" in text else f"<p><code>{text}</code></p>"
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(cell)}</td></tr>" for name, cell in single_fields(value))
    return f"{words}<table><tbody>{rows}</tbody></table>" if rows else words


def single_fields(value: Any) -> list[tuple[str, str]]:
    """The public fields of a value that are single numbers or short texts, as text."""
    known = fields(value) if is_dataclass(value) else ()
    names = [field.name for field in known if field.repr] or list(getattr(value, "_fields", ()))
    found = ((name, getattr(value, name, None)) for name in names if not name.startswith("_"))
    return [(name.replace("_", " "), single_text(part)) for name, part in found if is_single(part)]


def is_single(part: object) -> bool:
    is_number = isinstance(part, int | float) or (type(part).__module__ == "numpy" and not getattr(part, "shape", (1,)))
    return is_number or (isinstance(part, str) and 0 < len(part) <= MAX_LETTERS)


def single_text(part: Any) -> str:
    """A number to six digits; yes and no.

    >>> single_text(0.123456789), single_text(True), single_text(1200), single_text("kalman")
    ('0.123457', 'yes', '1,200', 'kalman')
    """
    if isinstance(part, bool):
        return "yes" if part else "no"
    if isinstance(part, str):
        return part
    return f"{part:,}" if isinstance(part, int) else f"{float(part):.6g}"
