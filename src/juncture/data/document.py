"""Variables and their states in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from juncture.base.documents.codec import Pair
from juncture.base.documents.json_text import MAX_DIGITS
from juncture.base.documents.node import Node, clip
from juncture.errors import FormatError, hint
from juncture.variables import State, Variable

STATE_TYPES = {str, int, float, bool}
INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def encode_variable(variable: Variable) -> dict[str, Any]:
    if variable.states is not None:
        cuts = {} if variable.cuts is None else {"cuts": list(variable.cuts)}
        return {"name": variable.name, "states": encode_states(variable.states, variable.name), **cuts}
    return (
        {"name": variable.name} if variable.dimension == 1 else {"name": variable.name, "dimension": variable.dimension}
    )


def encode_state(state: State, name: str) -> Any:
    """The state itself, except that an infinite number is an object: JSON has no such number."""
    if type(state) not in STATE_TYPES or (isinstance(state, int) and abs(state) >= 10**MAX_DIGITS):
        what = (
            f"of type {type(state).__name__}" if type(state) not in STATE_TYPES else f"longer than {MAX_DIGITS} digits"
        )
        raise FormatError(f"a state of {name!r} is {what}, which JSON cannot keep; use plain text or a number")
    return {"float": str(state)} if isinstance(state, float) and math.isinf(state) else state


def read_variables(node: Node) -> dict[str, Variable]:
    """The declared variables, by name."""
    variables: dict[str, Variable] = {}
    for item in node.items():
        variable = read_variable(item)
        if variable.name in variables:
            raise item.error(f"the variable {clip(variable.name)!r} is declared twice")
        variables[variable.name] = variable
    return variables


def read_variable(node: Node) -> Variable:
    fields = node.fields(["name"], ["states", "dimension", "cuts"])
    states = read_states(fields["states"]) if "states" in fields else None
    cuts = [item.number() for item in fields["cuts"].items()] if "cuts" in fields else None
    dimension = fields["dimension"].integer() if "dimension" in fields else 1
    name = fields["name"].string()
    with node.locate_errors():
        return Variable(name, states, dimension=dimension, cuts=cuts)


def read_state(node: Node) -> State:
    value = node.value
    if isinstance(value, dict):
        return INFINITIES[node.choice("float", INFINITIES)]
    if type(value) not in STATE_TYPES or value in INFINITIES.values():
        raise node.kind_error('text, a number or a boolean; an infinite number is {"float": "inf"}')
    return node.string() if type(value) is str else value


def find_variable(node: Node, variables: Mapping[str, Variable]) -> Variable:
    """The variable that a name stands for."""
    name = node.string()
    if name not in variables:
        raise node.error(f"there is no variable {clip(name)!r}; {hint(clip(name), variables)}")
    return variables[name]


def encode_states(states: Iterable[State], name: str) -> list[Any]:
    return [encode_state(state, name) for state in states]


def read_states(node: Node) -> list[State]:
    """The labels in a list."""
    return [read_state(item) for item in node.items()]


def states_of(what: str) -> Pair:
    """The codec of labels; `what` says in messages what they are the states of."""
    return Pair(lambda states: encode_states(states, what), read_states)


VARIABLE = Pair(encode_variable, read_variable)
VARIABLES = Pair(
    lambda variables: [encode_variable(variable) for variable in variables],
    lambda node: list(read_variables(node).values()),
)
