"""Files made of blocks, `keyword head { statement; statement; }`: what BIF, NET and DSC share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from juncture.errors import FormatError
from juncture.formats.blocks.source import Source, skip_space

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
