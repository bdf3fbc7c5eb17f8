"""Graphs as text: chains such as `a -> b <- c`, separated by semicolons or line ends."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from juncture.errors import InvalidModel

TOKEN = re.compile(
    r"""
    (?P<space>[^\S\n]+) | (?P<end>[;\n]) | (?P<arrow>->|<-|--) |
    (?P<bare>[\w.]+) | "(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<unknown>.)
    """,
    re.VERBOSE | re.DOTALL,
)
BARE = re.compile(r"[\w.]+")
SHOWN = 10


class Word(NamedTuple):
    """A name or an arrow, and the line it stands in."""

    text: str
    is_arrow: bool
    line: int


class Link(NamedTuple):
    """An edge with the arrow it is written with: `->` or `--`."""

    tail: str
    arrow: str
    head: str


def parse_chains(text: str, arrows: Collection[str]) -> tuple[list[Link], list[str]]:
    """The edges in the order written, and all names in the order in which they first appear."""
    links: list[Link] = []
    nodes: dict[str, None] = {}
    for chain in chains(text):
        check_chain(chain, arrows)
        names = [word.text for word in chain[::2]]
        nodes.update(dict.fromkeys(names))
        for left, arrow, right in zip(names, chain[1::2], names[1:], strict=False):
            links.append(Link(right, "->", left) if arrow.text == "<-" else Link(left, arrow.text, right))
    return links, list(nodes)


def chains(text: str) -> Iterator[list[Word]]:
    """The words of each chain that has any."""
    chain: list[Word] = []
    line = 1
    for token in TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "unknown":
            raise InvalidModel(
                f"line {line} of the graph: cannot read {token[0]!r}; "
                "put names with spaces or special characters between double quotes"
            )
        if kind == "end" and chain:
            yield chain
            chain = []
        elif kind == "quoted":
            chain.append(Word(re.sub(r"(?s)\\(.)", r"\1", token["quoted"]), False, line))
        elif kind in {"bare", "arrow"}:
            chain.append(Word(token[0], kind == "arrow", line))
        line += token[0].count("\n")
    if chain:
        yield chain


def check_chain(chain: list[Word], arrows: Collection[str]) -> None:
    """Names and arrows alternate, from a name to a name, and the arrows are of the right kind."""
    for position, word in enumerate(chain):
        if word.is_arrow and word.text not in arrows:
            raise InvalidModel(
                f"line {word.line} of the graph: {word.text!r} is no edge of this kind of graph; "
                f"use {' or '.join(arrows)}"
            )
        if word.is_arrow and (position % 2 == 0 or position == len(chain) - 1):
            raise InvalidModel(f"line {word.line} of the graph: {word.text!r} must stand between two names")
        if not word.is_arrow and position % 2 == 1:
            raise InvalidModel(
                f"line {word.line} of the graph: an arrow or ';' is missing before {word.text!r}; "
                "put names with spaces between double quotes"
            )


def clauses(links: Iterable[Link], nodes: Iterable[str]) -> Iterator[str]:
    """One short text for each edge, then one for each isolated node."""
    linked: set[str] = set()
    for tail, arrow, head in links:
        linked.update((tail, head))
        yield f"{quote_name(tail)} {arrow} {quote_name(head)}"
    yield from (quote_name(node) for node in nodes if node not in linked)


def quote_name(name: str) -> str:
    """The name as `parse` reads it, between quotes only where needed."""
    if BARE.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def path_text(names: list[str], arrow: str) -> str:
    """`a -> b -> c`, with an ellipsis in the middle of a long path."""
    words = [quote_name(name) for name in names]
    shown = words if len(words) <= 2 * SHOWN else [*words[:SHOWN], "…", *words[-SHOWN:]]
    return f" {arrow} ".join(shown)


def dot_text(kind: str, nodes: Iterable[str], links: Iterable[Link]) -> str:
    """A `digraph` or `graph` with every node, then every edge, in their order."""
    lines = [f"{kind} {{"]
    lines += [f"  {dot_name(node)};" for node in nodes]
    lines += [f"  {dot_edge(kind, *link)};" for link in links]
    return "\n".join([*lines, "}", ""])


def dot_edge(kind: str, tail: str, arrow: str, head: str) -> str:
    """An edge in its kind of graph; in a `digraph` one without direction is an arrow without a head."""
    if kind == "digraph" and arrow == "--":
        return f"{dot_name(tail)} -> {dot_name(head)} [dir=none]"
    return f"{dot_name(tail)} {arrow} {dot_name(head)}"


def dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
