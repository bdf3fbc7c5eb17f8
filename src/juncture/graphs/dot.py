"""Graphs in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.graphs.text import Link


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
