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

extensions = ["myst_parser", "sphinx.ext.autodoc"]
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
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 140


class PictureDirective(SphinxDirective):
    """Python code that makes a `picture`: the code is shown, run, and followed by what it drew.

    The blocks of one page share their names.
    """

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        names: dict[str, Any] = self.env.temp_data.setdefault("picture names", {})
        exec(compile(code, self.env.docname, "exec"), names)  # noqa: S102  our own pages
        shown = nodes.literal_block(code, code, language="python")
        drawn = nodes.raw("", f'<div style="overflow-x: auto">{names["picture"].svg}</div>', format="html")
        return [shown, drawn]


def keep_first_signature(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """A function dispatched on the model's type has the same signature for each type; one is enough."""
    description = content.parent
    signatures = [child for child in description.children if isinstance(child, addnodes.desc_signature)]
    for repeated in signatures[1:]:
        description.remove(repeated)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", PictureDirective)
    app.connect("object-description-transform", keep_first_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
