"""DNE, the text format of Netica, as far as it describes Bayesian networks of nodes with states.

    // ~->[DNET-1]->~
    bnet example {
    node rain { kind = NATURE; discrete = TRUE; states = (no, yes); parents = (); probs = (0.8, 0.2); };
    node wet { kind = NATURE; discrete = TRUE; states = (no, yes); parents = (rain); probs = (0.9, 0.1, 0.2, 0.8); };
    };

Tables list the parents in order, the first changing slowest, and the child fastest; inner brackets may be left out.
In a table `#2` stands for the third state, in `probs` for the row in which it is certain, and `@imposs` for 0. A
`functable`, one state for each row, gives a `Deterministic`. A continuous node is read if its `levels` make it
discrete: its states are the intervals between them, unless it has `states` too. Comments are `// …` and `/* … */`.

Constants (such as titles) are left out, titles of nodes and states, pictures and other fields are ignored. Decisions,
utilities, links over time and nodes without a table are refused by name; with `normalize=True`, a table that is missing
is uniform, as in Netica. Findings are no part of a model, and a warning
names those of a file.

A name in Netica is a letter, then letters, digits and underscores, 30 in all. Any other name is written as such a
one, with the true name in the field `JUNCTURE_name` and the true labels in `JUNCTURE_states`, from which they are read
back. States are text. Compact conditionals are written out; ties and plates are lost, with a warning.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from juncture.errors import FormatError
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.deterministic import Deterministic
from juncture.formats.blocks import Block, read_name
from juncture.formats.blocks.families import DEFAULT_CELLS, MAX_PARENTS, Declared, build_network, declare, find_variable
from juncture.formats.blocks.source import C_CLOSINGS, Source, read_source
from juncture.formats.dne.fields import Field, entries, read_fields, read_list
from juncture.formats.dne.states import STATES_FIELD, States, read_states
from juncture.formats.dne.tables import read_functable, read_probs
from juncture.formats.dne.text import NAME_FIELD, network_text
from juncture.formats.files import warn_losses
from juncture.formats.losses import as_bayesian_network, cut_losses, find_losses
from juncture.formats.net.names import unescape
from juncture.formats.rows import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable

IDENTIFIER = re.compile(rb"\s*//\s*~->\s*(?!\[DNET-1\]->~)[^\n]*")
READ = {
    *("kind", "discrete", "chance", "states", "levels", "statetitles", "numstates", "parents", "delays"),
    *("probs", "functable", "equation", "evidence", NAME_FIELD, STATES_FIELD),
}


class Node(NamedTuple):
    """A chance node of the file: its fields by name, its variable, and how its states are called."""

    block: Block
    fields: dict[str, Field]
    variable: Variable
    states: States


def read_dne(data: bytes, rows: RowRepair) -> BayesianNetwork:
    check_version(data)
    source = read_source(data, C_CLOSINGS)
    by_identifier: dict[str, Declared] = {}
    by_name: dict[str, Declared] = {}
    nodes: list[Node] = []
    constants: set[str] = set()
    for block in node_blocks(source):
        identifier = read_name(source, block)
        fields = read_fields(source, block, READ)
        if is_constant(source, block, fields):
            constants.add(identifier)
            continue
        node = read_node(source, block, identifier, fields)
        nodes.append(node)
        declare(source, by_identifier, identifier, Declared(node.variable, block.offset))
        declare(source, by_name, node.variable.name, Declared(node.variable, block.offset))
    room = len(source.text) + DEFAULT_CELLS
    tables: dict[str, AnyConditional] = {}
    for node in nodes:
        parents = read_parents(source, node, by_identifier, constants)
        with source.locate_errors(node.block.offset):
            tables[node.variable.name] = read_conditional(source, node, parents, rows, room)
        room -= parents.size * node.variable.num_states
    note_findings(nodes, rows)
    return build_network(source, by_name, tables)


def check_version(data: bytes) -> None:
    """The first line says which format follows; it may be missing."""
    found = IDENTIFIER.match(data.removeprefix(b"\xef\xbb\xbf"))
    if found:
        shown = found[0].strip()[:30].decode("ascii", "replace")
        raise FormatError(f"expected a file of Netica that begins with '// ~->[DNET-1]->~', found {shown!r}", line=1)


def node_blocks(source: Source) -> list[Block]:
    """The nodes of the one network; other blocks in it are ignored."""
    found = list(entries(source, 0, len(source.text)))
    first = found[0] if found else None
    if not isinstance(first, Block) or first.keyword != "bnet":
        what = "nothing" if first is None else source.excerpt(source.text[first.offset : first.offset + 200])
        raise source.error(f"expected 'bnet name {{', found {what}", first.offset if first else 0)
    if len(found) > 1:
        raise source.error("expected the end of the file after the network", found[1].offset)
    inner = entries(source, first.body, first.end)
    return [entry for entry in inner if isinstance(entry, Block) and entry.keyword == "node"]


def is_constant(source: Source, block: Block, fields: dict[str, Field]) -> bool:
    """Whether a node is a constant, such as a title; what is neither that nor a chance node is refused."""
    kind = fields["kind"].value if "kind" in fields else "NATURE"
    if kind not in {"NATURE", "CONSTANT"}:
        what = f"the node {source.excerpt(block.head)} is of the kind {source.excerpt(kind)}"
        raise source.error(f"{what}; only chance nodes (NATURE) are read, no decisions or utilities", block.offset)
    return kind == "CONSTANT"


def read_node(source: Source, block: Block, identifier: str, fields: dict[str, Field]) -> Node:
    if "delays" in fields and re.search("[1-9]", fields["delays"].value):
        rule = "has links over time, which are not read; expand it in Netica and save the expanded network"
        raise source.error(f"the node {identifier!r} {rule}", fields["delays"].offset)
    states = read_states(source, identifier, fields, block.offset)
    field = fields.get(NAME_FIELD)
    name = unescape(source.unshield(field.value, field.offset)) if field else identifier
    with source.locate_errors(block.offset):
        return Node(block, fields, Variable(name, states.labels), states)


def read_parents(source: Source, node: Node, declared: dict[str, Declared], constants: set[str]) -> Scope:
    field = node.fields.get("parents")
    names = read_list(source, field) if field else []
    offset = field.offset if field else node.block.offset
    if "" in names or len(names) > MAX_PARENTS:
        what = (
            "a link without a node" if "" in names else f"{len(names)} parents; a table can have at most {MAX_PARENTS}"
        )
        raise source.error(f"the node {node.variable.name!r} has {what}", offset)
    constant = next((name for name in names if name in constants and name not in declared), None)
    if constant is not None:
        raise source.error(
            f"{node.variable.name!r} has the constant {constant!r} as a parent, which is not read", offset
        )
    with source.locate_errors(offset):
        return Scope(find_variable(source, declared, name, offset) for name in names)


def read_conditional(source: Source, node: Node, parents: Scope, rows: RowRepair, room: int) -> AnyConditional:
    child, fields = node.variable, node.fields
    if "probs" in fields:
        values = read_probs(source, fields["probs"], child, parents, room)
        with source.locate_errors(fields["probs"].offset):
            return Conditional(child, parents, rows.repair(child, parents, values))
    if "functable" in fields:
        return Deterministic(
            child, parents, read_functable(source, fields["functable"], node.states, child, parents, room)
        )
    if "equation" in fields:
        raise FormatError(f"the node {child.name!r} has no table; let Netica make a table of its equation")
    if not rows.normalize:
        advice = (
            "Netica takes it as uniform, and so does jt.read(path, normalize=True), or --normalize on the command line"
        )
        raise FormatError(f"the node {child.name!r} has no table; give it 'probs'. {advice}")
    check_size([*parents.shape, child.num_states], room, f"the table of {child.name!r}")
    return Conditional(child, parents, rows.repair(child, parents, np.zeros((*parents.shape, child.num_states))))


def note_findings(nodes: list[Node], rows: RowRepair) -> None:
    found = [node.variable.name for node in nodes if "evidence" in node.fields]
    if found:
        names = ", ".join(found[:5]) + (" and others" if len(found) > 5 else "")
        note = f"the file holds findings about {names}, which are not part of the model; pass them as evidence"
        rows.notes.append((note, UserWarning))


def write_dne(model: BayesianNetwork) -> str:
    text = network_text(as_bayesian_network(model, "DNE"))
    warn_losses([*find_losses(model, kept=(Conditional, Deterministic)), *cut_losses(model.variables)], "DNE")
    return text
