"""NET, the text format of Hugin, as far as it describes Bayesian networks, discrete or conditional Gaussian.

    net { }
    node rain { states = ("no" "yes"); }
    node wet { states = ("no" "yes"); }
    potential (rain) { data = (0.8 0.2); }
    potential (wet | rain) { data = ((0.9 0.1) (0.2 0.8)); }

Data list the parents in order, the first changing slowest, and the child fastest; inner brackets may be left
out. Comments run from `%` or `//` to the line's end, a quoted text may go on over lines, and the `net` block may be
missing: programs that read NET files take these too. Attributes other than `states` and `data` are ignored. Utilities,
decisions and classes are refused. Continuous nodes are read, as `LinearGaussian`, but not written.

A node's name must be a letter or underscore, then letters, digits and underscores. Any other name is written as
such an identifier, with the true name in the attribute `JUNCTURE_name`, from which it is read back. States are
text, and `JUNCTURE_cuts = "18.0 65.0";` holds the cuts of a variable. Compact conditionals are written out; ties and
plates are lost, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.blocks import Block, blocks, check_keyword, read_name, split_keyword, statements
from juncture.formats.blocks.families import (
    SEPARATORS,
    Declared,
    Family,
    as_nonempty_tables,
    build_network,
    declare,
    read_family,
    read_numbers,
    read_tables,
)
from juncture.formats.blocks.source import Source, read_source
from juncture.formats.cut_points import cuts_text, read_cuts
from juncture.formats.files import warn_losses
from juncture.formats.losses import find_losses, state_texts
from juncture.formats.net.gaussian import read_gaussian
from juncture.formats.net.names import make_identifiers, quote, unescape
from juncture.formats.rows import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

TO_LINE_END = re.compile(r"[^\n]*+")
CLOSINGS = {'"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL), "%": TO_LINE_END, "//": TO_LINE_END}
GROUP = re.compile(r"\(([^()]*)\)")
NAME_ATTRIBUTE, CUTS_ATTRIBUTE = "JUNCTURE_name", "JUNCTURE_cuts"
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
    if not any(declared.variable.is_real for declared in by_name.values()):
        return build_network(source, by_name, read_tables(source, potentials, by_identifier, read_values, rows))
    real = [block for block in potentials if read_family(source, block, by_identifier).child.is_real]
    rest = sorted(set(potentials) - set(real), key=lambda block: block.offset)
    tables = read_tables(source, rest, by_identifier, read_values, rows)
    return build_network(source, by_name, {**tables, **read_gaussians(source, real, by_identifier)})


def read_gaussians(source: Source, found: list[Block], declared: dict[str, Declared]) -> dict[str, LinearGaussian]:
    """The conditional of each continuous node."""
    conditionals: dict[str, LinearGaussian] = {}
    for block in found:
        family = read_family(source, block, declared)
        if family.child.name in conditionals:
            raise source.error(f"{family.child.name!r} has a second 'potential' block; give one", block.offset)
        offset, data = attribute(source, block, "data")
        conditionals[family.child.name] = read_gaussian(source, data, offset, family, declared)
    return conditionals


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
    for block in map(partial(as_plain_node, source), found):
        check_keyword(source, block, ["node", "potential"] if block.keyword != "continuous" else ["continuous"])
        yield block


def as_plain_node(source: Source, block: Block) -> Block:
    """`discrete node x` as `node x`, `continuous node x` as `continuous x`; other kinds are refused by name."""
    keyword, head = split_keyword(block.head) if block.keyword == "discrete" else (block.keyword, block.head)
    if block.keyword == "continuous" and split_keyword(block.head)[0] == "node":
        return block._replace(head=split_keyword(block.head)[1])
    if keyword in OTHER_KINDS:
        whole = source.excerpt(f"{block.keyword} {block.head}")
        raise source.error(
            f"{whole} is not a discrete or continuous chance node, and only these can be read", block.offset
        )
    return block._replace(keyword=keyword, head=head)


def read_node(source: Source, block: Block) -> tuple[str, Variable]:
    """A node's identifier, and the variable with its true name."""
    identifier = read_name(source, block)
    if block.keyword == "continuous":
        with source.locate_errors(block.offset):
            return identifier, Variable(identifier)
    offset, value = attribute(source, block, "states")
    labels = GROUP.fullmatch(value)
    if labels is None:
        raise source.error(
            f'expected \'states = ("a" "b" …)\' of {identifier!r}, found {source.excerpt(value)}', offset
        )
    states = [unescape(source.unshield(word, offset)) for word in SEPARATORS.split(labels[1]) if word]
    _, name = attribute(source, block, NAME_ATTRIBUTE, default=identifier)
    _, cuts = attribute(source, block, CUTS_ATTRIBUTE, default="")  # which is no text in quotes
    with source.locate_errors(offset):
        between = read_cuts(source.unshield(cuts, offset) if cuts else None)
        return identifier, Variable(unescape(source.unshield(name, offset)), states, cuts=between)


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
    cuts = cuts_text(variable)
    kept = "" if cuts is None else f"    {CUTS_ATTRIBUTE} = {quote(cuts)};\n"
    return f"\nnode {identifier}\n{{\n    states = ({labels});\n{true_name}{kept}}}\n"


def potential_text(table: Conditional, names: dict[str, str]) -> str:
    parents = " ".join(names[parent.name] for parent in table.parents)
    given = f" | {parents}" if parents else ""
    return f"\npotential ({names[table.child.name]}{given})\n{{\n    data = {nest(table.values)};\n}}\n"


def nest(values: np.ndarray) -> str:
    """Numbers in one pair of brackets per row, and one around the rows of each state of a parent."""
    if values.ndim == 1:
        return f"({' '.join(map(repr, values.tolist()))})"
    return f"({INDENT.join(nest(part) for part in values)})"
