"""The grammar of DNE files: bodies of fields, `name = value;`, and of blocks, `keyword name { body };`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from juncture.formats.blocks import Block, closing_brace, split_keyword
from juncture.formats.blocks.source import Source, skip_space
from juncture.formats.net.names import unescape

MARK = re.compile(r"[;{]")
LIST = re.compile(r"\(([^()]*)\)")


class Field(NamedTuple):
    name: str
    value: str
    offset: int


def entries(source: Source, start: int, end: int) -> Iterator[Field | Block]:
    """The fields and blocks between two offsets, in order; a value may have braces of its own."""
    text, position = source.text, skip_space(source.text, start)
    while position < end:
        mark = find_mark(source, position, position, end)
        if mark[0] == "{" and "=" not in text[position : mark.start()]:
            keyword, head = split_keyword(text[position : mark.start()])
            closing = find_closing(source, position, mark)
            yield Block(keyword, head, position, mark.end(), closing)
            position = skip_space(text, closing + 1)
            position = skip_space(text, position + 1) if text.startswith(";", position) else position
            continue
        while mark[0] == "{":
            mark = find_mark(source, position, find_closing(source, position, mark) + 1, end)
        name, equals, value = text[position : mark.start()].partition("=")
        if not equals:
            raise source.error(f"expected 'field = value;', found {source.excerpt(name)}", position)
        yield Field(name.strip(), value.strip(), position)
        position = skip_space(text, mark.end())


def find_mark(source: Source, entry: int, position: int, end: int) -> re.Match[str]:
    """The next semicolon or opening brace."""
    mark = MARK.search(source.text, position, end)
    if mark is None:
        raise source.error(f"expected ';' after {source.excerpt(source.text[entry:end])}", entry)
    return mark


def find_closing(source: Source, entry: int, mark: re.Match[str]) -> int:
    closing = closing_brace(source.text, mark.end())
    if closing < 0:
        head = source.excerpt(source.text[entry : mark.start()])
        raise source.error(f"the file ends inside the block {head}; expected '}}'", entry)
    return closing


def read_fields(source: Source, block: Block, wanted: Iterable[str]) -> dict[str, Field]:
    """The wanted fields of a block, each given once at most; others and inner blocks are ignored."""
    found: dict[str, Field] = {}
    for entry in entries(source, block.body, block.end):
        if not isinstance(entry, Field) or entry.name not in wanted:
            continue
        if entry.name in found:
            what = source.excerpt(f"{block.keyword} {block.head}")
            raise source.error(f"{what} has two fields {entry.name!r}; give one", entry.offset)
        found[entry.name] = entry
    return found


def read_list(source: Source, field: Field) -> list[str]:
    """The words of `(a, b, c)`, quoted or not; a comma at the end adds none."""
    match = LIST.fullmatch(field.value)
    if match is None:
        found = source.excerpt(field.value)
        raise source.error(f"expected '{field.name} = (…, …);', found {found}", field.offset)
    if not match[1].strip():
        return []
    words = [word.strip() for word in match[1].split(",")]
    words = words[:-1] if len(words) > 1 and not words[-1] else words
    return [unescape(source.unshield(word, field.offset)) for word in words]
