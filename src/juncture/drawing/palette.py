"""The colours of pictures, on a light ground and on a dark one.

Colours stand in attributes, those of the light ground, which every program reads. The style sheet of a picture gives
each of them its dark counterpart, which browsers take where the page is dark: by its `color-scheme`, or by the mark of
a dark theme (JupyterLab, VS Code, Colab, Sphinx, Quarto). A picture that is opened alone follows the system.
"""

from __future__ import annotations

from functools import cache

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
MORE_SERIES = (*SERIES, "#c0392b", "#16a085", "#8e6e53", "#34495e")
EXTRA_LINE, MISSED_LINE, TURNED_LINE = "#d9730d", "#3b82c4", "#9b59b6"  # of one graph compared with another

DARK = {
    GROUND: "#1b2027", INK: "#e6eaee", MUTED: "#a7b1bc", EDGE: "#8593a1", OUTLINE: "#94a2b0", OPEN_FILL: "#262d36",
    SHADED_FILL: "#3d4855", MARKED_FILL: "#1f4068", BAR_FILL: "#5b9fdc", BAR_GROUND: "#444f5b", FRAME_FILL: "#242b33",
    FRAME_LINE: "#66727f", "#d9730d": "#f0953f", "#2f9e67": "#4fc28a", "#9b59b6": "#c38fd9", "#c0392b": "#ea7566",
    "#16a085": "#3fc7ab", "#8e6e53": "#bf9b7d", "#34495e": "#93a9bf",
}  # fmt: skip
PICTURE = "juncture-picture"  # the class of pictures, to which their style sheet keeps
DARK_THEMES = (
    '[data-jp-theme-light="false"]', '[data-theme="dark"]', '[theme="dark"]', '[data-bs-theme="dark"]',
    '[data-md-color-scheme="slate"]', ".vscode-dark", ".vscode-high-contrast", ".quarto-dark",
)  # fmt: skip
LIGHT_THEMES = (
    '[data-jp-theme-light="true"]', '[data-theme="light"]', '[theme="light"]', '[data-bs-theme="light"]',
    ".vscode-light", ".vscode-high-contrast-light", ".quarto-light",
)  # fmt: skip


@cache
def style_sheet() -> str:
    """The style sheet that gives pictures their dark colours on dark pages; browsers alone read it."""
    rules = [f":root.{PICTURE}{{color-scheme:light dark}}"]
    for scheme, themes in (("dark", DARK_THEMES), ("light", LIGHT_THEMES)):
        rules.append(f":is({','.join(themes)}) .{PICTURE}{{color-scheme:{scheme}}}")
    for light, dark in DARK.items():
        rules += [f'.{PICTURE} [{name}="{light}"]{{{name}:light-dark({light},{dark})}}' for name in ("fill", "stroke")]
    return f"<style>@supports (color:light-dark(#000,#fff)){{{''.join(rules)}}}</style>"
