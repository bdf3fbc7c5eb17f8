"""XDSL, the files of GeNIe and SMILE.

`<cpt>` gives a `Conditional`, `<deterministic>` a `Deterministic`. A `<noisymax>` is written out as a table: its
child is the least, in the order of its states, of the values that its causes produce, since SMILE lists the strongest
state first, while a `NoisyMax` takes the greatest. A `<decision>` and the `<utility>` nodes, which a `<mau>` may
weigh, make a `DecisionNetwork`: the utilities are a table each, and additive nodes weigh them. Other kinds of nodes
are refused by name. What is not a `Deterministic` is written as a `<cpt>`, with a warning where that loses a compact
form. In a table the last parent changes faster than the first; in the files of aGrUM, which names itself in `<genie
app=…>`, it is the other way round.

An `<equation>` gives a `LinearGaussian` if it is a linear function of the parents and Gaussian noise, such as `C =
2*A + Normal(1, 0.5)`. `Normal(mean, deviation)` has a standard deviation; several of them are independent, so that
their variances add. The bounds of a definition do not truncate the distribution, and are noted where they are finite.

A variable is named by its node's id, a state by its id; the titles and pictures under `<extensions>` and other
properties are ignored. Ids are letters, digits and underscores, beginning with a letter. A name that is no such id
gets one made from it. Properties whose ids begin with `juncture_` restore what `write_xdsl` could not say in ids:

    juncture_name       the name of the variable
    juncture_state_2    the name of its third state
    juncture_cuts       the cuts between its states
    juncture_position   its place among the model's variables, where GeNIe wants parents before children
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import NamedTuple, cast

import numpy as np

from juncture.errors import FormatError, InvalidModel
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.deterministic import Deterministic
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.cut_points import KEY as CUTS
from juncture.formats.cut_points import cuts_text
from juncture.formats.files import warn_losses
from juncture.formats.linear import Linear, parse_linear
from juncture.formats.losses import as_bayesian_network, find_losses, state_texts, to_table
from juncture.formats.row_repair import RowRepair, check_size
from juncture.formats.xml import (
    Element,
    check_count,
    check_distinct,
    format_element,
    numbers_text,
    read_network,
    read_numbers,
    read_parents,
    read_table,
    read_variable,
    read_xml,
    shorten,
    words,
)
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.decision_network import Decision, DecisionNetwork, Utility, node_variable
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


def read_equation(
    element: Element, child: Variable, ids: Sequence[str], parents: Scope, rows: RowRepair
) -> LinearGaussian:
    """The conditional of an <equation>; `ids` are what the equation calls its parents."""
    definition = element.only("definition")
    for parent in parents:
        if not parent.is_real:
            element.fail(f"has the parent {shorten(parent.name)} with states; only equations of equations are read")
    linear = read_linear(definition, element.attribute("id"))
    for name in linear.coefficients:
        if name not in ids:
            definition.fail(f"names {shorten(name)}, which is not among the <parents>")
    note_bounds(definition, child, rows)
    coefficients = [linear.coefficients.get(name, 0.0) for name in ids]
    try:
        variance = sum(spread * spread for spread in linear.spreads)
        return LinearGaussian(child, parents, coefficients, linear.constant, variance)
    except InvalidModel as error:
        raise FormatError(str(error), line=definition.line) from error


def read_linear(definition: Element, child: str) -> Linear:
    left, equals, right = definition.content.partition("=")
    if not equals or left.strip() != child:
        definition.fail(f"must be '{shorten(child, quoted=False)} = …'; found {shorten(definition.content)}")
    try:
        linear = parse_linear(right)
    except ValueError as error:
        definition.fail(f"holds {shorten(right)}, which is not read: {error}")
    if not linear.spreads:
        definition.fail(f"holds {shorten(right)}, which has no Normal(mean, deviation); only linear Gaussians are read")
    return linear


def note_bounds(definition: Element, child: Variable, rows: RowRepair) -> None:
    finite = [key for key in ("lower", "upper") if definition.attributes.get(key, "inf").lstrip("+-").lower() != "inf"]
    if finite:
        note = (
            f"the bounds of {shorten(child.name)} ({' and '.join(finite)}) are ignored: its Gaussian is not truncated"
        )
        rows.notes.append((note, UserWarning))


def definition(conditional: Conditional | Deterministic | Decision, state_ids: Sequence[str]) -> tuple[str, str]:
    """The kind of node, and the element with its numbers or states; a decision has none."""
    if isinstance(conditional, Decision):
        return "decision", ""
    if isinstance(conditional, Deterministic):
        results = " ".join(state_ids[code] for code in conditional.codes.ravel().tolist())
        return "deterministic", f"<resultingstates>{results}</resultingstates>"
    numbers = numbers_text(conditional.values, "\n      ")
    return "cpt", f"<probabilities>{numbers}</probabilities>"


READERS: dict[str, Callable[[Node, Scope, RowRepair], AnyConditional | Decision]] = {
    "cpt": read_cpt,
    "deterministic": read_deterministic,
    "noisymax": read_noisymax,
    "equation": read_linear_gaussian,
    "decision": read_decision,
}
NAME = "juncture_name"


def read_utilities(body: Element, variables: Mapping[str, Variable]) -> list[Utility]:
    """The utilities by their ids, each times its weight in an additive node."""
    found: dict[str, Utility] = {}
    for element in body.all(UTILITY):
        key = element.attribute("id")
        if key in found or key in variables:
            element.fail(f"has the id {shorten(key)}, which was given before")
        found[key] = read_utility(element, key, variables)
    weights = dict.fromkeys(found, 1.0)
    for element in body.all(SUM):
        weights.update(read_weights(element, found))
    return [part if weights[key] == 1.0 else scale(part, weights[key]) for key, part in found.items()]


def read_utility(element: Element, key: str, variables: Mapping[str, Variable]) -> Utility:
    ids = [word for parents in element.all("parents") for word in words(parents)]
    parents = read_parents(key, ids, variables, element)
    numbers = element.only("utilities")
    cells = check_size(parents.shape, len(numbers.leaf_text) // 2 + 1, f"the utility {shorten(key)}", line=element.line)
    own = {item.attributes.get("id", ""): item for item in element.all("property")}
    name = own[NAME].content if NAME in own else key
    try:
        return Utility(parents, read_numbers(numbers, cells).reshape(parents.shape), name=name)
    except InvalidModel as error:
        raise FormatError(str(error), line=element.line) from error


def read_weights(element: Element, utilities: Mapping[str, Utility]) -> dict[str, float]:
    """The weight of each utility in a sum; other combinations of utilities are refused."""
    ids = [word for parents in element.all("parents") for word in words(parents)]
    for key in ids:
        if key not in utilities:
            element.fail(f"combines {shorten(key)}, which is no utility; only weighted sums of utilities are read")
    if not element.all("weights"):
        element.fail("combines utilities by an expression; only weighted sums of utilities are read")
    return dict(zip(ids, read_numbers(element.only("weights"), len(ids)).tolist(), strict=True))


def scale(utility: Utility, weight: float) -> Utility:
    return Utility(utility.parents, weight * utility.values, name=utility.name)


def build_decision_network(
    parts: Sequence[AnyConditional | Decision], utilities: Sequence[Utility], element: Element
) -> DecisionNetwork:
    try:
        return DecisionNetwork([*parts, *utilities])
    except InvalidModel as error:
        raise FormatError(str(error), line=element.line) from error


def utility_numbers(utility: Utility) -> str:
    values = utility.values if utility.parents else utility.values.reshape(1)
    return numbers_text(values, "\n      ")


def write_xdsl(model: Network | DecisionNetwork) -> str:
    text = network_text(model if isinstance(model, DecisionNetwork) else as_bayesian_network(model, "XDSL"))
    warn_losses(find_losses(model, kept=(Conditional, Deterministic)), "XDSL")
    return text


UTILITY, SUM = "utility", "mau"
STATE, POSITION = "juncture_state_", "juncture_position"
IDENTIFIER = re.compile("[A-Za-z][A-Za-z0-9_]*")


def network_text(network: BayesianNetwork | DecisionNetwork) -> str:
    names = network.variables.names
    utilities = network.utilities if isinstance(network, DecisionNetwork) else ()
    every = (*names, *(str(part.name) for part in utilities))
    ids = dict(zip(every, make_identifiers(every), strict=True))
    order = parents_first(network)
    positions = {name: index for index, name in enumerate(names)} if order != names else {}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<smile version="1.0" id="network" numsamples="10000">',
        "<nodes>",
    ]
    for name in order:
        lines += node_lines(as_writable(network[name]), ids, positions)
    for part in utilities:
        lines += utility_lines(part, ids)
    return "\n".join([*lines, "</nodes>", *extension_lines((*order, *every[len(names) :]), ids), "</smile>", ""])


def utility_lines(part: Utility, ids: dict[str, str]) -> list[str]:
    name = str(part.name)
    parents = f"    <parents>{' '.join(ids[parent] for parent in part.parents.names)}</parents>"
    true_name = [] if ids[name] == name else [property_line(NAME, name, name)]
    return [
        f'  <{UTILITY} id="{ids[name]}">',
        *([parents] if part.parents else []),
        f"    <utilities>{utility_numbers(part)}</utilities>",
        *true_name,
        f"  </{UTILITY}>",
    ]


def extension_lines(order: Sequence[str], ids: dict[str, str]) -> list[str]:
    """The titles that GeNIe shows, and without which pyAgrum does not read a file."""
    titles = [f'    <node id="{ids[name]}">{format_element("name", name, name)}</node>' for name in order]
    head = '  <genie version="1.0" app="Juncture" name="network">'
    return ["<extensions>", head, *titles, "  </genie>", "</extensions>"]


def parents_first(network: BayesianNetwork | DecisionNetwork) -> tuple[str, ...]:
    """The model's own order where no child comes before its parent, else a topological one."""
    seen: set[str] = set()
    for name in network.variables.names:
        if not seen.issuperset(network[name].parents.names):
            known = set(network.variables.names)
            return tuple(each for each in network.graph.topological_order() if each in known)
        seen.add(name)
    return network.variables.names


