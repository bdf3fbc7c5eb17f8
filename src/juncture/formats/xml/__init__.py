"""XML as a small tree that knows its lines: what XMLBIF and XDSL share.

Read by expat, with no entities, nothing from outside, and everything bounded.

An internal DTD of ELEMENT and ATTLIST declarations is accepted and ignored. Names of elements and attributes
are lower-cased, since both formats are found in the wild in either case. So is the XML declaration, before which white
space may stand.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

from juncture.errors import FormatError

MAX_DEPTH = 64
MAX_ELEMENTS = 2**21
MAX_ATTRIBUTES = 64  # per element
MAX_DECLARED_ATTRIBUTES = 256  # in the DTD; expat walks through an element's at each of its tags
MAX_TOKEN = 2**22  # bytes of one tag or comment; expat 2.5 reads a longer one again at each piece
PIECE = 2**20

ENCODINGS = frozenset({"utf-8", "utf-16", "iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii", "windows-1252"})
WHITESPACE = " \t\r\n"
DECLARATION = re.compile(rb"(\s*+)(<\?xml\s[^?>]{0,200}\?>)", re.IGNORECASE)


class Element(NamedTuple):
    """One element: its own text without that of its children, and the line of its start tag."""

    name: str
    line: int
    attributes: dict[str, str]
    children: tuple[Element, ...]
    text: str

    @property
    def leaf_text(self) -> str:
        """The text of an element that has no children."""
        for child in self.children:
            child.fail(f"is not known inside <{self.name}>, which holds text only")
        return self.text

    @property
    def content(self) -> str:
        """The text without surrounding white space, unless xml:space="preserve" says that it matters."""
        if self.attributes.get("xml:space") == "preserve":
            return self.leaf_text
        stripped = self.leaf_text.strip(WHITESPACE)
        if not stripped:
            self.fail("is empty; it must hold a text")
        return stripped

    def all(self, *names: str) -> list[Element]:
        return [child for child in self.children if child.name in names]

    def only(self, name: str) -> Element:
        """The one child of this name."""
        found = self.all(name)
        if len(found) != 1:
            self.fail(f"must have exactly one <{name}>; it has {len(found)}")
        return found[0]

    def attribute(self, name: str) -> str:
        if not self.attributes.get(name):
            self.fail(f'has no {name!r}; give it one, as in <{self.name} {name}="…">')
        return self.attributes[name]

    def check_children(self, allowed: Collection[str]) -> None:
        """Refuse elements of other names, and text between the elements."""
        for child in self.children:
            if child.name not in allowed:
                child.fail(f"is not known inside <{self.name}>; expected are {', '.join(sorted(allowed))}")
        if self.text.strip(WHITESPACE):
            self.fail(f"holds the text {shorten(self.text.strip(WHITESPACE))} where only elements are expected")

    def fail(self, what: str) -> NoReturn:
        raise FormatError(f"<{shorten(self.name, quoted=False)}> {what}", line=self.line)


class OpenElement(NamedTuple):
    """An element whose end tag has not come yet; text is gathered in pieces, for linear time."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[Element]
    pieces: list[str]

    def close(self) -> Element:
        return Element(self.name, self.line, self.attributes, tuple(self.children), "".join(self.pieces))


class TreeBuilder:
    """The handlers of one parse; below all elements on the stack lies the document, whose child is the root."""

    def __init__(self) -> None:
        self.parser = parser = expat.ParserCreate()
        self.stack = [OpenElement("document", 1, {}, [], [])]
        self.num_elements = self.num_declared = 0
        parser.buffer_text = parser.specified_attributes = True
        parser.buffer_size = 2**16
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)  # so that a reference to one is reported
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.CharacterDataHandler = self.characters
        parser.XmlDeclHandler, parser.StartDoctypeDeclHandler = self.declaration, self.doctype
        parser.AttlistDeclHandler = self.attribute_declaration
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self.entity
        parser.NotationDeclHandler = self.notation

    def fail(self, message: str) -> NoReturn:
        raise FormatError(message, line=self.parser.CurrentLineNumber)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.num_elements += 1
        if self.num_elements > MAX_ELEMENTS:
            self.fail(f"the file has more than {MAX_ELEMENTS:,} elements")
        if len(self.stack) > MAX_DEPTH:
            self.fail(f"elements are nested more than {MAX_DEPTH} deep")
        if len(attributes) > MAX_ATTRIBUTES:
            self.fail(f"an element has {len(attributes):,} attributes; at most {MAX_ATTRIBUTES} are expected")
        lowered = {key.lower(): value for key, value in attributes.items()}
        self.stack.append(OpenElement(name.lower(), self.parser.CurrentLineNumber, lowered, [], []))

    def end(self, _name: str) -> None:
        element = self.stack.pop().close()
        self.stack[-1].children.append(element)

    def characters(self, text: str) -> None:
        self.stack[-1].pieces.append(text)

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            self.fail(f"the encoding {shorten(encoding)} is not read; save the file as UTF-8")

    def doctype(self, _name: str, system: str | None, public: str | None, _has_subset: int) -> None:
        if system is not None or public is not None:
            self.fail("the document type names an external file, which is never read; remove SYSTEM or PUBLIC")

    def attribute_declaration(self, *_: Any) -> None:
        self.num_declared += 1
        if self.num_declared > MAX_DECLARED_ATTRIBUTES:
            self.fail(f"the document type declares more than {MAX_DECLARED_ATTRIBUTES} attributes")

    def entity(self, name: str, *_: Any) -> None:
        self.fail(f"the entity {shorten(name)} is declared or used; only &lt; &gt; &amp; &quot; &apos; are expanded")

    def notation(self, name: str, *_: Any) -> None:
        self.fail(f"the notation {shorten(name)} is declared; only ELEMENT and ATTLIST declarations are accepted")


def read_xml(data: bytes, root: str) -> Element:
    """The root element of a document, which must have the name `root`."""
    builder = TreeBuilder()
    try:
        feed(builder, mend_declaration(data))
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FormatError(f"the file is not well-formed XML: {reason}", line=error.lineno) from error
    except UnicodeError as error:
        raise FormatError(f"the text is not in the encoding it declares: {error}") from error
    (found,) = builder.stack[0].children
    if found.name != root:
        found.fail(f"is the outermost element; it must be <{root}>")
    return found


def mend_declaration(data: bytes) -> bytes:
    """The XML declaration first and in lower case, as expat wants it; the lines of all that follows stay the same.

    JavaBayes wrote `<?XML VERSION="1.0"?>`, and other programs white space before it.
    """
    found = None if data.startswith(b"<?xml") else DECLARATION.match(data)
    return found[2].lower() + found[1] + data[found.end() :] if found else data


def feed(builder: TreeBuilder, data: bytes) -> None:
    """Parse all data, refusing a tag or comment so long that it would be read over and over."""
    parser = builder.parser
    view = memoryview(data)
    for start in range(0, len(data), PIECE):
        parser.Parse(view[start : start + PIECE], False)
        if start + PIECE - parser.CurrentByteIndex > MAX_TOKEN:
            builder.fail(f"a single tag or comment is longer than {MAX_TOKEN:,} bytes")
    parser.Parse(b"", True)


def shorten(text: str, limit: int = 60, *, quoted: bool = True) -> str:
    """A text fit for a message, whatever its length."""
    short = text if len(text) <= limit else f"{text[:limit]}…"
    return repr(short) if quoted else short
