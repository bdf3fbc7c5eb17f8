"""Juncture's own format: a versioned JSON document that keeps everything of a model, bit for bit.

    {"format": "juncture", "version": 1, "model": "BayesianNetwork",
     "variables": [{"name": "rain", "states": ["no", "yes"]}, …],
     "conditionals": [{"kind": "Conditional", "child": "rain", "parents": [], "values": [0.8, 0.2]}, …],
     "tied": [["x1", "x2"], …], "plates": [{"label": "coin × 2", "members": ["x1", "x2"]}, …]}

A variable without states is real-valued and may have a "dimension". A state is text, a number or a boolean, and keeps
its type (1, 1.0, true and "1" are four states); an infinite one is {"float": "inf"} or {"float": "-inf"}. Each kind
of conditional has keys of its own (`KINDS`), all of them nested lists with the parents' axes first. A MarkovNetwork
or FactorGraph has "factors": [{"scope": ["a", "b"], "values": …}, …] instead, and the members of its plates are
positions of factors; instead of "values" that no doubles hold there are "log_values", with null for the logarithm of
0. "elimination_order": ["b", "a"] names all variables, in the order in which exact inference is to eliminate them.
It, "tied" and "plates" may be left out. Unknown keys are refused.

A model that was learned from named columns has their names: "feature_names": ["age", "height"]; one of a target that
has a name has it too: "target_name": "weight".

A new model is one entry in `MODELS`: how it is written and read. A new kind of conditional is one entry in `KINDS`:
its keys are fields of the class, written as nested lists; its reader makes the conditional from a `Part`, and may
leave the checks of shapes and ranges to the class. Other kinds of models, and families, register themselves with
`juncture.base.documents.kinds`; docs/formats.md lists their keys.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from juncture.base.documents.codec import encode_logs
from juncture.base.documents.json_text import MAX_DEPTH, exceeds_depth
from juncture.base.documents.kinds import HEAD, Kind, kind_names, load_kind
from juncture.base.documents.node import SURROGATE, Node
from juncture.base.kinds import kinds_with
from juncture.data.document import encode_variable, find_variable, read_variables
from juncture.data.feature_names import NamedFeatures
from juncture.errors import FormatError
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.factors.deterministic import Deterministic
from juncture.factors.factor import Factor
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.factors.logistic import Logistic
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.formats.row_repair import RowRepair
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, FactorProduct, MarkovNetwork
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    from juncture.families.family import Family
    from juncture.networks.decision_network import Decision, DecisionNetwork, Utility
    from juncture.variables import Model

VERSION = 1
NAMES, TARGET = "feature_names", "target_name"
TOO_DEEP = f"JSON holds at most {MAX_DEPTH} lists and objects inside each other; the parts of this model lie deeper"


def read_json(data: bytes, rows: RowRepair) -> Any:
    """The model in a document."""
    document = Node.parse(data)
    document.choice("format", ["juncture"])
    document.choice("version", [VERSION])
    is_network = document.value.get("model") in list(MODELS)
    name = document.choice("model", MODELS if is_network else [*MODELS, *kind_names()])
    with document.locate_errors():
        return MODELS[name].read(document, rows) if is_network else read_named(load_kind(name), document)


def read_named(kind: Kind, document: Node) -> Any:
    """A value of a kind in the table, with the names of its columns and of its target where the document has them."""
    head = kind.model.kept_names if issubclass(kind.model, NamedFeatures) else ()
    own = {key: value for key, value in document.value.items() if key not in head}
    model = kind.read(Node(own, document.path, document.text), HEAD)
    if NAMES in head and NAMES in document.value:
        names = document.child(NAMES)
        with names.locate_errors():
            model = model.with_feature_names([item.string() for item in names.items()])
    if TARGET in head and TARGET in document.value:
        name = document.child(TARGET)
        with name.locate_errors():
            model = model.with_target_name(name.string())
    return model


def write_json(model: Model | Family) -> str:
    """The document of a model: a line per variable and per row of a table."""
    head = {"format": "juncture", "version": VERSION, "model": type(model).__name__}
    try:
        document = {**head, **encode_model(model)}
        text = "{\n" + ",\n".join(f'  "{key}": {render(value, "  ")}' for key, value in document.items()) + "\n}\n"
    except RecursionError:
        raise FormatError(TOO_DEEP) from None
    if SURROGATE.search(text):
        raise FormatError("a name or label holds half of a surrogate pair, which no text file can hold; rename it")
    if exceeds_depth(text.encode()):
        raise FormatError(TOO_DEEP)
    return text


def encode_model(model: Any) -> dict[str, Any]:
    """A model as plain data, without the head of the document."""
    name = type(model).__name__
    entry = MODELS.get(name) if type(model).__module__.startswith("juncture.networks.") else None
    if entry is not None:
        return {"variables": [encode_variable(variable) for variable in model.variables], **entry.encode(model)}
    if name not in kind_names() or load_kind(name).model is not type(model):
        names = ", ".join([*MODELS, *kinds_with("document")])
        raise FormatError(f"JSON holds {names} and the families of the package; this is a {name}")
    heads = kept_names(model) if isinstance(model, NamedFeatures) else {}
    return load_kind(name).encode(model) | heads


def kept_names(model: NamedFeatures) -> dict[str, Any]:
    """The names that a model keeps beside its fields; a kind whose fields are variables has them in these."""
    known = {key: model.__dict__.get(key) for key in model.kept_names}
    return {key: list(name) if isinstance(name, tuple) else name for key, name in known.items() if name is not None}


def render(value: Any, indent: str) -> str:
    """JSON in which a list of lists or objects has a line for each, and everything else stays on its line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {render(item, indent)}' for key, item in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        deeper = indent + "  "
        lines = ",\n".join(deeper + render(item, deeper) for item in value)
        return f"[\n{lines}\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


