"""XDSL, the files of GeNIe and SMILE.

`<cpt>` gives a `Conditional`, `<deterministic>` a `Deterministic`. A `<noisymax>` is written out as a table: its
child is the least, in the order of its states, of the values that its causes produce, since SMILE lists the
strongest state first, while a `NoisyMax` takes the greatest. An `<equation>` gives a `LinearGaussian` if it is linear
with Gaussian noise (see equations.py). A `<decision>` and the `<utility>` nodes, which a `<mau>` may weigh, make a
`DecisionNetwork` (see utilities.py). Other kinds of nodes are refused by name. What is not a `Deterministic` is
written as a `<cpt>`, with a warning where that loses a compact form. In a table the last parent changes faster than the
first; in the files of aGrUM, which names itself in `<genie app=…>`, it is the other way round.

A variable is named by its node's id, a state by its id; the titles and pictures under `<extensions>` and other
properties are ignored. Properties whose ids begin with `juncture_` restore what `write_xdsl` could not say in ids:

    juncture_name       the name of the variable
    juncture_state_2    the name of its third state
    juncture_cuts       the cuts between its states
    juncture_position   its place among the model's variables, where GeNIe wants parents before children
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.deterministic import Deterministic
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.cut_points import KEY as CUTS
from juncture.formats.files import warn_losses
from juncture.formats.losses import as_bayesian_network, find_losses
from juncture.formats.rows import RowRepair, check_size
from juncture.formats.xdsl.equations import read_equation
from juncture.formats.xdsl.text import POSITION, STATE, network_text
from juncture.formats.xdsl.utilities import NAME, SUM, UTILITY, build_decision_network, read_utilities
from juncture.formats.xml import Element, read_xml, shorten
from juncture.formats.xml.networks import (
    check_count,
    check_distinct,
    read_network,
    read_numbers,
    read_parents,
    read_table,
    read_variable,
    words,
)
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.decision_network import DecisionNetwork
from juncture.networks.decision_nodes import Decision
from juncture.variables import Scope, Variable

MAX_EXPANDED = 2**24  # entries of all noisy tables of a file, written out


class Node(NamedTuple):
    """A node of the file: its variable, and the code of each state's id."""

    element: Element
    variable: Variable
    codes: dict[str, int]
    position: int


def read_xdsl(data: bytes, rows: RowRepair) -> BayesianNetwork | DecisionNetwork:
    root = read_xml(data, "smile")
    for element in root.all("dynamic"):
        element.fail(
            "makes this a network over time, which is not read; unroll it in GeNIe and save the unrolled network"
        )
    body = root.only("nodes")
    nodes = read_nodes(body)
    variables = {name: node.variable for name, node in nodes.items()}
    parents = {
        name: read_parents(name, parent_ids(node.element), variables, node.element) for name, node in nodes.items()
    }
    check_parents(nodes, parents)
    check_expanded_size(nodes, parents)
    order = sorted(nodes, key=lambda name: nodes[name].position)
    readers = {**READERS, "cpt": read_cpt_of_agrum} if is_of_agrum(root) else READERS
    parts = [readers[nodes[name].element.name](nodes[name], parents[name], rows) for name in order]
    utilities = read_utilities(body, variables)
    if utilities or any(isinstance(part, Decision) for part in parts):
        return build_decision_network(parts, utilities, body)
    return read_network(cast("list[AnyConditional]", parts), body)


def check_parents(nodes: dict[str, Node], parents: dict[str, Scope]) -> None:
    """The parents of a table have states."""
    for name, node in nodes.items():
        real = next((parent.name for parent in parents[name] if parent.is_real), None)
        if real is not None and not node.variable.is_real:
            node.element.fail(f"has states and the parent {shorten(real)}, an equation, which is not read")


def check_expanded_size(nodes: dict[str, Node], parents: dict[str, Scope]) -> None:
    """A few numbers of a noisy node can stand for any number of rows; refuse more than fit."""
    total = 0
    for name, node in nodes.items():
        if node.element.name == "noisymax":
            total += parents[name].size * node.variable.num_states
            if total > MAX_EXPANDED:
                node.element.fail(f"would bring the noisy tables, written out, to over {MAX_EXPANDED:,} entries")


# --- nodes and what they are called ----------------------------------------------------------------------------------


def read_nodes(body: Element) -> dict[str, Node]:
    """The nodes by id."""
    nodes: dict[str, Node] = {}
    names: set[str] = set()
    for index, element in enumerate(body.children):
        if element.name in {UTILITY, SUM}:
            continue
        if element.name not in READERS:
            known = ", ".join([*READERS, UTILITY, SUM])
            element.fail(f"is a kind of node that is not read; known are {known}")
        node = read_node(element, index)
        key = element.attribute("id")
        if key in nodes or node.variable.name in names:
            element.fail(f"{shorten(key)} ({shorten(node.variable.name)}) has an id or a name given before")
        nodes[key] = node
        names.add(node.variable.name)
    return nodes


