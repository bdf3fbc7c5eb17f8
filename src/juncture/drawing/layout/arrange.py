"""Layered layout: from a diagram to boxes, curves and frames with coordinates.

Connected parts are laid out on their own, in layers (Sugiyama), and then packed side by side on shelves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from juncture.drawing.boxes import Box
from juncture.drawing.diagram import Diagram
from juncture.drawing.layout.orientation import components, orient
from juncture.drawing.layout.piece import Part, arrange_part
from juncture.drawing.layout.ranking import longest_path
from juncture.drawing.layout.splines import Curve

PIECE_GAP, LONE_GAP, ASPECT = 28.0, 64.0, 1.7


@dataclass(frozen=True)
class Layout:
    """Where everything is; boxes, curves and frames follow the diagram's nodes, edges and groups."""

    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    frames: tuple[Box, ...]
    width: float
    height: float


def arrange(diagram: Diagram) -> Layout:
    """The diagram with coordinates from (0, 0); x grows to the right, y downwards."""
    boxes: dict[int, Box] = {}
    curves: dict[int, Curve] = {}
    frames: dict[int, Box] = {}
    members = find_parts(diagram)
    pieces = [arrange_part(take_part(diagram, numbers)) for numbers in members]
    is_alone = [len(numbers.nodes) == 1 and not numbers.groups for numbers in members]
    corners = place_parts([(piece.width, piece.height) for piece in pieces], is_alone)
    for numbers, piece, (right, down) in zip(members, pieces, corners, strict=True):
        boxes |= {number: box.move(right, down) for number, box in zip(numbers.nodes, piece.boxes, strict=True)}
        frames |= {number: box.move(right, down) for number, box in zip(numbers.groups, piece.frames, strict=True)}
        for number, curve in zip(numbers.edges, piece.curves, strict=True):
            curves[number] = tuple(point.move(right, down) for point in curve)
    ends = [(right + piece.width, down + piece.height) for piece, (right, down) in zip(pieces, corners, strict=True)]
    return Layout(
        tuple(boxes[number] for number in range(len(diagram.nodes))),
        tuple(curves[number] for number in range(len(diagram.edges))),
        tuple(frames[number] for number in range(len(diagram.groups))),
        max((right for right, _ in ends), default=0.0),
        max((bottom for _, bottom in ends), default=0.0),
    )


@dataclass(frozen=True)
class PartMembers:
    """Which nodes, edges and groups of a diagram make up one part."""

    nodes: list[int]
    edges: list[int]
    groups: list[int]


def find_parts(diagram: Diagram) -> list[PartMembers]:
    """The parts that no edge and no group joins; with rows given there is one, since rows run across."""
    index = diagram.index
    ties = [(index[edge.source], index[edge.target], False) for edge in diagram.edges]
    ties += [(index[group.members[0]], index[name], False) for group in diagram.groups for name in group.members]
    has_rows = any(node.row is not None for node in diagram.nodes)
    whole = list(range(len(diagram.nodes)))
    found = [whole] if has_rows else components(len(diagram.nodes), ties)
    part_of = {node: number for number, nodes in enumerate(found) for node in nodes}
    result = [PartMembers(nodes, [], []) for nodes in found]
    for number, edge in enumerate(diagram.edges):
        result[part_of[index[edge.source]]].edges.append(number)
    for number, group in enumerate(diagram.groups):
        result[part_of[index[group.members[0]]]].groups.append(number)
    return result


def take_part(diagram: Diagram, numbers: PartMembers) -> Part:
    """One part with its own numbering."""
    nodes = [diagram.nodes[number] for number in numbers.nodes]
    index = {node.name: number for number, node in enumerate(nodes)}
    edges = [diagram.edges[number] for number in numbers.edges]
    groups = [diagram.groups[number] for number in numbers.groups]
    links = [(index[edge.source], index[edge.target], edge.directed) for edge in edges]
    members = [frozenset(index[name] for name in group.members) for group in groups]
    return Part(nodes, links, groups, members, is_turned=diagram.direction == "right")


def num_bends(diagram: Diagram) -> int:
    """At most so many bends have the edges: one in each layer that an edge passes. Counting them is quick."""
    index = diagram.index
    links = [(index[edge.source], index[edge.target], edge.directed) for edge in diagram.edges]
    arcs = orient(len(diagram.nodes), links)
    ranks = longest_path(len(diagram.nodes), arcs)
    return sum(ranks[lower] - ranks[upper] - 1 for upper, lower in arcs)


def place_parts(sizes: Sequence[tuple[float, float]], is_alone: Sequence[bool]) -> list[tuple[float, float]]:
    """The corner of each part; nodes without edges stand in rows of their own below the others, away from them."""
    joined = [number for number, alone in enumerate(is_alone) if not alone]
    alone = [number for number, alone in enumerate(is_alone) if alone]
    if not joined or not alone:
        return pack_on_shelves(sizes)
    upper = pack_on_shelves([sizes[number] for number in joined])
    ends = [(x + sizes[number][0], y + sizes[number][1]) for (x, y), number in zip(upper, joined, strict=True)]
    width, height = (max(end) for end in zip(*ends, strict=True))
    row = sum(sizes[number][0] + PIECE_GAP for number in alone)
    limit = max(width, min(row, ASPECT * height))
    lower = fill_rows([sizes[number] for number in alone], limit, height + LONE_GAP)
    return [corner for _, corner in sorted([*zip(joined, upper, strict=True), *zip(alone, lower, strict=True)])]


def pack_on_shelves(sizes: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The corner of each rectangle, packed in rows of about the same width, the tallest first."""
    room = sum((width + PIECE_GAP) * (height + PIECE_GAP) for width, height in sizes)
    limit = max([sqrt(room * ASPECT)] + [width for width, _ in sizes])
    order = sorted(range(len(sizes)), key=lambda number: (-sizes[number][1], number))
    corners = fill_rows([sizes[number] for number in order], limit)
    return [corner for _, corner in sorted(zip(order, corners, strict=True))]


def fill_rows(sizes: Sequence[tuple[float, float]], limit: float, top: float = 0.0) -> list[tuple[float, float]]:
    """The corner of each rectangle, from left to right in rows of at most this width, from `top` downwards."""
    corners = []
    right = row_height = 0.0
    for width, height in sizes:
        if right and right + width > limit:
            right, top, row_height = 0.0, top + row_height + PIECE_GAP, 0.0
        corners.append((right, top))
        right += width + PIECE_GAP
        row_height = max(row_height, height)
    return corners