GAUSSIAN_KEYS = ("loading", "precision", "log_scale")
NETWORK_HEAD = (*HEAD, "variables")
ORDER = "elimination_order"
Network = TypeVar("Network", BayesianNetwork, FactorProduct)


# --- Bayesian networks ---------------------------------------------------------------------------------------------
def encode_network(model: BayesianNetwork) -> dict[str, Any]:
    document: dict[str, Any] = {"conditionals": [encode_conditional(part) for part in model.conditionals]}
    if model.tied:
        document["tied"] = [list(group) for group in model.tied]
    return document | encode_plates(model) | encode_order(model)


def read_network(document: Node, rows: RowRepair) -> BayesianNetwork:
    fields = document.fields([*NETWORK_HEAD, "conditionals"], ["tied", "plates", ORDER])
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
    return {"scope": scope, "log_values": encode_logs(part.log_values)}


def read_product(model: type[FactorProduct], document: Node, rows: RowRepair) -> FactorProduct:
    fields = document.fields([*NETWORK_HEAD, "factors"], ["plates", ORDER])
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
    from juncture.networks.decision_network import DecisionNetwork

    fields = document.fields([*NETWORK_HEAD, "conditionals", "decisions", "utilities"], [])
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
    from juncture.networks.decision_network import Decision

    fields = node.fields(["variable", "parents"])
    with node.locate_errors():
        return Decision(find_variable(fields["variable"], variables), read_scope(fields["parents"], variables))


def read_utility(node: Node, variables: Mapping[str, Variable]) -> Utility:
    from juncture.networks.decision_network import Utility

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


@dataclass(frozen=True)
class Part:
    """A conditional being read: its variables, and the fields of its kind."""

    child: Variable
    parents: Scope
    fields: dict[str, Node]
    repair: RowRepair

    def table(self, key: str) -> np.ndarray:
        return self.fields[key].table()

    def probabilities(self, node: Node, parents: Scope) -> np.ndarray:
        """A table of rows that sum to 1, or nearly."""
        table = node.table()
        shape = (*parents.shape, self.child.num_states)
        if table.shape != shape:
            raise node.error(
                f"must have the shape {shape}, one axis per parent, then the child's; it has {table.shape}"
            )
        with node.locate_errors():
            return self.repair.repair(self.child, parents, table)


def read_conditional(part: Part) -> Conditional:
    return Conditional(part.child, part.parents, part.probabilities(part.fields["values"], part.parents))


def read_deterministic(part: Part) -> Deterministic:
    return Deterministic(part.child, part.parents, part.fields["codes"].codes())


def read_noisy_or(part: Part) -> NoisyOr:
    return NoisyOr(part.child, part.parents, part.table("probabilities"), part.fields["leak"].number())


def read_noisy_max(part: Part) -> NoisyMax:
    nodes = part.fields["tables"].items()
    if len(nodes) != len(part.parents):
        raise part.fields["tables"].kind_error(f"a list of {len(part.parents)} tables, one per parent")
    tables = [part.probabilities(node, Scope([parent])) for node, parent in zip(nodes, part.parents, strict=True)]
    return NoisyMax(part.child, part.parents, tables, part.probabilities(part.fields["leak"], Scope()))


def read_logistic(part: Part) -> Logistic:
    return Logistic(part.child, part.parents, part.table("weights"), part.table("bias"))


def read_linear_gaussian(part: Part) -> LinearGaussian:
    numbers = (part.table(key) for key in ("coefficients", "intercept", "variance"))
    return LinearGaussian(part.child, part.parents, *numbers)


def read_constant(part: Part) -> Constant:
    if part.parents:
        raise FormatError("a Constant has no parents")
    return Constant(part.child, part.table("value"))


class ConditionalKind(NamedTuple):
    keys: tuple[str, ...]
    read: Callable[[Part], AnyConditional]


KINDS: dict[type, ConditionalKind] = {
    Conditional: ConditionalKind(("values",), read_conditional),
    Deterministic: ConditionalKind(("codes",), read_deterministic),
    NoisyOr: ConditionalKind(("probabilities", "leak"), read_noisy_or),
    NoisyMax: ConditionalKind(("tables", "leak"), read_noisy_max),
    Logistic: ConditionalKind(("weights", "bias"), read_logistic),
    LinearGaussian: ConditionalKind(("coefficients", "intercept", "variance"), read_linear_gaussian),
    Constant: ConditionalKind(("value",), read_constant),
}
KIND_NAMES = {kind.__name__: kind for kind in KINDS}


def encode_conditional(conditional: AnyConditional) -> dict[str, Any]:
    """A conditional as plain values; a kind that is not in the registry is refused by name."""
    kind = KINDS.get(type(conditional))
    if kind is None:
        known = ", ".join(KIND_NAMES)
        raise FormatError(f"JSON cannot hold {signature(conditional)}: its kind is none of {known}")
    numbers = {key: to_lists(getattr(conditional, key)) for key in kind.keys}
    names = {"child": conditional.child.name, "parents": list(conditional.parents.names)}
    return {"kind": type(conditional).__name__, **names, **numbers}


def to_lists(value: Any) -> Any:
    """Arrays, also those in a tuple, as nested lists."""
    return [to_lists(item) for item in value] if isinstance(value, tuple) else np.asarray(value).tolist()


MODELS = {  # networks by the names of their classes
    "BayesianNetwork": Entry(encode_network, read_network),
    "MarkovNetwork": Entry(encode_product, partial(read_product, MarkovNetwork)),
    "FactorGraph": Entry(encode_product, partial(read_product, FactorGraph)),
    "DecisionNetwork": Entry(encode_decisions, read_decisions),
}
