"""The edges that `juncture learn` prints, and their strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from juncture.cli.printing.output import table
from juncture.cli.printing.progress import show_progress
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.text import quote_name
from juncture.learning.structure.data import Rows
from juncture.learning.structure.strength import EdgeStrengths, edge_strengths


def find_strengths(data: Rows, method: str, samples: int, seed: int, options: Mapping[str, Any]) -> EdgeStrengths:
    with show_progress(f"learning from {samples:,} bootstrap samples", "share") as progress:
        return edge_strengths(data, method, samples=samples, rng=seed, progress=progress, **options)


def list_strengths(graph: DirectedGraph, shares: EdgeStrengths) -> list[dict[str, Any]]:
    """The strength of each edge of the graph, and the share of its direction in it."""
    places = {name: place for place, name in enumerate(shares.names)}
    listed = []
    for tail, head in graph.edges:
        pair = places[tail], places[head]
        strength = float(shares.joined[pair])
        direction = float(shares.directed[pair]) / strength if strength else None
        listed.append({"edge": [tail, head], "strength": strength, "direction": direction})
    return listed


def print_edges(out: Any, edges: Sequence[Sequence[str]], strengths: Sequence[Mapping[str, Any]] | None) -> None:
    """The edges, with their strengths if they were asked for."""
    if strengths is None:
        for tail, head in edges:
            out.print(f"  {quote_name(tail)} -> {quote_name(head)}")
        return
    columns = table("", "edge", "strength", "this direction", numeric=("strength", "this direction"))
    for found in strengths:
        tail, head = found["edge"]
        direction = "" if found["direction"] is None else f"{found['direction']:.2f}"
        columns.add_row(f"{quote_name(tail)} -> {quote_name(head)}", f"{found['strength']:.2f}", direction)
    out.print(columns)
