"""Juncture's own format: a versioned JSON document that keeps everything of a model, bit for bit.

    {"format": "juncture", "version": 1, "model": "BayesianNetwork",
     "variables": [{"name": "rain", "states": ["no", "yes"]}, …],
     "conditionals": [{"kind": "Conditional", "child": "rain", "parents": [], "values": [0.8, 0.2]}, …],
     "tied": [["x1", "x2"], …], "plates": [{"label": "coin × 2", "members": ["x1", "x2"]}, …]}

A variable without states is real-valued and may have a "dimension". A state is text, a number or a boolean, and keeps
its type (1, 1.0, true and "1" are four states); an infinite one is {"float": "inf"} or {"float": "-inf"}. Each kind of
conditional has keys of its own (kinds.py), all of them nested lists with the parents' axes first. A MarkovNetwork
or FactorGraph has "factors": [{"scope": ["a", "b"], "values": …}, …] instead, and the members of its plates are
positions of factors; instead of "values" that no doubles hold there are "log_values", with null for the logarithm of 0.
"elimination_order": ["b", "a"] names all variables, in the order in which exact inference is to eliminate them. It,
"tied" and "plates" may be left out. Unknown keys are refused.

A model that was learned from named columns has their names: "feature_names": ["age", "height"].

Other kinds of models, and families, are in the table of `juncture.base.documents.kinds`; docs/formats.md lists their
keys.
"""

from __future__ import annotations

import json
from typing import Any

from juncture.base.documents.json_text import MAX_DEPTH, exceeds_depth
from juncture.base.documents.kinds import MODULES, Kind, kind_names, load_kind
from juncture.base.documents.node import SURROGATE, Node
from juncture.data.document import encode_variable
from juncture.data.feature_names import NamedFeatures
from juncture.errors import FormatError
from juncture.formats.json.models import MODEL_NAMES, MODELS
from juncture.formats.rows import RowRepair

VERSION = 1
NAMES = "feature_names"
TOO_DEEP = f"JSON holds at most {MAX_DEPTH} lists and objects inside each other; the parts of this model lie deeper"


def read_json(data: bytes, rows: RowRepair) -> Any:
    """The model in a document."""
    document = Node.parse(data)
    document.choice("format", ["juncture"])
    document.choice("version", [VERSION])
    is_network = document.value.get("model") in list(MODEL_NAMES)
    name = document.choice("model", MODEL_NAMES if is_network else [*MODEL_NAMES, *kind_names()])
    with document.locate_errors():
        return MODELS[MODEL_NAMES[name]].read(document, rows) if is_network else read_named(load_kind(name), document)


def read_named(kind: Kind, document: Node) -> Any:
    """A value of a kind in the table, with the names of its columns where the document has them."""
    if not issubclass(kind.model, NamedFeatures) or NAMES not in document.value:
        return kind.read(document)
    own = {key: value for key, value in document.value.items() if key != NAMES}
    names = document.child(NAMES)
    model = kind.read(Node(own, document.path, document.text))
    with names.locate_errors():
        return model.with_feature_names([item.string() for item in names.items()])


def write_json(model: Any) -> str:
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
    entry = MODELS.get(type(model))
    if entry is not None:
        return {"variables": [encode_variable(variable) for variable in model.variables], **entry.encode(model)}
    name = type(model).__name__
    if name not in kind_names() or load_kind(name).model is not type(model):
        names = ", ".join([*MODEL_NAMES, *MODULES])
        raise FormatError(f"JSON holds {names} and the families of the package; this is a {name}")
    columns = model.feature_names if isinstance(model, NamedFeatures) else None
    return load_kind(name).encode(model) | ({} if columns is None else {NAMES: list(columns)})


def render(value: Any, indent: str) -> str:
    """JSON in which a list of lists or objects has a line for each, and everything else stays on its line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {render(item, indent)}' for key, item in value.items()) + "}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        deeper = indent + "  "
        lines = ",\n".join(deeper + render(item, deeper) for item in value)
        return f"[\n{lines}\n{indent}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
