"""The engines by name: a new engine is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from juncture.errors import InvalidData, Unsupported, hint
from juncture.inference.exact.enumeration import Enumeration
from juncture.inference.exact.junction_tree import JunctionTree
from juncture.inference.exact.variable_elimination import VariableElimination
from juncture.options import chosen

METHODS: dict[str, Callable[[], Any]] = {
    "auto": JunctionTree,
    "exact": JunctionTree,
    "junction-tree": JunctionTree,
    "variable-elimination": VariableElimination,
    "enumeration": Enumeration,
}


def engine_for(method: Any, memory_limit: int | None = None) -> Any:
    """The engine that "auto", a name or an engine object stands for, held to `memory_limit` bytes if one is given."""
    engine = chosen(method, METHODS, what="method")
    if not isinstance(method, str) and not hasattr(engine, "answer"):
        raise Unsupported(f"method is the name of an engine or an engine itself; got {method!r}; {hint('', METHODS)}")
    if memory_limit is not None and (not isinstance(memory_limit, int | float) or memory_limit <= 0):
        raise InvalidData(f"memory_limit is a positive number of bytes; got {memory_limit!r}")
    return engine if memory_limit is None else engine.within(memory_limit)
