"""Sphinx settings: MyST Markdown, furo, a reference made of docstrings, pictures drawn while building."""

from __future__ import annotations

import contextlib
import doctest
import io
import itertools
import re
import tempfile
from pathlib import Path
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

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "sources.md"]  # the map of the lecture texts is for contributors
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Juncture {release}"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["style.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # prompts and what is printed are not copied
copybutton_prompt_is_regexp = True

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
python_maximum_signature_line_length = 88  # the column of the theme


FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class PictureDirective(SphinxDirective):
    """Python code that makes a `picture`, or a value that notebooks show: the code, run, and what it drew.

    The blocks of one page share their names: those before this one are run first.
    """

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        names = self.env.temp_data.setdefault("names of the page", {})
        silence = contextlib.redirect_stdout(io.StringIO())
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), silence:
            for block in self.blocks_before():
                exec(compile(block, self.env.docname, "exec"), names)  # noqa: S102  our own pages
            exec(compile(code, self.env.docname, "exec"), names)  # noqa: S102
        shown = nodes.literal_block(code, code, language="python")
        picture = names["picture"]
        html = picture.svg if hasattr(picture, "svg") else picture._repr_html_()  # as a notebook shows it
        return [shown, nodes.raw("", f'<div class="picture">{html}</div>', format="html")]

    def blocks_before(self) -> list[str]:
        """The Python code between the last picture of the page and this one."""
        blocks: Any = self.env.temp_data.get("blocks of the page")
        if blocks is None:
            blocks = FENCE.finditer(Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8"))
            self.env.temp_data["blocks of the page"] = blocks
        before = itertools.takewhile(lambda block: block["info"] != "{picture}", blocks)
        return [code_of(*block["info"].split(), body=block["body"]) for block in before if block["info"].strip()]


def code_of(language: str, *marks: str, body: str) -> str:
    """The code of a block, without what a session prints; none of blocks in another language."""
    if language == "pycon":
        examples = doctest.DocTestParser().get_examples(body)
        return "".join(example.source for example in examples if example.exc_msg is None)
    return body if language == "python" and not {"no-run", "jax", "pyagrum"} & set(marks) else ""


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
