"""Files made of blocks, `keyword head { statement; statement; }`: what BIF, NET, DSC and DNE share.

The text of a file is read without comments, its quoted strings put out of the way. After `shield`, each brace,
bracket, comma and semicolon in the text is structure: a quoted string that is not a plain word is replaced by a NUL,
a number and a NUL, and `Source.unshield` gives it back. Line ends stay, so an offset into the text still gives the
line of the file. The time is linear in the length.

Bytes that are not UTF-8 may stand where nothing is read: in comments, and in quoted strings that no reader asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from juncture.errors import FormatError, InvalidModel

KEYWORD = re.compile(r"[^\s({]*")


class Block(NamedTuple):
    """A block by its words, and by offsets into the text: where it starts, and its body."""

    keyword: str
    head: str
    offset: int
    body: int
    end: int


def blocks(source: Source, start: int = 0) -> Iterator[Block]:
    """Every block of the file from an offset on; anything else between them is refused."""
    text, position = source.text, skip_space(source.text, start)
    while position < len(text):
        opening = text.find("{", position)
        if opening < 0:
            raise source.error(
                f"expected a block, that is a word and '{{'; found {source.excerpt(text[position:])}", position
            )
        closing = closing_brace(text, opening + 1)
        if closing < 0:
            head = source.excerpt(text[position:opening])
            raise source.error(f"the file ends inside the block {head}; expected '}}'", position)
        keyword, head = split_keyword(text[position:opening])
        yield Block(keyword, head, position, opening + 1, closing)
        position = skip_space(text, closing + 1)


def check_keyword(source: Source, block: Block | None, keywords: Sequence[str]) -> None:
    expected = " or ".join(map(repr, keywords))
    if block is None:
        raise FormatError(f"the file is empty; expected {expected}", line=1)
    if block.keyword not in keywords:
        raise source.error(f"expected {expected}, found {source.excerpt(block.keyword)}", block.offset)


def closing_brace(text: str, position: int) -> int:
    """The offset of the brace that closes the one before this position, or -1."""
    depth = 1
    while (end := text.find("}", position)) >= 0:
        depth += text.count("{", position, end) - 1
        if depth == 0:
            return end
        position = end + 1
    return -1


def split_keyword(text: str) -> tuple[str, str]:
    """The first word, which a bracket also ends, and the rest."""
    keyword = KEYWORD.match(text)[0]  # type: ignore[index]  # it matches any text
    return keyword, text[len(keyword) :].strip()


def statements(source: Source, block: Block) -> Iterator[tuple[int, str]]:
    """The offset and text of every statement in a block's body; each must end with a semicolon."""
    text, position = source.text, block.body
    while (end := text.find(";", position, block.end)) >= 0:
        statement = text[position:end].strip()
        if statement:
            yield position, statement
        position = end + 1
    rest = text[position : block.end]
    if rest and not rest.isspace():
        raise source.error(f"expected ';' after {source.excerpt(rest)}", position)


def read_name(source: Source, block: Block) -> str:
    """The one name in the head of a block."""
    words = block.head.split(None, 1)
    if len(words) != 1 or "," in words[0]:
        found = f"found {source.excerpt(block.head)}" if words else "found none"
        raise source.error(
            f"expected one name after {block.keyword!r}, in quotes if it has spaces; {found}", block.offset
        )
    return source.unshield(words[0], block.offset)


PLAIN = re.compile(r'[^\s"\\\x00{}\[\]();,|]+')
SPACE = re.compile(r"\s*")
SHIELDED = re.compile(r"\x00[0-9]+\x00")
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what `surrogateescape` makes of such bytes
REFUSED_BYTES = "the file is not UTF-8 text; save it in that encoding"
SHOWN = 60
C_CLOSINGS = {  # texts with escapes, and the comments of C++
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL),
    "//": re.compile(r"[^\n]*+"),
    "/*": re.compile(r".*?\*/", re.DOTALL),
}


