"""Text is cut to its room and always becomes well-formed XML."""

import unicodedata
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from juncture.drawing.text import FORBIDDEN, escape, format_percentage, quote_attribute, shorten_to_width, text_width

ANYTHING = st.text(st.characters(codec=None), max_size=40)


@given(ANYTHING)
def test_any_text_survives_as_character_data_and_attribute(text):
    element = ET.fromstring(f"<a b={quote_attribute(text)}>{escape(text)}</a>")  # noqa: S314 - our own text
    expected = FORBIDDEN.sub("\ufffd", text)
    assert (element.text or "") == expected
    assert element.get("b") == expected


@given(ANYTHING, st.floats(20, 300))
def test_fitted_text_fits_and_says_when_it_was_cut(text, room):
    line = shorten_to_width(text, 13, room)
    assert text_width(line, 13) <= room
    assert "\n" not in line
    assert len(line) == len(text) or line.endswith("…") or len(line) < len(text)
    if line.endswith("…") and not text.endswith("…"):
        assert text_width(text, 13) > room


def test_a_cut_keeps_letters_and_accents_together():
    text = unicodedata.normalize("NFD", "ééééééééééééé")
    for room in range(20, 100, 3):
        kept = shorten_to_width(text, 13, room).removesuffix("…")
        assert len(kept) % 2 == 0


def test_wide_characters_are_wide():
    assert text_width("変数", 10) > 1.5 * text_width("ab", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)


def test_percentages_never_round_to_certainty():
    assert format_percentage(1e-9) == "<0.1%"
    assert format_percentage(1 - 1e-9) == ">99.9%"
    assert format_percentage(1 / 3) == "33.3%"
