"""Images as SVG text: arrays of numbers as squares from light to dark, side by side, each with a title and a note.

>>> to_svg(Rasters.of({"half": np.array([[0.0, 1.0]])})).count("<path")
1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array
from juncture.drawing.boxes import LABEL_SIZE, SMALL_SIZE
from juncture.drawing.marks import number, opening, rectangle, text
from juncture.drawing.palette import BAR_GROUND, INK, MUTED
from juncture.drawing.svg import MARGIN, to_svg
from juncture.drawing.text import shorten_to_width
from juncture.errors import InvalidData

SIDE = 196.0  # pixels, the longer side of an image, about
MAX_CELLS = 196  # along a side: a larger image is shown by means of blocks
GAP, HEAD, FOOT, COLUMNS = 18.0, 22.0, 20.0, 3
SHADES = 15  # from the ground to ink


class Raster(NamedTuple):
    """An image: shades from 0, light, to `SHADES`, dark."""

    title: str
    shades: np.ndarray  # (row, column)
    note: str = ""

    @property
    def cell(self) -> float:
        """The side of a square, in whole pixels."""
        return max(1.0, float(int(SIDE / max(self.shades.shape))))


@dataclass(frozen=True, eq=False)
class Rasters:
    """Images side by side, three in a row."""

    nodes: tuple[Raster, ...]

    @classmethod
    def of(cls, images: Mapping[str, Any]) -> Rasters:
        """Images by their titles: arrays (row, column), or pairs of an array and a note."""
        parts = {str(title): part if isinstance(part, tuple) else (part, "") for title, part in images.items()}
        return cls(tuple(Raster(title, as_shades(part[0], title), str(part[-1])) for title, part in parts.items()))

    @property
    def num_lines(self) -> int:
        return sum(sum(1 for _ in runs(raster.shades)) for raster in self.nodes)


def as_shades(image: Any, title: str) -> np.ndarray:
    """(row, column): numbers from 0 to `SHADES`; NaN, which was not seen, is in the middle."""
    values = check_array(image, f"the image {title!r}")
    if values.ndim != 2 or values.size == 0:
        raise InvalidData(f"an image has rows and columns of numbers; {title!r} has the shape {values.shape}")
    step = -(-max(values.shape) // MAX_CELLS)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    shares = np.where(np.isfinite(values), (values - low) / (high - low or 1.0), 0.5)
    rows, columns = (np.arange(0, size, step) for size in shares.shape)
    sums = np.add.reduceat(np.add.reduceat(shares, rows, axis=0), columns, axis=1)
    sizes = np.outer(np.diff([*rows, values.shape[0]]), np.diff([*columns, values.shape[1]]))
    return np.rint(SHADES * sums / sizes).astype(np.int64)


def runs(shades: np.ndarray) -> Iterator[tuple[int, int, int, int]]:
    """Rows of neighbours of one shade that is not light: row, first and last column, shade."""
    for row, line in enumerate(shades):
        starts = [0, *(np.flatnonzero(np.diff(line)) + 1).tolist(), len(line)]
        for first, stop in pairwise(starts):
            if line[first] > 0:
                yield row, first, stop, int(line[first])


@to_svg.register
def rasters_svg(rasters: Rasters) -> str:
    return "\n".join(draw_document(rasters)) + "\n"


def draw_document(rasters: Rasters) -> Iterator[str]:
    rows = [rasters.nodes[start : start + COLUMNS] for start in range(0, len(rasters.nodes), COLUMNS)]
    widths = [[max(raster.shades.shape[1] * raster.cell, SIDE / 2) for raster in row] for row in rows]
    heights = [HEAD + FOOT + max(raster.shades.shape[0] * raster.cell for raster in row) for row in rows]
    wide = max((sum(row) + GAP * (len(row) - 1) for row in widths), default=0.0) + 2 * MARGIN
    yield opening(wide, sum(heights) + GAP * max(len(rows) - 1, 0) + 2 * MARGIN)
    top = MARGIN
    for row, sizes, height in zip(rows, widths, heights, strict=True):
        left = MARGIN
        for raster, size in zip(row, sizes, strict=True):
            yield from draw_raster(raster, left, top, size)
            left += size + GAP
        top += height + GAP
    yield "</svg>"


def draw_raster(raster: Raster, left: float, top: float, room: float) -> Iterator[str]:
    high, wide = (size * raster.cell for size in raster.shades.shape)
    title = shorten_to_width(raster.title, LABEL_SIZE, room)
    yield text(left, top + LABEL_SIZE, title, LABEL_SIZE, fill=INK, anchor="start", bold=True)
    down = top + HEAD
    yield rectangle(left - 1, down - 1, wide + 2, high + 2, f'fill="none" stroke="{BAR_GROUND}"')
    paths: dict[int, list[str]] = {}
    for row, first, stop, shade in runs(raster.shades):
        middle = number(down + (row + 0.5) * raster.cell)
        across = number(left + first * raster.cell), number(left + stop * raster.cell)
        paths.setdefault(shade, []).append(f"M{across[0]} {middle}H{across[1]}")
    for shade, parts in sorted(paths.items()):
        look = f'fill="none" stroke="{INK}" stroke-opacity="{shade / SHADES:.3g}" stroke-width="{number(raster.cell)}"'
        yield f'<path d="{"".join(parts)}" {look} shape-rendering="crispEdges"/>'
    note = shorten_to_width(raster.note, SMALL_SIZE, room)
    if note:
        yield text(left, down + high + SMALL_SIZE + 5, note, SMALL_SIZE, fill=MUTED, anchor="start")
