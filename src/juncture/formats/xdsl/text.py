"""The text of XDSL files: nodes and their ids.

Ids are letters, digits and underscores, beginning with a letter. A name that is no such id gets one made from it,
and travels in a property (see `juncture.formats.xdsl`). Nodes come in topological order, as GeNIe wants them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import cast

from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.deterministic import Deterministic
from juncture.formats.cut_points import KEY as CUTS
from juncture.formats.cut_points import cuts_text
from juncture.formats.losses import state_texts, to_table
from juncture.formats.xdsl.utilities import NAME, UTILITY, utility_numbers
from juncture.formats.xml.networks import format_element, numbers_text
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.decision_network import DecisionNetwork, node_variable
from juncture.networks.decision_nodes import Decision, Utility

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


def definition(conditional: Conditional | Deterministic | Decision, state_ids: Sequence[str]) -> tuple[str, str]:
    """The kind of node, and the element with its numbers or states; a decision has none."""
    if isinstance(conditional, Decision):
        return "decision", ""
    if isinstance(conditional, Deterministic):
        results = " ".join(state_ids[code] for code in conditional.codes.ravel().tolist())
        return "deterministic", f"<resultingstates>{results}</resultingstates>"
    numbers = numbers_text(conditional.values, "\n      ")
    return "cpt", f"<probabilities>{numbers}</probabilities>"


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
