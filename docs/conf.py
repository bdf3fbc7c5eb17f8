"""Sphinx settings: MyST Markdown, furo, a reference made of docstrings, pictures drawn while building."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import juncture

project = "Juncture"
author = "the Juncture contributors"
copyright = "the Juncture contributors"  # noqa: A001  Sphinx reads this name
release = version = juncture.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Juncture {release}"
html_show_copyright = False

default_role = "literal"  # docstrings are plain text: `x` is code, not a cross-reference
autodoc_member_order = "bysource"
autodoc_default_options = {"undoc-members": True}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_param = False  # `a, b` with one description stay one entry
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 140


class PictureDirective(SphinxDirective):
    """Python code that makes a `picture`, or a value that notebooks show: the code, run, and what it drew.

    The blocks of one page share their names.
    """

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        names: dict[str, Any] = self.env.temp_data.setdefault("picture names", {})
        exec(compile(code, self.env.docname, "exec"), names)  # noqa: S102  our own pages
        shown = nodes.literal_block(code, code, language="python")
        picture = names["picture"]
        html = picture.svg if hasattr(picture, "svg") else picture._repr_html_()  # as a notebook shows it
        return [shown, nodes.raw("", f'<div style="overflow-x: auto">{html}</div>', format="html")]


def keep_first_signature(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """A function dispatched on the model's type has the same signature for each type; one is enough."""
    description = content.parent
    signatures = [child for child in description.children if isinstance(child, addnodes.desc_signature)]
    for repeated in signatures[1:]:
        description.remove(repeated)


def keep_signs(app: Sphinx, what: str, name: str, subject: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: |x| and x* are no markup there. Sessions (`>>>`) are verbatim anyway."""
    in_session = False
    for index, line in enumerate(lines):
        in_session = line.lstrip().startswith(">>>") or (in_session and bool(line.strip()))
        if not in_session:
            lines[index] = line.replace("|", r"\|").replace("*", r"\*")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", PictureDirective)
    app.connect("object-description-transform", keep_first_signature)
    app.connect("autodoc-process-docstring", keep_signs, priority=100)  # before napoleon makes markup of sections
    return {"parallel_read_safe": True, "parallel_write_safe": True}
