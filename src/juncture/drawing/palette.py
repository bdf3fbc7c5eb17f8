"""The colours of pictures."""

from __future__ import annotations

GROUND = "#ffffff"
INK = "#1f2933"
MUTED = "#5b6775"
EDGE = "#7b8794"
OUTLINE = "#52606d"
OPEN_FILL = "#f8fafc"
SHADED_FILL = "#cbd2d9"
MARKED_FILL = "#dbeafe"
BAR_FILL = "#3b82c4"
OBSERVED_BAR_FILL = "#52606d"
BAR_GROUND = "#e4e7eb"
FRAME_FILL = "#f1f5f9"
FRAME_HALO = "#f8fafc"
FRAME_LINE = "#9aa5b1"
SERIES = (BAR_FILL, "#d9730d", "#2f9e67", "#9b59b6")  # of a chart with several things in it
EXTRA_LINE, MISSED_LINE, TURNED_LINE = "#d9730d", "#3b82c4", "#9b59b6"  # of one graph compared with another
