"""The text of XDSL files: nodes and their ids.

Ids are letters, digits and underscores, beginning with a letter. A name that is no such id gets one made from it,
and travels in a property (see `juncture.formats.xdsl`). Nodes come in topological order, as GeNIe wants them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count

from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.deterministic import Deterministic
from juncture.formats.cut_points import KEY as CUTS
from juncture.formats.cut_points import cuts_text
from juncture.formats.losses import state_texts, to_table
from juncture.formats.xml.networks import format_element, numbers_text
from juncture.networks.bayesian_network import BayesianNetwork

NAME, STATE, POSITION = "juncture_name", "juncture_state_", "juncture_position"
IDENTIFIER = re.compile("[A-Za-z][A-Za-z0-9_]*")


def network_text(network: BayesianNetwork) -> str:
    names = network.variables.names
    ids = dict(zip(names, make_identifiers(names), strict=True))
    order = parents_first(network)
    positions = {name: index for index, name in enumerate(names)} if order != names else {}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<smile version="1.0" id="network" numsamples="10000">',
        "<nodes>",
    ]
    parts = {part.child.name: as_writable(part) for part in network.conditionals}
    for name in order:
        lines += node_lines(parts[name], ids, positions)
    return "\n".join([*lines, "</nodes>", *extension_lines(order, ids), "</smile>", ""])


def extension_lines(order: Sequence[str], ids: dict[str, str]) -> list[str]:
    """The titles that GeNIe shows, and without which pyAgrum does not read a file."""
    titles = [f'    <node id="{ids[name]}">{format_element("name", name, name)}</node>' for name in order]
    head = '  <genie version="1.0" app="Juncture" name="network">'
    return ["<extensions>", head, *titles, "  </genie>", "</extensions>"]


def parents_first(network: BayesianNetwork) -> tuple[str, ...]:
    """The model's own order where no child comes before its parent, else a topological one."""
    seen: set[str] = set()
    for conditional in network.conditionals:
        if not seen.issuperset(conditional.parents.names):
            return network.graph.topological_order()
        seen.add(conditional.child.name)
    return network.variables.names


def as_writable(conditional: AnyConditional) -> Conditional | Deterministic:
    return conditional if isinstance(conditional, Deterministic) else to_table(conditional, "XDSL")


def node_lines(conditional: Conditional | Deterministic, ids: dict[str, str], positions: dict[str, int]) -> list[str]:
    child, parents = conditional.child, conditional.parents
    states = state_texts(child, "XDSL")
    state_ids = make_identifiers(states)
    kind, numbers = definition(conditional, state_ids)
    lines = [f'  <{kind} id="{ids[child.name]}">', *(f'    <state id="{key}" />' for key in state_ids)]
    if parents:
        lines.append(f"    <parents>{' '.join(ids[name] for name in parents.names)}</parents>")
    lines.append(f"    {numbers}")
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


def definition(conditional: Conditional | Deterministic, state_ids: Sequence[str]) -> tuple[str, str]:
    """The kind of node, and the element with its numbers or states."""
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
