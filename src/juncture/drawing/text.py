"""Text in a picture: how wide it is about, how it is cut, and how it is written into XML."""

from __future__ import annotations

import re
import unicodedata

FONT = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
ELLIPSIS = "…"
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
