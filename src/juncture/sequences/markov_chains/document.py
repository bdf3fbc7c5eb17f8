"""Markov chains as plain data: {"states": […], "order": 1, "transition": [[…], …], "initial": […]}.

`initial` is left out where the chain has none. The first-order form of a chain of order m has states that are tuples of
m labels: "history" is m, and "states" are the labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture.base.documents.codec import Given, Pair, Record, encode_table, left_out, unchanged
from juncture.base.documents.kinds import register_kind
from juncture.base.documents.node import Node
from juncture.data.document import states_of
from juncture.errors import FormatError
from juncture.sequences.markov_chains.labels import ChainLabels, as_order
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.variables import Variable

MAX_HISTORY = 64  # labels: a chain of two labels and a longer history has more states than memory holds


class ChainRecord(Record):
    """Markov chains, whose labels are the keys "states" and "history" of a document."""

    def parts(self, value: MarkovChain, /) -> dict[str, Any]:
        history = value.labels.length if value.labels.length > 1 else None
        own = {"states": value.labels.variable.labels, "order": value.order, "history": history}
        return {**own, "transition": value.transition, "initial": value.initial}

    def make(self, *, states: Any = None, history: int | None = None, **values: Any) -> MarkovChain:
        if history is None:
            return MarkovChain(states=states, **values)
        if states is None:
            raise FormatError("lacks the key 'states': a chain with a history needs the labels that it is made of")
        return MarkovChain(states=ChainLabels(Variable("state", states), history), **values)


def read_order(node: Node) -> int:
    with node.locate_errors():
        return as_order(node.integer())


def read_history(node: Node) -> int:
    length = node.integer()
    if not 1 <= length <= MAX_HISTORY:
        raise node.kind_error(f"a whole number from 1 to {MAX_HISTORY}")
    return length


def read_initial(node: Node, values: Mapping[str, Any]) -> np.ndarray:
    """The table of the first states: in a file never the states themselves."""
    table, order = node.table(), values.get("order", 1)
    if table.ndim != order:
        raise node.error(f"must be a table with an axis for each of the first {order} states; it has {table.ndim} axes")
    return table


register_kind(
    ChainRecord(
        MarkovChain,
        "states",
        "order",
        "history",
        "transition",
        "initial",
        states=left_out(states_of("state")),
        order=left_out(Pair(unchanged, read_order)),
        history=left_out(Pair(unchanged, read_history)),
        initial=left_out(Given(encode_table, read_initial)),
    )
)
