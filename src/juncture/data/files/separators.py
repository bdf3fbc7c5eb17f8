"""The separator of a file of rows: a comma, a semicolon or a tab, found in its first line."""

from __future__ import annotations

import os
import re

QUOTED = re.compile(r'"(?:[^"]|"")*(?:"|$)')
SEPARATORS = ",;\t"
TABBED = (".tsv", ".tab")


def find_separator(head: str, file: str | os.PathLike[str] | None = None) -> str:
    """The separator that the header has most often outside quotes; a comma where there is none.

    >>> find_separator("smoke;age"), find_separator('"smoke;age",lung'), find_separator("smoke")
    (';', ',', ',')
    """
    bare = QUOTED.sub("", head)
    if is_tabbed(file) and "\t" in bare:
        return "\t"
    return max(SEPARATORS, key=bare.count)  # the first of those that are equally many


def is_tabbed(file: object) -> bool:
    """Whether the name of a file says that tabs separate its cells."""
    return isinstance(file, str | os.PathLike) and str(file).lower().removesuffix(".gz").endswith(TABBED)
