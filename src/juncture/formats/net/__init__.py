"""NET, the text format of Hugin, as far as it describes discrete Bayesian networks.

    net { }
    node rain { states = ("no" "yes"); }
    node wet { states = ("no" "yes"); }
    potential (rain) { data = (0.8 0.2); }
    potential (wet | rain) { data = ((0.9 0.1) (0.2 0.8)); }

Data list the parents in order, the first changing slowest, and the child fastest; inner brackets may be left
out. Comments run from `%` or `//` to the line's end, a quoted text may go on over lines, and the `net` block may be
missing: programs that read NET files take these too. Attributes other than `states` and `data` are ignored. Utilities,
decisions, continuous nodes and classes are refused.

A node's name must be a letter or underscore, then letters, digits and underscores. Any other name is written as
such an identifier, with the true name in the attribute `JUNCTURE_name`, from which it is read back. States are
text. Compact conditionals are written out; ties and plates are lost, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.formats.blocks import Block, blocks, check_keyword, read_name, split_keyword, statements
from juncture.formats.blocks.families import (
    SEPARATORS,
    Declared,
    Family,
    as_nonempty_tables,
    build_network,
    declare,
    read_numbers,
    read_tables,
)
from juncture.formats.blocks.source import Source, read_source
from juncture.formats.files import warn_losses
from juncture.formats.losses import find_losses, state_texts
from juncture.formats.net.names import make_identifiers, quote, unescape
from juncture.formats.rows import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

TO_LINE_END = re.compile(r"[^\n]*+")
CLOSINGS = {'"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL), "%": TO_LINE_END, "//": TO_LINE_END}
GROUP = re.compile(r"\(([^()]*)\)")
NAME_ATTRIBUTE = "JUNCTURE_name"
INDENT = "\n            "
NODES = {"node", "discrete", "continuous"}
OTHER_KINDS = {"continuous", "decision", "function", "instance", "interval", "utility"}


def read_net(data: bytes, rows: RowRepair) -> BayesianNetwork:
    source = read_source(data, CLOSINGS)
    by_identifier: dict[str, Declared] = {}
    by_name: dict[str, Declared] = {}
    potentials: list[Block] = []
    for block in blocks_after_header(source):
        if block.keyword == "potential":
            potentials.append(block)
        else:
            identifier, variable = read_node(source, block)
            declare(source, by_identifier, identifier, Declared(variable, block.offset))
            declare(source, by_name, variable.name, Declared(variable, block.offset))
    return build_network(source, by_name, read_tables(source, potentials, by_identifier, read_values, rows))


def blocks_after_header(source: Source) -> Iterator[Block]:
    """The blocks of nodes and potentials, after `net { … }`, which some programs leave out."""
    found = blocks(source)
    first = next(found, None)
    if first and first.keyword == "class":
        raise source.error("classes of object-oriented networks cannot be read; save the network without them", 0)
    if first and first.keyword in NODES:
        found = chain([first], found)
    else:
        check_keyword(source, first, ["net"])
    for block in map(partial(as_discrete, source), found):
        check_keyword(source, block, ["node", "potential"])
        yield block


def as_discrete(source: Source, block: Block) -> Block:
    """`discrete node x` as `node x`; other kinds of nodes are refused by name."""
    keyword, head = split_keyword(block.head) if block.keyword == "discrete" else (block.keyword, block.head)
    if keyword in OTHER_KINDS:
        whole = source.excerpt(f"{block.keyword} {block.head}")
        raise source.error(f"{whole} is not a discrete chance node, and only these can be read", block.offset)
    return block._replace(keyword=keyword, head=head)


def read_node(source: Source, block: Block) -> tuple[str, Variable]:
    """A node's identifier, and the variable with its true name."""
    identifier = read_name(source, block)
    offset, value = attribute(source, block, "states")
    labels = GROUP.fullmatch(value)
    if labels is None:
        raise source.error(
            f'expected \'states = ("a" "b" …)\' of {identifier!r}, found {source.excerpt(value)}', offset
        )
    states = [unescape(source.unshield(word, offset)) for word in SEPARATORS.split(labels[1]) if word]
    _, name = attribute(source, block, NAME_ATTRIBUTE, default=identifier)
    with source.locate_errors(offset):
        return identifier, Variable(unescape(source.unshield(name, offset)), states)


def read_values(source: Source, block: Block, family: Family, room: int) -> np.ndarray:
    """The table as (row, state of the child), complete, from `data` with or without inner brackets."""
    num_states, name = family.child.num_states, repr(family.child.name)
    offset, data = attribute(source, block, "data")
    size = check_size([*family.parents.shape, num_states], room, f"the table of {name}")
    groups = GROUP.findall(data)
    if GROUP.sub("", data).strip("( \t\r\n)") or data.count("(") != data.count(")") or not groups:
        raise source.error(
            f"the data of {name} must be numbers in nested brackets; found {source.excerpt(data)}", offset
        )
    if len(groups) == 1:
        return np.array(read_numbers(source, groups[0], size, f"the table of {name}", offset)).reshape(-1, num_states)
    if len(groups) != size // num_states:
        raise source.error(f"the data of {name} need {size // num_states} rows, found {len(groups)}", offset)
    return np.array([read_numbers(source, group, num_states, f"a row of {name}", offset) for group in groups])


def attribute(source: Source, block: Block, wanted: str, default: str | None = None) -> tuple[int, str]:
    """The offset and value of the statement `wanted = value;`."""
    found: list[tuple[int, str]] = []
    for offset, statement in statements(source, block):
        name, equals, value = statement.partition("=")
        if not equals:
            raise source.error(f"expected 'attribute = value;', found {source.excerpt(statement)}", offset)
        if name.strip() == wanted:
            found.append((offset, value.strip()))
    if not found and default is not None:
        return block.offset, default
    if len(found) != 1:
        what = f"{block.keyword} {block.head}"
        raise source.error(f"{source.excerpt(what)} needs one attribute {wanted!r}, found {len(found)}", block.offset)
    return found[0]


def write_net(model: BayesianNetwork) -> str:
    tables = as_nonempty_tables(model, "NET")
    warn_losses(find_losses(model), "NET")
    names = make_identifiers(table.child.name for table in tables)
    nodes = [node_text(table.child, names) for table in tables]
    return "net\n{\n}\n" + "".join([*nodes, *(potential_text(table, names) for table in tables)])


def node_text(variable: Variable, names: dict[str, str]) -> str:
    identifier = names[variable.name]
    name = quote(variable.name)
    true_name = "" if identifier == variable.name else f"    label = {name};\n    {NAME_ATTRIBUTE} = {name};\n"
    labels = " ".join(quote(label) for label in state_texts(variable, "NET"))
    return f"\nnode {identifier}\n{{\n    states = ({labels});\n{true_name}}}\n"


def potential_text(table: Conditional, names: dict[str, str]) -> str:
    parents = " ".join(names[parent.name] for parent in table.parents)
    given = f" | {parents}" if parents else ""
    return f"\npotential ({names[table.child.name]}{given})\n{{\n    data = {nest(table.values)};\n}}\n"


def nest(values: np.ndarray) -> str:
    """Numbers in one pair of brackets per row, and one around the rows of each state of a parent."""
    if values.ndim == 1:
        return f"({' '.join(map(repr, values.tolist()))})"
    return f"({INDENT.join(nest(part) for part in values)})"
