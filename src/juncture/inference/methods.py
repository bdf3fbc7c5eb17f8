"""The engines by name: a new engine is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from juncture.checks import shown
from juncture.errors import Unsupported, hint
from juncture.inference.exact.elimination.engine import VariableElimination
from juncture.inference.exact.enumeration import Enumeration
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.memory import checked_limit
from juncture.options import resolve

METHODS: dict[str, Callable[[], Any]] = {
    "auto": JunctionTree,
    "exact": JunctionTree,
    "junction-tree": JunctionTree,
    "variable-elimination": VariableElimination,
    "enumeration": Enumeration,
}


def engine_for(method: Any, memory_limit: int | None = None) -> Any:
    """The engine that "auto", a name or an engine object stands for, held to `memory_limit` bytes if one is given."""
    engine = resolve(method, METHODS, what="method")
    if not hasattr(engine, "answer"):
        raise Unsupported(
            f"a method is the name of an engine, or an engine; got {shown(method)}; {hint('auto', METHODS)}"
        )
    if memory_limit is not None:
        checked_limit(memory_limit)
    return engine if memory_limit is None else engine.within(memory_limit)
