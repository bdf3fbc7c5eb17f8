"""What a notebook shows of something that can be drawn: a line of words, and its picture unless that is too large."""

from __future__ import annotations

from html import escape

from juncture.drawing.diagram import Diagram, Drawing

MAX_NODES, MAX_LINES = 300, 10_000


def diagram_html(words: str, diagram: Drawing) -> str:
    """The words, and the picture unless it would be too large to read."""
    from juncture.drawing.svg import to_svg

    shown = f"<p><code>{escape(words)}</code></p>"
    is_small = len(diagram.nodes) <= MAX_NODES and num_lines(diagram) <= MAX_LINES
    return shown + to_svg(diagram) if is_small else shown


def num_lines(diagram: Drawing) -> int:
    """The lines of a picture and their bends, counted without drawing it."""
    from juncture.drawing.layout.arrange import num_bends

    bends = num_bends(diagram) if isinstance(diagram, Diagram) else 0
    return diagram.num_lines + bends
