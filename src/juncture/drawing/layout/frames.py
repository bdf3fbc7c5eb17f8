"""The room that the frames of groups take above, below and beside their members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from juncture.drawing.boxes import SMALL_SIZE, Extent
from juncture.drawing.layout.nesting import Members
from juncture.drawing.text import shorten_to_width, text_width

FRAME_PADDING, LABEL_HEIGHT, LABEL_INSET, MAX_FRAME_LABEL = 12.0, 15.0, 8.0, 220.0


def label_width(label: str) -> float:
    return text_width(shorten_to_width(label, SMALL_SIZE, MAX_FRAME_LABEL), SMALL_SIZE) + 2 * LABEL_INSET


class Margins(NamedTuple):
    """How far each group's frame stands off its members, above and below."""

    above: list[float]
    below: list[float]


def frame_margins(groups: Sequence[Members], ranks: Sequence[int]) -> Margins:
    """Margins that keep the frames apart which begin or end in the same layer around common members."""
    first = [min(ranks[member] for member in group) for group in groups]
    last = [max(ranks[member] for member in group) for group in groups]
    return Margins(_margins(groups, first, FRAME_PADDING), _margins(groups, last, FRAME_PADDING + LABEL_HEIGHT))


def _margins(groups: Sequence[Members], layers: Sequence[int], padding: float) -> list[float]:
    result = [0.0] * len(groups)
    done: list[int] = []
    for number in sorted(range(len(groups)), key=lambda number: (len(groups[number]), -number)):
        inner = [result[o] for o in done if layers[o] == layers[number] and groups[o] & groups[number]]
        result[number] = padding + max(inner, default=0.0)
        done.append(number)
    return result


def side_padding(label: str, members: Members, extents: Sequence[Extent], is_turned: bool = False) -> float:
    """What a frame needs left and right of its members so that its label fits; below them where the part is turned."""
    if is_turned:
        return LABEL_HEIGHT
    widest = max(extents[member].left + extents[member].right for member in members)
    return max(label_width(label) - widest - 2 * FRAME_PADDING, 0.0) / 2