def read_node(element: Element, index: int) -> Node:
    own = {item.attributes.get("id", ""): item for item in element.all("property")}
    name = own[NAME].content if NAME in own else element.attribute("id")
    ids = [state.attribute("id") for state in element.all("state")]
    if not ids and element.name != "equation":
        element.fail(f"gives {shorten(name)} no <state>; it must have at least one")
    check_distinct(ids, element, f"gives {shorten(name)} the state")
    labels = [own[f"{STATE}{code}"].content if f"{STATE}{code}" in own else key for code, key in enumerate(ids)]
    cuts = own[CUTS].text if CUTS in own and labels else None
    variable = read_variable(name, labels if element.name != "equation" else None, element, cuts)
    position = whole_number(own[POSITION].content, own[POSITION]) if POSITION in own else index
    return Node(element, variable, {key: code for code, key in enumerate(ids)}, position)


def parent_ids(element: Element) -> list[str]:
    return [key for parents in element.all("parents") for key in words(parents)]


def whole_number(word: str, element: Element) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        element.fail(f"holds {shorten(word)}, which is not a whole number")
    return int(word)


# --- the kinds of nodes ----------------------------------------------------------------------------------------------


def read_cpt(node: Node, parents: Scope, rows: RowRepair) -> Conditional:
    return read_table(node.variable, parents, node.element.only("probabilities"), rows)


def is_of_agrum(root: Element) -> bool:
    programs = [part for outer in root.all("extensions") for part in outer.all("genie")]
    return any(part.attributes.get("app", "").startswith("aGrUM") for part in programs)


def read_cpt_of_agrum(node: Node, parents: Scope, rows: RowRepair) -> Conditional:
    """A table in which the first parent changes faster than the last."""
    if len(parents) < 2:
        return read_cpt(node, parents, rows)
    rows.note_agrum_order()
    values = read_cpt(node, Scope(reversed(parents)), rows).values
    return Conditional(node.variable, parents, values.transpose(*reversed(range(len(parents))), len(parents)))


def read_deterministic(node: Node, parents: Scope, _rows: RowRepair) -> Deterministic:
    element = node.element.only("resultingstates")
    what = f"the states of {shorten(node.variable.name)}"
    cells = check_size(parents.shape, len(element.leaf_text) // 2 + 1, what, line=element.line)
    found = list(words(element))
    check_count(element, len(found), cells, "states")
    for word in found:
        if word not in node.codes:
            element.fail(f"holds {shorten(word)}, which is no state of {shorten(node.variable.name)}")
    codes = np.array([node.codes[word] for word in found]).reshape(parents.shape)
    return Deterministic(node.variable, parents, codes)


def read_noisymax(node: Node, parents: Scope, rows: RowRepair) -> Conditional:
    """Per parent, and per state of it from the strongest, a distribution over the child; at last the leak's."""
    child, element = node.variable, node.element.only("parameters")
    sizes = [parent.num_states for parent in parents]
    parameters = read_numbers(element, (sum(sizes) + 1) * child.num_states).reshape(-1, child.num_states)
    *tables, leak = np.split(parameters, np.cumsum(sizes))
    orders = strength_orders(node.element, sizes)
    by_state = [table[np.argsort(order)] for table, order in zip(tables, orders, strict=True)]
    repaired = [
        rows.repair(child, Scope([parent]), table, line=element.line)
        for parent, table in zip(parents, by_state, strict=True)
    ]
    return Conditional(child, parents, noisy_minimum(repaired, rows.repair(child, Scope(), leak, line=element.line)))


def read_linear_gaussian(node: Node, parents: Scope, rows: RowRepair) -> LinearGaussian:
    return read_equation(node.element, node.variable, parent_ids(node.element), parents, rows)


def strength_orders(element: Element, sizes: Sequence[int]) -> list[list[int]]:
    """For each parent its states from the strongest to the neutral one; by default in their own order."""
    found = element.all("strengths")
    if not found:
        return [list(range(size)) for size in sizes]
    strengths = element.only("strengths")
    numbers = [whole_number(word, strengths) for word in words(strengths)]
    ends = np.cumsum(sizes, dtype=int).tolist()
    orders = [numbers[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    if len(numbers) != sum(sizes) or any(sorted(order) != list(range(len(order))) for order in orders):
        strengths.fail("must give for each parent the numbers of its states, from 0, each once")
    return orders


def noisy_minimum(tables: Sequence[np.ndarray], leak: np.ndarray) -> np.ndarray:
    """P(child ≥ y | parents) = leak(≥ y) · Π over parents of table[state](≥ y), as P(child = y | parents)."""
    at_least = tail(leak)
    for table in tables:
        at_least = at_least[..., None, :] * tail(table)
    return np.maximum(-np.diff(at_least, axis=-1, append=0.0), 0.0)


def tail(table: np.ndarray) -> np.ndarray:
    """The sums of a row from each entry to its end; the whole row is 1."""
    sums = np.cumsum(table[..., ::-1], axis=-1)
    return (sums / sums[..., -1:])[..., ::-1]


def read_decision(node: Node, parents: Scope, _rows: RowRepair) -> Decision:
    return Decision(node.variable, parents)


READERS: dict[str, Callable[[Node, Scope, RowRepair], AnyConditional | Decision]] = {
    "cpt": read_cpt,
    "deterministic": read_deterministic,
    "noisymax": read_noisymax,
    "equation": read_linear_gaussian,
    "decision": read_decision,
}


def write_xdsl(model: Any) -> str:
    is_decision = isinstance(model, DecisionNetwork)
    text = network_text(model if is_decision else as_bayesian_network(model, "XDSL"))
    warn_losses(find_losses(model, kept=(Conditional, Deterministic)), "XDSL")
    return text
