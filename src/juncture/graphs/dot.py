"""Graphs in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable

from juncture.graphs.edges import Edge


def dot_text(kind: str, arrow: str, nodes: Iterable[str], edges: Iterable[Edge]) -> str:
    """A `digraph` or `graph` with every node, then every edge, in their order."""
    lines = [f"{kind} {{"]
    lines += [f"  {dot_name(node)};" for node in nodes]
    lines += [f"  {dot_name(tail)} {arrow} {dot_name(head)};" for tail, head in edges]
    return "\n".join([*lines, "}", ""])


def dot_name(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
