"""The XML reader is safe and bounded, and tells the line of what it refuses."""

from __future__ import annotations

import pytest

from juncture.errors import FormatError
from juncture.formats.xml import MAX_DEPTH, MAX_TOKEN, read_xml
from support.processor_time import takes_at_most


def test_elements_know_their_lines_and_texts():
    head = b'<?xml version="1.0"?>\n<!DOCTYPE Net [<!ELEMENT Net ANY>]>\n'
    root = read_xml(head + b'<Net>a<!-- no -->b\n<Sub Key="1">c&lt;&#65;</Sub></Net>', "net")

    assert (root.name, root.line, root.text) == ("net", 3, "ab\n")
    (child,) = root.children
    assert (child.name, child.line, child.attributes, child.text) == ("sub", 4, {"key": "1"}, "c<A")


def test_defaults_of_the_document_type_are_not_filled_in():
    root = read_xml(b'<!DOCTYPE a [<!ATTLIST a kind CDATA "secret">]><a/>', "a")

    assert root.attributes == {}


@pytest.mark.parametrize(
    ("document", "line", "message"),
    [
        (b'<!DOCTYPE a [\n<!ENTITY b "c">]><a>&b;</a>', 2, "entity 'b'"),
        (b'<!DOCTYPE a [\n<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', 2, "entity 'b'"),
        (b'<!DOCTYPE a [\n<!ENTITY % b "c"> %b;]><a/>', 2, "entity 'b'"),
        (b"<!DOCTYPE a [\n%b;]><a/>", 2, "entity 'b'"),
        (b"<a>\n&nbsp;</a>", 2, "undefined entity"),
        (b'<!DOCTYPE a [\n<!NOTATION n SYSTEM "x">]><a/>', 2, "notation 'n'"),
        (b'<!DOCTYPE a SYSTEM "a.dtd"><a/>', 1, "external file"),
        (b'<!DOCTYPE a PUBLIC "-//A//B" "a.dtd" []><a/>', 1, "external file"),
        (b"", 1, "no element found"),
        (b"   \n ", 2, "no element found"),
        (b"<a>\n<b>", 2, "no element found"),
        (b"<a>\n<b></a>", 2, "mismatched tag"),
        (b"<a>\n</a><a/>", 2, "junk after document element"),
        (b"<a/>\n\x00", 2, "not well-formed"),
        (b"\x7fELF\x02\x01\x01\x00", 1, "not well-formed"),
        (b"<a>\n\x01</a>", 2, "not well-formed"),
        (b"<a x='1' x='2'/>", 1, "duplicate attribute"),
        (b"<b/>", 1, "<b> is the outermost element; it must be <a>"),
        (b'<?xml version="1.0" encoding="rot13"?><a/>', 1, "encoding 'rot13'"),
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', 1, "encoding 'utf-7'"),
        (b'<?xml version="1.0" encoding="utf-16"?><a/>', 1, "encoding specified in XML declaration is incorrect"),
        (b'<?xml version="1.0" encoding="us-ascii"?><a>\xe9</a>', 1, "not well-formed"),
        (b"<a>\n\xe9</a>", 2, "not well-formed"),
        ('<?xml version="1.0" encoding="utf-8"?><a/>'.encode("utf-16"), 1, "encoding"),
        (b"<a>" * (MAX_DEPTH + 1), 1, f"nested more than {MAX_DEPTH} deep"),
        (b"<a " + b" ".join(b'x%d=""' % i for i in range(10_000)) + b"/>", 1, "10,000 attributes"),
        (b"<!DOCTYPE a [<!ATTLIST a " + b" ".join(b'x%d CDATA ""' % i for i in range(300)) + b">]><a/>", 1, "256"),
    ],
)
def test_what_is_refused_has_its_line(document, line, message):
    with pytest.raises(FormatError, match=message) as refused:
        read_xml(document, "a")
    assert refused.value.line == line


def test_a_billion_laughs_are_refused_at_the_first():
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    document = f'<!DOCTYPE a [\n<!ENTITY l0 "lol">{levels}]><a>&l9;</a>'.encode()
    with pytest.raises(FormatError, match="entity 'l0' is declared or used") as refused:
        read_xml(document, "a")
    assert refused.value.line == 2


@pytest.mark.parametrize(
    "encoded",
    [
        '<?xml version="1.0" encoding="ISO-8859-1"?><a>Größe</a>'.encode("latin-1"),
        '<?xml version="1.0" encoding="latin-1"?><a>Größe</a>'.encode("latin-1"),
        '<?xml version="1.0" encoding="windows-1252"?><a>Größe</a>'.encode("cp1252"),
        '<?xml version="1.0" encoding="UTF-16"?><a>Größe</a>'.encode("utf-16"),
        '<?xml version="1.0" encoding="UTF-8"?><a>Größe</a>'.encode("utf-8-sig"),
        "<a>Größe</a>".encode(),
        b'<?xml version="1.0" encoding="US-ASCII"?><a>Gr&#xf6;&#223;e</a>',
    ],
)
def test_declared_encodings_are_read(encoded):
    assert read_xml(encoded, "a").content == "Größe"


@pytest.mark.parametrize(
    ("head", "repeated", "tail"),
    [
        (b"<a ", b"x" * 30, b"/>"),
        (b"<a><!--", b"x" * 30, b""),
        (b"<a x='", b"x" * 30, b""),
        (b"", b" " * 30, b""),
        (b"<a>", b"<b>", b""),
    ],
    ids=["tag", "comment", "attribute", "blanks", "nesting"],
)
def test_a_hundred_megabytes_of_one_thing_are_refused_at_once(head, repeated, tail):
    document = head + repeated * MAX_TOKEN + tail
    with takes_at_most(5), pytest.raises(FormatError):
        read_xml(document, "a")


def test_long_text_takes_linear_time():
    with takes_at_most(5):
        root = read_xml(b"<a>" + b"0.5\n" * 2_000_000 + b"</a>", "a")

    assert len(root.text) == 8_000_000
