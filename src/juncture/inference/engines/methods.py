"""The methods of every kind of model: a table of kind and name, in which `method=` is looked up; and their limits.

Networks have engines, which their own table names (`inference/infer.py`). A kind of model with an algorithm of its own
registers the names that users may give and the algorithm that each stands for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juncture.checks import check_number, shown
from juncture.errors import Unsupported, hint
from juncture.inference.engines.contract import Cost, check_budget
from juncture.memory import check_memory, check_memory_limit

# (kind of model, verb) → the names that method= takes, each with the algorithm that runs
METHODS: dict[tuple[str, str], Mapping[str, str]] = {}


def register_methods(kind: type, verb: str, *algorithms: str) -> None:
    """Name the exact algorithms of a verb for a kind of model; "auto" and "exact" stand for the first."""
    names = {"auto": algorithms[0], "exact": algorithms[0], **dict(zip(algorithms, algorithms, strict=True))}
    METHODS[kind.__name__, verb] = names


def resolve_method(model: Any, verb: str, method: Any) -> str:
    """The algorithm that a name stands for, for this kind of model."""
    names = METHODS.get((type(model).__name__, verb)) or inherited_methods(type(model), verb)
    if isinstance(method, str) and method in names:
        return names[method]
    kind_name = type(model).__name__
    if isinstance(method, str):
        raise Unsupported(f"{verb} of a {kind_name} has no method {method!r}; {hint(method, names)}")
    raise Unsupported(
        f"the method of {verb} of a {kind_name} is a name; got {shown(method)}; known are {', '.join(map(repr, names))}"
    )


def inherited_methods(kind: type, verb: str) -> Mapping[str, str]:
    """The methods of the nearest class that has some; nothing where none has."""
    names: Mapping[str, str] = {}
    for base in reversed(kind.__mro__):
        names = METHODS.get((base.__name__, verb), names)
    return names


def as_budget(budget: Any) -> float | None:
    """A number of seconds, or None for any."""
    return None if budget is None else check_number(budget, "budget", least=0)


def check_limits(cost: Cost, what: str, budget: Any = None, memory_limit: Any = None) -> None:
    """Raise `TooLarge` for an exact run that needs more bytes than `memory_limit`, or more seconds than `budget`."""
    if budget is not None:
        check_budget(cost, check_number(budget, "budget", least=0))
    if memory_limit is not None:
        check_memory(
            cost.bytes, what, "raise the limit, or ask about fewer at a time", check_memory_limit(memory_limit)
        )