def as_writable(part: AnyConditional | Decision | Utility) -> Conditional | Deterministic | Decision:
    return part if isinstance(part, Deterministic | Decision) else to_table(cast("AnyConditional", part), "XDSL")


def node_lines(
    conditional: Conditional | Deterministic | Decision, ids: dict[str, str], positions: dict[str, int]
) -> list[str]:
    child, parents = node_variable(conditional), conditional.parents
    states = state_texts(child, "XDSL")
    state_ids = make_identifiers(states)
    kind, numbers = definition(conditional, state_ids)
    lines = [f'  <{kind} id="{ids[child.name]}">', *(f'    <state id="{key}" />' for key in state_ids)]
    if parents:
        lines.append(f"    <parents>{' '.join(ids[name] for name in parents.names)}</parents>")
    lines += [f"    {numbers}"] if numbers else []
    properties: list[tuple[str, str, str | None]] = [(NAME, child.name, ids[child.name])]
    properties += [
        (f"{STATE}{code}", text, key) for code, (text, key) in enumerate(zip(states, state_ids, strict=True))
    ]
    cuts = cuts_text(child)
    properties += [(CUTS, cuts, None)] if cuts is not None else []
    properties += [(POSITION, str(positions[child.name]), "")] if positions else []
    lines += [property_line(key, text, child.name) for key, text, written in properties if text != written]
    return [*lines, f"  </{kind}>"]


def property_line(key: str, text: str, variable: str) -> str:
    element = format_element("property", text, variable, f' id="{key}"')
    return f"    {element}"


def make_identifiers(texts: Iterable[str]) -> list[str]:
    """A distinct id for each of some distinct texts: the text itself where it is one.

    >>> make_identifiers(["yes", "12+", "12-", "<5"])
    ['yes', 'x12_', 'x12__2', 'x_5']
    """
    texts = list(texts)
    taken = {text for text in texts if IDENTIFIER.fullmatch(text)}
    numbers: defaultdict[str, count[int]] = defaultdict(lambda: count(2))
    return [text if text in taken else fresh_identifier(text, taken, numbers) for text in texts]


def fresh_identifier(text: str, taken: set[str], numbers: defaultdict[str, count[int]]) -> str:
    stem = re.sub("[^A-Za-z0-9_]", "_", text)
    stem = stem if IDENTIFIER.match(stem) else f"x{stem}"
    key = stem
    while key in taken:
        key = f"{stem}_{next(numbers[stem])}"
    taken.add(key)
    return key
