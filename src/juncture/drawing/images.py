"""Pictures as PNG and PDF: matplotlib, which the extra `plot` installs, paints the few elements of our SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from juncture.drawing.text import FONT
from juncture.errors import InvalidData, MissingExtra

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from matplotlib.path import Path

SVG = "{http://www.w3.org/2000/svg}"
PIXELS_PER_INCH, POINTS_PER_PIXEL = 96.0, 0.75
SHARPNESS = 2.0  # dots of a PNG a pixel, fewer in a picture that would have too many
MAX_SIDE, MAX_DOTS = 30_000, 1e8
KAPPA = 0.5523  # how far the control points of a quarter of a circle are from its ends, in radii
COMMAND = re.compile(r"([MLHCZ])([^MLHCZ]*)")
NUMBER = re.compile(r"-?[0-9.]+(?:e-?[0-9]+)?")
SETTINGS: dict[Any, Any] = {"pdf.fonttype": 42, "path.simplify": False}  # letters stay letters; lines stay as they are
METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}  # the same each time

ANCHORS: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}

Point = tuple[float, float]


def render(svg: str, kind: str) -> bytes:
    """The content of a "png" or "pdf" file with this picture."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.named("matplotlib", "plot") from None
    root = parse_svg(svg)
    wide, high = (float(side) for side in root.get("viewBox", "0 0 0 0").split()[2:])
    size, scale = (wide, high), float(root.get("width", wide)) / wide
    stream = io.BytesIO()
    with mpl.rc_context():  # whatever style the user has
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        figure = Figure(figsize=(size[0] / PIXELS_PER_INCH, size[1] / PIXELS_PER_INCH))
        paint(root, figure, size)
        dpi = find_sharpness((scale * wide, scale * high)) * scale * PIXELS_PER_INCH
        figure.savefig(stream, format=kind, dpi=dpi, metadata=METADATA[kind], transparent=kind == "pdf")
    return stream.getvalue()


def find_sharpness(size: Point) -> float:
    """The dots a pixel with which a picture of this size is no larger than images may be."""
    wide, high = size
    return min(SHARPNESS, MAX_SIDE / max(wide, high), sqrt(MAX_DOTS / (wide * high)))


def parse_svg(svg: str) -> ET.Element:
    try:
        root = ET.fromstring(svg)  # noqa: S314 (our own text)
    except ET.ParseError as error:
        raise InvalidData(f"the text of this picture is no SVG: {error}; draw makes pictures") from error
    if root.tag != f"{SVG}svg" or not root.get("width"):
        raise InvalidData("the text of this picture is no SVG with a size; draw makes pictures")
    return root


def paint(root: ET.Element, figure: Figure, size: Point) -> None:
    """All elements in their order, on axes that are as wide and as high as the picture."""
    axes: Any = figure.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0), frame_on=False)
    axes.set_axis_off()
    families = font_families()
    for order, (element, across, down) in zip(count(1), elements(root, 0.0, 0.0), strict=False):
        artist = as_artist(element, across, down, families)
        artist.set_zorder(order)
        axes.add_artist(artist)


def elements(parent: ET.Element, across: float, down: float) -> Iterator[tuple[ET.Element, float, float]]:
    """The elements that are painted, each with how far the groups around it move it."""
    for element in parent:
        tag = element.tag.removeprefix(SVG)
        if tag == "g":
            moved = [float(each) for each in NUMBER.findall(element.get("transform", ""))] or [0.0, 0.0]
            yield from elements(element, across + moved[0], down + moved[1])
        elif tag not in {"title", "style"}:
            yield element, across, down


def font_families() -> list[str]:
    """Those of our fonts that are installed, and the one that comes with matplotlib."""
    from matplotlib.font_manager import fontManager

    known = set(fontManager.get_font_names())
    wanted = [name.strip(" '") for name in FONT.split(",")]
    return [name for name in wanted if name in known]


