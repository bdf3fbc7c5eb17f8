"""Markov chains as plain data: {"states": […], "order": 1, "transition": [[…], …], "initial": […]}.

`initial` is left out where the chain has none. The first-order form of a chain of order m has states that are tuples of
m labels: "history" is m, and "states" are the labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.data.document import encode_states, read_states
from juncture.sequences.markov_chains.labels import ChainLabels, as_order
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.variables import Variable

MAX_HISTORY = 64  # labels: a chain of two labels and a longer history has more states than memory holds


def encode_chain(model: MarkovChain) -> dict[str, Any]:
    document: dict[str, Any] = {"states": encode_states(model.labels.variable.labels, "state"), "order": model.order}
    if model.labels.length > 1:
        document["history"] = model.labels.length
    document["transition"] = model.transition.tolist()
    if model.initial is not None:
        document["initial"] = model.initial.tolist()
    return document


def read_chain(document: Node) -> MarkovChain:
    fields = document.fields([*HEAD, "transition"], ["states", "order", "history", "initial"])
    order = read_order(fields["order"]) if "order" in fields else 1
    initial = read_initial(fields["initial"], order) if "initial" in fields else None
    states: Any = read_states(fields.get("states"))
    if "history" in fields:
        states = read_histories(document, states, fields["history"])
    return MarkovChain(fields["transition"].table(), initial, states=states, order=order)


def read_order(node: Node) -> int:
    with node.locate_errors():
        return as_order(node.integer())


def read_initial(node: Node, order: int) -> np.ndarray:
    """The table of the first states: in a file never the states themselves."""
    table = node.table()
    if table.ndim != order:
        raise node.error(f"must be a table with an axis for each of the first {order} states; it has {table.ndim} axes")
    return table


def read_histories(document: Node, states: Any, history: Node) -> ChainLabels:
    """The labels of a chain whose states are tuples of labels."""
    if states is None:
        raise document.error("lacks the key 'states': a chain with a history needs the labels that it is made of")
    length = history.integer()
    if not 1 <= length <= MAX_HISTORY:
        raise history.kind_error(f"a whole number from 1 to {MAX_HISTORY}")
    return ChainLabels(Variable("state", states), length)


register_kind(MarkovChain, encode_chain, read_chain)
