"""Every name of a public parameter with the functions that have it: a second word for an idea is seen in this list.

`python tests/house/parameter_names.py` writes it anew, to `parameter_names.txt` beside this file.
"""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.public_names import public_things

LISTED = Path(__file__).with_suffix(".txt")
SHOWN = 8  # functions of a name that many have


def functions_of(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """A function itself; of a class its constructor and its public methods."""
    if not isinstance(thing, type):
        yield name, thing
        return
    if not issubclass(thing, BaseException):
        yield name, thing
        for method, function in vars(thing).items():
            if not method.startswith("_") and callable(getattr(thing, method)) and not isinstance(function, property):
                yield f"{name}.{method}", getattr(thing, method)


def parameter_names() -> dict[str, list[str]]:
    """Parameter → the functions that have it."""
    found: dict[str, list[str]] = defaultdict(list)
    for public in public_things():
        for path, function in functions_of(public.path, public.thing):
            try:
                parameters = inspect.signature(function).parameters
            except (TypeError, ValueError):
                continue
            for name, part in parameters.items():
                if part.kind in {part.POSITIONAL_OR_KEYWORD, part.KEYWORD_ONLY} and name not in {"self", "cls"}:
                    found[name].append(path)
    return dict(sorted(found.items()))


def listing() -> str:
    """A line for each name."""
    lines = []
    for name, functions in parameter_names().items():
        shown = ", ".join(functions[:SHOWN])
        more = f", and {len(functions) - SHOWN} more" if len(functions) > SHOWN else ""
        lines.append(f"{name}: {shown}{more}\n")
    return "".join(lines)


if __name__ == "__main__":
    LISTED.write_text(listing(), encoding="utf-8")
