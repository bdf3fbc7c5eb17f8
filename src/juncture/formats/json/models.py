"""The models that JSON holds: for each, how it is written and read. A new model is one entry in `MODELS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from juncture.base.documents.node import Node
from juncture.data.document import find_variable, read_variables
from juncture.errors import FormatError
from juncture.factors.conditional import AnyConditional
from juncture.factors.factor import Factor
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.formats.json.kinds import KIND_NAMES, KINDS, Part, encode_conditional
from juncture.formats.rows import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.decision_network import DecisionNetwork
from juncture.networks.decision_nodes import Decision, Utility
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork
from juncture.variables import Scope, Variable

GAUSSIAN_KEYS = ("loading", "precision", "log_scale")
HEAD = ("format", "version", "model", "variables")
ORDER = "elimination_order"
Network = TypeVar("Network", BayesianNetwork, FactorProduct)

# --- Bayesian networks ---------------------------------------------------------------------------------------------


def encode_network(model: BayesianNetwork) -> dict[str, Any]:
    document: dict[str, Any] = {"conditionals": [encode_conditional(part) for part in model.conditionals]}
    if model.tied:
        document["tied"] = [list(group) for group in model.tied]
    return document | encode_plates(model) | encode_order(model)


def read_network(document: Node, rows: RowRepair) -> BayesianNetwork:
    fields = document.fields([*HEAD, "conditionals"], ["tied", "plates", ORDER])
    variables = read_variables(fields["variables"])
    parts = [read_part(node, variables, rows) for node in fields["conditionals"].items()]
    children = {part.child.name for part in parts}
    for name in variables:
        if name not in children:
            raise fields["conditionals"].error(f"none of them has the child {name!r}; give every variable one")
    name_of = partial(read_name, variables)
    tied = [[name_of(item) for item in group.items()] for group in plate_items(fields, "tied")]
    plates = read_plates(fields, name_of)
    with fields["conditionals"].locate_errors():
        network = BayesianNetwork(parts, tied=tied, plates=plates)
    return with_order(network, fields)


def read_name(variables: Mapping[str, Variable], node: Node) -> str:
    return find_variable(node, variables).name


def read_part(node: Node, variables: Mapping[str, Variable], rows: RowRepair) -> AnyConditional:
    kind = KINDS[KIND_NAMES[node.choice("kind", KIND_NAMES)]]
    fields = node.fields(["kind", "child", "parents", *kind.keys])
    child = find_variable(fields["child"], variables)
    with node.locate_errors():
        return kind.read(Part(child, read_scope(fields["parents"], variables), fields, rows))


# --- products of factors -------------------------------------------------------------------------------------------


def encode_product(model: FactorProduct) -> dict[str, Any]:
    return {"factors": [encode_factor(part) for part in model.factors]} | encode_plates(model) | encode_order(model)


def encode_factor(part: Factor | GaussianFactor) -> dict[str, Any]:
    """A factor that no doubles hold has its logarithms, null for that of 0; a Gaussian one its canonical form."""
    scope = list(part.scope.names)
    if isinstance(part, GaussianFactor):
        numbers = {key: getattr(part, key).tolist() for key in GAUSSIAN_KEYS}
        return {"scope": scope, **numbers}
    if not part.holds_logs:
        return {"scope": scope, "values": part.values.tolist()}
    logs = part.log_values.astype(object)
    logs[np.isneginf(part.log_values)] = None
    return {"scope": scope, "log_values": logs.tolist()}


def read_product(model: type[FactorProduct], document: Node, rows: RowRepair) -> FactorProduct:
    fields = document.fields([*HEAD, "factors"], ["plates", ORDER])
    variables = read_variables(fields["variables"])
    factors = [read_factor(node, variables) for node in fields["factors"].items()]
    plates = read_plates(fields, partial(read_factor_index, len(factors)))
    return with_order(model(factors, variables.values(), plates=plates), fields)


def read_factor(node: Node, variables: Mapping[str, Variable]) -> Factor | GaussianFactor:
    if isinstance(node.value, dict) and "precision" in node.value:
        fields = node.fields(["scope", *GAUSSIAN_KEYS])
        loading, precision, log_scale = fields["loading"].table(), fields["precision"].table(), fields["log_scale"]
        with node.locate_errors():
            return GaussianFactor(read_scope(fields["scope"], variables), loading, precision, log_scale.number())
    if isinstance(node.value, dict) and "log_values" in node.value:
        fields = node.fields(["scope", "log_values"])
        with node.locate_errors():
            return Factor.from_logs(read_scope(fields["scope"], variables), fields["log_values"].log_table())
    fields = node.fields(["scope", "values"])
    with node.locate_errors():
        return Factor(read_scope(fields["scope"], variables), fields["values"].table())


def read_factor_index(num_factors: int, node: Node) -> int:
    index = node.integer()
    if not 0 <= index < num_factors:
        raise node.error(f"is {index}; factors have the positions 0 … {num_factors - 1}")
    return index


# --- decision networks ---------------------------------------------------------------------------------------------


def encode_decisions(model: DecisionNetwork) -> dict[str, Any]:
    decisions = [{"variable": part.variable.name, "parents": list(part.parents.names)} for part in model.decisions]
    utilities = [
        {"name": part.name, "parents": list(part.parents.names), "values": part.values.tolist()}
        for part in model.utilities
    ]
    chance = [encode_conditional(part) for part in model.conditionals]
    return {"conditionals": chance, "decisions": decisions, "utilities": utilities}


def read_decisions(document: Node, rows: RowRepair) -> DecisionNetwork:
    fields = document.fields([*HEAD, "conditionals", "decisions", "utilities"], [])
    variables = read_variables(fields["variables"])
    parts: list[Any] = [read_part(node, variables, rows) for node in fields["conditionals"].items()]
    decisions = [read_decision(node, variables) for node in fields["decisions"].items()]
    children = {part.child.name for part in parts} | {part.variable.name for part in decisions}
    for name in variables:
        if name not in children:
            raise document.error(f"{name!r} has no conditional and is no decision; give every variable one")
    utilities = [read_utility(node, variables) for node in fields["utilities"].items()]
    named = {part.child.name: part for part in parts} | {part.variable.name: part for part in decisions}
    ordered = [named[name] for name in variables]
    with document.locate_errors():
        check_once([part.child.name for part in parts] + [part.variable.name for part in decisions])
        return DecisionNetwork([*ordered, *utilities])


def check_once(names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FormatError(f"the variable {twice!r} is given twice, as a conditional or a decision; give it once")


def read_decision(node: Node, variables: Mapping[str, Variable]) -> Decision:
    fields = node.fields(["variable", "parents"])
    with node.locate_errors():
        return Decision(find_variable(fields["variable"], variables), read_scope(fields["parents"], variables))


def read_utility(node: Node, variables: Mapping[str, Variable]) -> Utility:
    fields = node.fields(["name", "parents", "values"])
    scope, values, name = read_scope(fields["parents"], variables), fields["values"].table(), fields["name"].string()
    with node.locate_errors():
        return Utility(scope, values, name=name)


# --- both ----------------------------------------------------------------------------------------------------------


def read_scope(node: Node, variables: Mapping[str, Variable]) -> Scope:
    with node.locate_errors():
        return Scope(find_variable(item, variables) for item in node.items())


def encode_plates(model: BayesianNetwork | FactorProduct) -> dict[str, Any]:
    plates = [{"label": label, "members": list(members)} for label, members in model.plates]
    return {"plates": plates} if plates else {}


def read_plates(fields: Mapping[str, Node], member: Callable[[Node], Any]) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    plates = [node.fields(["label", "members"]) for node in plate_items(fields, "plates")]
    return tuple((box["label"].string(), tuple(member(item) for item in box["members"].items())) for box in plates)


def plate_items(fields: Mapping[str, Node], key: str) -> list[Node]:
    return fields[key].items() if key in fields else []


def encode_order(model: BayesianNetwork | FactorProduct) -> dict[str, Any]:
    return {ORDER: list(model.elimination_order)} if model.elimination_order else {}


def with_order(model: Network, fields: Mapping[str, Node]) -> Network:
    """The model with the elimination order of its document, if that has one."""
    if ORDER not in fields:
        return model
    with fields[ORDER].locate_errors():
        return model.with_elimination_order([item.string() for item in fields[ORDER].items()])


class Entry(NamedTuple):
    encode: Callable[[Any], dict[str, Any]]
    read: Callable[[Node, RowRepair], Any]


MODELS: dict[type, Entry] = {
    BayesianNetwork: Entry(encode_network, read_network),
    MarkovNetwork: Entry(encode_product, partial(read_product, MarkovNetwork)),
    FactorGraph: Entry(encode_product, partial(read_product, FactorGraph)),
    DecisionNetwork: Entry(encode_decisions, read_decisions),
}
MODEL_NAMES = {model.__name__: model for model in MODELS}