def as_artist(element: ET.Element, across: float, down: float, families: list[str]) -> Artist:
    if element.tag == f"{SVG}text":
        return as_text(element, across, down, families)
    from matplotlib.patches import PathPatch
    from matplotlib.transforms import Affine2D

    path = PATHS[element.tag.removeprefix(SVG)](element).transformed(Affine2D().translate(across, down))
    dashes = [float(each) for each in NUMBER.findall(element.get("stroke-dasharray", ""))]
    width = float(element.get("stroke-width", 1)) * POINTS_PER_PIXEL
    return PathPatch(
        path,
        facecolor=as_colour(element.get("fill", "#000000"), float(element.get("fill-opacity", 1))),
        edgecolor=as_colour(element.get("stroke", "none"), float(element.get("stroke-opacity", 1))),
        linewidth=width if element.get("stroke") else 0.0,
        linestyle=(0, tuple(each * POINTS_PER_PIXEL / width for each in dashes)) if dashes else "solid",
        capstyle="butt",
        joinstyle="miter",
    )


def as_colour(colour: str, opacity: float) -> Any:
    from matplotlib.colors import to_rgba

    return "none" if colour == "none" else to_rgba(colour, opacity)


def as_text(element: ET.Element, across: float, down: float, families: list[str]) -> Artist:
    """A line of text; a stroke around it is its halo."""
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text

    halo, width = element.get("stroke"), float(element.get("stroke-width", 1)) * POINTS_PER_PIXEL
    return Text(
        float(element.get("x", 0)) + across,
        float(element.get("y", 0)) + down,
        element.text or "",
        color=element.get("fill", "#000000"),
        fontsize=float(element.get("font-size", 12)) * POINTS_PER_PIXEL,
        fontfamily=families,
        fontweight="bold" if element.get("font-weight") else "normal",
        horizontalalignment=ANCHORS[element.get("text-anchor", "start")],
        verticalalignment="baseline",
        parse_math=False,
        path_effects=[withStroke(linewidth=width, foreground=halo)] if halo else None,
    )


def rectangle_path(element: ET.Element) -> Path:
    """The four sides, with quarters of circles at the corners where they are round."""
    left, top, wide, high = (float(element.get(name, 0)) for name in ("x", "y", "width", "height"))
    right, bottom = left + wide, top + high
    radius = min(float(element.get("rx", 0)), wide / 2, high / 2)
    if radius <= 0:
        return lines_path([(left, top), (right, top), (right, bottom), (left, bottom)], is_closed=True)
    rest = radius * (1 - KAPPA)
    vertices = [
        (left + radius, top), (right - radius, top),
        (right - rest, top), (right, top + rest), (right, top + radius), (right, bottom - radius),
        (right, bottom - rest), (right - rest, bottom), (right - radius, bottom), (left + radius, bottom),
        (left + rest, bottom), (left, bottom - rest), (left, bottom - radius), (left, top + radius),
        (left, top + rest), (left + rest, top), (left + radius, top), (left + radius, top),
    ]  # fmt: skip
    return as_path(vertices, [MOVE, LINE, *[CURVE, CURVE, CURVE, LINE] * 3, CURVE, CURVE, CURVE, CLOSE])


def polyline_path(element: ET.Element) -> Path:
    return lines_path(pairs(element.get("points", "")), is_closed=False)


def commands_path(element: ET.Element) -> Path:
    """The path of the commands M, L, H, C and Z, all in places of the picture."""
    vertices: list[Point] = []
    codes: list[int] = []
    for command, numbers in COMMAND.findall(element.get("d", "")):
        if command == "Z":
            found = vertices[-1:]
        elif command == "H":
            found = [(float(numbers), vertices[-1][1])]
        else:
            found = pairs(numbers)
        vertices += found
        codes += [CODES[command]] * len(found)
    return as_path(vertices, codes)


def pairs(text: str) -> list[Point]:
    numbers = [float(each) for each in NUMBER.findall(text)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def lines_path(points: list[Point], is_closed: bool) -> Path:
    ends = points[:1] if is_closed else []
    return as_path([*points, *ends], [MOVE, *[LINE] * (len(points) - 1), *[CLOSE for _ in ends]])


def as_path(vertices: list[Point], codes: list[int]) -> Path:
    from matplotlib.path import Path

    return Path(vertices, codes)


MOVE, LINE, CURVE, CLOSE = 1, 2, 4, 79  # as matplotlib numbers them
CODES = {"M": MOVE, "L": LINE, "H": LINE, "C": CURVE, "Z": CLOSE}
PATHS = {"rect": rectangle_path, "polyline": polyline_path, "path": commands_path}
