"""What XMLBIF and XDSL share: XML as a small tree that knows its lines, and the parts of a network in its elements.

The parts are variables, parents and tables. XML is read by expat, with no entities, nothing from outside, and
everything bounded.

An internal DTD of ELEMENT and ATTLIST declarations is accepted and ignored. Names of elements and attributes are
lower-cased, since both formats are found in the wild in either case. So is the XML declaration, before which white
space may stand. Text is written escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np

from juncture.errors import FormatError, InvalidModel, hint
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.formats.cut_points import read_cuts
from juncture.formats.row_repair import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable

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


MAX_PARENTS = 31 if np.__version__.startswith("1.") else 63  # NumPy's limit of axes, less the child's
MAX_HINT = 1000  # beyond as many names or letters, looking for a similar name takes too long
WORD = re.compile(rf"[^{WHITESPACE}]+")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# --- reading ---------------------------------------------------------------------------------------------------------
def words(element: Element) -> Iterator[str]:
    """The text cut at white space, a word at a time."""
    return (match[0] for match in WORD.finditer(element.leaf_text))


def read_numbers(element: Element, count: int) -> np.ndarray:
    """Exactly `count` numbers."""
    try:
        numbers = np.fromiter(map(as_number, islice(words(element), count + 1)), dtype=np.float64)
    except ValueError as error:
        element.fail(f"holds {error}, which is not a number")
    check_count(element, len(numbers), count, "numbers")
    return numbers


def as_number(word: str) -> float:
    try:
        if "_" not in word and word.isascii():  # Python's float takes underscores and foreign digits
            return float(word)
    except ValueError:
        pass
    raise ValueError(shorten(word))


def check_count(element: Element, found: int, expected: int, what: str) -> None:
    if found != expected:
        found = sum(1 for _ in words(element))
        element.fail(f"has {found:,} {what}; the states of the child and its parents call for {expected:,}")


def read_variable(name: str, states: Sequence[str] | None, element: Element, cuts: str | None = None) -> Variable:
    check_distinct(states or (), element, f"gives the variable {shorten(name)} the state")
    try:
        return Variable(name, states, cuts=read_cuts(cuts))
    except InvalidModel as error:
        raise FormatError(str(error), line=element.line) from error


def read_parents(child: str, names: Sequence[str], variables: Mapping[str, Variable], element: Element) -> Scope:
    """The parents by name (or whatever the mapping goes by): known, distinct, and not the child itself."""
    for name in names:
        if name not in variables:
            near = f"; {hint(name, variables)}" if max(len(name), len(variables)) < MAX_HINT else ""
            element.fail(f"names the unknown parent {shorten(name)} of {shorten(child)}{near}")
    if child in names:
        element.fail(f"makes {shorten(child)} its own parent")
    check_distinct(names, element, f"gives {shorten(child)} the parent")
    if len(names) > MAX_PARENTS:
        element.fail(f"gives {shorten(child)} {len(names):,} parents; a table can have at most {MAX_PARENTS}")
    return Scope(variables[name] for name in names)


def read_table(
    child: Variable, parents: Scope, element: Element, rows: RowRepair, *, child_slowest: bool = False
) -> Conditional:
    """P(child | parents) from numbers in which the child varies fastest (or slowest), and of the parents the last."""
    sizes = (*parents.shape, child.num_states)
    what = f"the table of {shorten(child.name)}"
    cells = check_size(sizes, len(element.leaf_text) // 2 + 1, what, line=element.line)
    numbers = read_numbers(element, cells)
    numbers = numbers.reshape(child.num_states, -1).T if child_slowest else numbers
    values = rows.repair(child, parents, numbers, line=element.line)
    return Conditional(child, parents, values)


def check_distinct(texts: Iterable[str], element: Element, what: str) -> None:
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            element.fail(f"{what} {shorten(text)} twice; names must be distinct")
        seen.add(text)


def read_network(conditionals: Iterable[AnyConditional], element: Element) -> BayesianNetwork:
    try:
        return BayesianNetwork(conditionals)
    except InvalidModel as error:  # what is left to be wrong here is a cycle
        raise FormatError(str(error), line=element.line) from error


# --- writing ---------------------------------------------------------------------------------------------------------
def format_element(name: str, text: str, variable: str, attributes: str = "") -> str:
    """`<name>text</name>` with all that is special escaped; white space at the ends is marked as meant."""
    wrong = NOT_XML.search(text)
    if wrong:
        raise FormatError(f"XML cannot hold the character {wrong[0]!r} in {text!r}, of the variable {variable!r}")
    space = ' xml:space="preserve"' if not text or text != text.strip(WHITESPACE) else ""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    return f"<{name}{attributes}{space}>{escaped}</{name}>"


def numbers_text(values: np.ndarray, separator: str) -> str:
    """A line for each row, in which every double reads back as the same bits."""
    rows = values.reshape(-1, values.shape[-1]).tolist()
    return separator.join(" ".join(map(repr, row)) for row in rows)