class Source(NamedTuple):
    """A file's text, what stands in it for each quoted string that is not a plain word, and the reverse."""

    text: str
    shields: Mapping[str, str]
    strings: Mapping[str, str]

    def line(self, offset: int) -> int:
        """The line of the first thing at or after this offset."""
        return self.text.count("\n", 0, skip_space(self.text, offset)) + 1

    def error(self, message: str, offset: int) -> FormatError:
        return FormatError(message, line=self.line(offset))

    def unshield(self, word: str, offset: int) -> str:
        """The text that a word of the shielded text stands for."""
        if "\0" not in word:
            return word
        if word not in self.strings:
            raise self.error(f"expected one word or one quoted text, found {self.excerpt(word)}", offset)
        if NOT_UTF8.search(self.strings[word]):
            raise self.error(REFUSED_BYTES, offset)
        return self.strings[word]

    def excerpt(self, text: str) -> str:
        """The beginning of a piece of the file, for messages."""
        start = SHIELDED.sub(lambda match: f'"{self.strings[match[0]]}"', text.strip()[: 4 * SHOWN])
        words = NOT_UTF8.sub("\ufffd", " ".join(start.replace("\0", "").split()))
        return repr(words[:SHOWN] + "…" if len(words) > SHOWN else words)

    @contextmanager
    def locate_errors(self, offset: int) -> Iterator[None]:
        """Errors of constructors and those without a line become errors of the line at this offset."""
        try:
            yield
        except InvalidModel as error:
            raise self.error(str(error), offset) from error
        except FormatError as error:
            if error.line is not None:
                raise
            raise self.error(error.message, offset) from error


def skip_space(text: str, position: int) -> int:
    """The offset of the first thing at or after this one that is not white space."""
    return SPACE.match(text, position).end()  # type: ignore[union-attr]  # it matches any text


def read_source(data: bytes, closings: Mapping[str, re.Pattern[str]]) -> Source:
    """The shielded text of a file; bytes outside of comments and quoted strings must be UTF-8."""
    source = shield(data.decode("utf-8-sig", "surrogateescape"), closings)
    wrong = NOT_UTF8.search(source.text)
    if wrong:
        raise FormatError(REFUSED_BYTES, line=source.text.count("\n", 0, wrong.start()) + 1)
    return source


def shield(text: str, closings: Mapping[str, re.Pattern[str]]) -> Source:
    """The text with comments blanked and quoted strings replaced.

    `closings` gives, for a quote and for each mark that opens a comment, the pattern of the text up to its end.
    """
    if "\0" in text:
        raise FormatError(
            "the file holds a NUL character, so it is not text", line=text.count("\n", 0, text.index("\0")) + 1
        )
    if not any(mark in text for mark in closings):
        return Source(text, {}, {})
    stand_ins = StandIns()

    def replace(match: re.Match[str]) -> str:
        if match.lastindex:
            what = f"quoted text is {unclosed(closings)}" if match[0] == '"' else "comment is never closed"
            raise FormatError(f"this {what}", line=text.count("\n", 0, match.start()) + 1)
        return stand_ins[match[0]]

    shielded = join_closings(closings).sub(replace, text)
    shields = {content: word.strip() for content, word in stand_ins.words.items() if "\0" in word}
    strings = {word: content for content, word in shields.items()}
    return Source(shielded, shields, strings)


class StandIns(dict[str, str]):
    """What stands for each quoted string and for each comment of a file, with its line ends."""

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[str, str] = {}

    def __missing__(self, found: str) -> str:
        word = word_for(found[1:-1], self.words) if found[0] == '"' else " "
        self[found] = word + "\n" * found.count("\n")
        return self[found]


def join_closings(closings: Mapping[str, re.Pattern[str]]) -> re.Pattern[str]:
    """One pattern of all that is shielded; its one group is a mark whose text has no end."""
    whole = [f"{re.escape(mark)}(?:{closing.pattern})" for mark, closing in closings.items()]
    return re.compile("|".join([*whole, f"({'|'.join(map(re.escape, closings))})"]), re.DOTALL)


def unclosed(closings: Mapping[str, re.Pattern[str]]) -> str:
    """What is wrong with a quoted string without an end: some formats allow line ends in it."""
    return "never closed" if closings['"'].match('\n"') else "not closed on its line"


def word_for(content: str, words: dict[str, str]) -> str:
    """What stands for a quoted string: a plain word for itself, else a number between two NULs."""
    if content not in words:
        plain = (
            PLAIN.fullmatch(content) and "//" not in content and "/*" not in content and not NOT_UTF8.search(content)
        )
        words[content] = f" {content} " if plain else f" \0{len(words)}\0 "
    return words[content]
