"""Text in a picture: how wide it is about, how it is cut, and how it is written into XML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
ELLIPSIS = "…"
MIDNIGHT = " 00:00:00"
REPLACEMENT = "\ufffd"
# XML 1.0 allows tab, line feed, carriage return and everything from the space up but surrogates and two noncharacters.
FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
WHITESPACE = re.compile(r"[\t\n\r\x0b\x0c\x85\u2028\u2029]+")
NARROW, BROAD = frozenset("iljtfrI.,:;'|!()[]{} "), frozenset("mwMW@%—…")
JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def text_width(text: str, size: float) -> float:
    """About how many pixels the text takes, on the generous side, in a sans-serif font of this size."""
    return size * sum(_advance(character) for character in text)


def _advance(character: str) -> float:
    if unicodedata.combining(character) or character in JOINERS:
        return 0.0
    if character in NARROW:
        return 0.36
    if character in BROAD or unicodedata.east_asian_width(character) in "WF":
        return 1.02
    return 0.74 if character.isupper() else 0.61


def shorten_to_width(text: str, size: float, room: float) -> str:
    """The text on one line, cut with an ellipsis if it does not fit the room.

    >>> shorten_to_width("left ventricular end-diastolic volume", 13, 120)
    'left ventricular…'
    """
    line = WHITESPACE.sub(" ", text)
    if text_width(line, size) <= room:
        return line
    used, end = text_width(ELLIPSIS, size), 0
    while end < len(line) and used + text_width(line[end], size) <= room:
        used += text_width(line[end], size)
        end += 1
    while end and (unicodedata.combining(line[end]) or line[end] in JOINERS or line[end - 1] == "\u200d"):
        end -= 1  # never between a letter and its accents
    return line[:end].rstrip() + ELLIPSIS


def shorten_middle(text: str, size: float, room: float) -> str:
    """The text on one line; if it does not fit the room, an ellipsis is in place of its middle, so that both ends stay.

    >>> shorten_middle("income_before_taxes_2019", 13, 120)
    'income…es_2019'
    """
    line = WHITESPACE.sub(" ", text)
    if text_width(line, size) <= room:
        return line
    start = shorten_to_width(line, size, (room + text_width(ELLIPSIS, size)) / 2)
    end, used = len(line), text_width(start, size)
    while end and used + text_width(line[end - 1], size) <= room:
        end -= 1
        used += text_width(line[end], size)
    while end < len(line) and (unicodedata.combining(line[end]) or line[end] in JOINERS or line[end - 1] == "\u200d"):
        end += 1  # never between a letter and its accents
    return start + line[end:].lstrip()


def shorten_texts(texts: Sequence[str], size: float, room: float, most: float) -> list[str]:
    """Texts cut to the room each; to the larger room `most` where they hold numbers, or would be the same otherwise.

    >>> shorten_texts(["26171.4 – 34488.5", "a long name of a state", "low"], 11, 84, 250)
    ['26171.4 – 34488.5', 'a long name…', 'low']
    """
    cut = [shorten_to_width(text, size, most if has_number(text) else room) for text in texts]
    if len(set(cut)) == len(set(texts)):
        return cut
    return [shorten_middle(text, size, most) for text in texts]


def has_number(text: str) -> bool:
    """Whether a text may be that of a bin or an interval, whose last digits matter."""
    return any(character.isdigit() for character in text)


def format_steps(index: Any, positions: Iterable[int]) -> list[str]:
    """The names of some steps or rows: what an index has there, or numbers; dates at midnight without the time.

    >>> format_steps(None, range(3)), format_steps(["2024-02-28 00:00:00", "2024-02-29 00:00:00"], [1])
    (['0', '1', '2'], ['2024-02-29'])
    """
    if index is None:
        return [str(position) for position in positions]
    texts = [str(index[position]) for position in positions]
    return [text.removesuffix(MIDNIGHT) for text in texts] if all(MIDNIGHT in text for text in texts) else texts


def escape(text: str) -> str:
    r"""Character data of an XML element.

    >>> escape("a<b & \x00")
    'a&lt;b &amp; �'
    """
    clean = FORBIDDEN.sub(REPLACEMENT, text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def quote_attribute(text: str) -> str:
    """An XML attribute value with its quotation marks; line breaks survive."""
    inner = escape(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return f'"{inner}"'


def format_value(value: object) -> str:
    """A state as it is, a number to six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def format_percentage(share: float) -> str:
    """A probability as a percentage that says 0 and 100 only when it is.

    >>> [format_percentage(share) for share in (0.0, 0.0001, 0.125, 0.9999, 1.0)]
    ['0%', '<0.1%', '12.5%', '>99.9%', '100%']
    """
    if share <= 0 or share >= 1:
        return "0%" if share <= 0 else "100%"
    tenths = round(share * 1000)
    if tenths in (0, 1000):
        return "<0.1%" if tenths == 0 else ">99.9%"
    return f"{tenths / 10:.1f}%"
