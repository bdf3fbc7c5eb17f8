"""Which tests need optional packages: `--extras` runs only these, and fails where one was skipped for want of one.

`make test` has the packages of the extra `test`; what needs more is skipped there and runs in `make test-extras`, where
all are installed. A test needs a package if its file, or a module of `support` that it imports, names the package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
OF_EXTRAS = ("jax", "optax", "blackjax", "duckdb", "ibis", "dask", "distributed", "pyspark", "cloudpickle", "arviz")
COMPARED_WITH = ("arviz_base", "arviz_stats", "baycomp", "scikit_posthocs", "statsmodels", "pyagrum")
PACKAGES = (*OF_EXTRAS, *COMPARED_WITH)
NAMED = re.compile(rf"\b({'|'.join(PACKAGES)})\b")
SUPPORT_IMPORT = re.compile(r"^\s*from support\.(\w+) import|^\s*from support import (\w+)", re.MULTILINE)
CURABLE = re.compile(
    r"could not import|not installed|needs Java|not here"
)  # by an installation, or by the folder `shared`


@cache
def packages_named_in(path: Path) -> frozenset[str]:
    """The optional packages that a file names, or a module of `support` that it imports."""
    if path == Path(__file__).resolve():
        return frozenset()
    text = path.read_text(encoding="utf-8")
    modules = [SUPPORT / f"{one or other}.py" for one, other in SUPPORT_IMPORT.findall(text)]
    return frozenset(NAMED.findall(text)).union(*(packages_named_in(each) for each in modules if each.is_file()))


def curable(reasons: Iterable[str]) -> list[str]:
    """The reasons of skipped tests that an installation would have cured."""
    return [reason for reason in reasons if CURABLE.search(reason)]


def closing_line(run: int, reasons: Sequence[str]) -> str:
    """How many tests ran and were skipped, and why."""
    counts = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    each = "; ".join(f"{number} × {reason}" for reason, number in counts.most_common())
    return f"{run} run, {len(reasons)} skipped" + (f": {each}" if each else "")
