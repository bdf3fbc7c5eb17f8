"""DSC, the text format of MSBN (Microsoft's Bayesian networks), which bnlearn and GeNIe write too.

    belief network "example"
    node rain { type : discrete [ 2 ] = { "no", "yes" }; }
    node wet { type : discrete [ 2 ] = { "no", "yes" }; }
    probability ( rain ) { 0.8, 0.2; }
    probability ( wet | rain ) { (0) : 0.9, 0.1; (1) : 0.2, 0.8; }

A row gives the states of the parents by their positions, from 0. `default : 0.5, 0.5;` is the row of all states that
have none. `function : max;` says that the rows are the parameters of a noisy maximum, and the table is computed from
them. GeNIe writes `(0, 0, 0)` before every row, one zero more than there are parents: such rows are taken in order, the
last parent changing fastest, with a warning. Comments are `// …` and `/* … */`. Attributes other than `type` and
`properties` blocks are ignored, also `name`, which is a title.

A node's name must be a letter or underscore, then letters, digits and underscores. Any other name is written as
such an identifier, with the true name in the attribute `JUNCTURE_name`, from which it is read back. States are
text. Compact conditionals are written out; ties and plates are lost, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.formats.block_tables import (
    SEPARATORS,
    Declared,
    Family,
    Rows,
    as_nonempty_tables,
    build_network,
    declare,
    fill_table,
    read_numbers,
    read_tables,
)
from juncture.formats.blocks import C_CLOSINGS, Block, Source, blocks, check_keyword, read_name, read_source, statements
from juncture.formats.files import warn_losses
from juncture.formats.identifiers import make_identifiers, quote, unescape
from juncture.formats.losses import cut_losses, find_losses, state_texts
from juncture.formats.row_repair import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

HEADER = re.compile(r"\s*belief\s+network\s+([^\s{}();,]+)")
ATTRIBUTE = re.compile(r"([A-Za-z_]\w*)\s*(?:[:=]|is\b)\s*(.*)", re.DOTALL)
TYPE = re.compile(r"discrete\s*\[\s*([0-9]+)\s*\]\s*=?\s*\{([^{}]*)\}")
ROW = re.compile(r"\(([^()]*)\)\s*[:=]?(.*)", re.DOTALL)
NAME_ATTRIBUTE = "JUNCTURE_name"
KEYWORDS = {"belief", "network", "node", "probability", "properties", "property", "type", "default", "function", "is"}
IN_ORDER = (
    "the rows of a table name no states of the parents, as where GeNIe has written them; they were taken in order,"
    " the last parent changing fastest"
)


def read_dsc(data: bytes, rows: RowRepair) -> BayesianNetwork:
    source = read_source(data, C_CLOSINGS)
    by_identifier: dict[str, Declared] = {}
    by_name: dict[str, Declared] = {}
    probabilities: list[Block] = []
    for block in blocks_after_header(source):
        if block.keyword == "probability":
            probabilities.append(block)
        elif block.keyword == "node":
            identifier, variable = read_node(source, block)
            declare(source, by_identifier, identifier, Declared(variable, block.offset))
            declare(source, by_name, variable.name, Declared(variable, block.offset))
    tables = read_tables(source, probabilities, by_identifier, partial(read_values, rows), rows)
    return build_network(source, by_name, tables)


def blocks_after_header(source: Source) -> Iterator[Block]:
    header = HEADER.match(source.text)
    if header is None:
        raise source.error(f"expected 'belief network \"name\"', found {source.excerpt(source.text[:200])}", 0)
    source.unshield(header[1], 0)  # one text, which is not kept
    for block in blocks(source, header.end()):
        check_keyword(source, block, ["node", "probability", "properties"])
        yield block


def read_node(source: Source, block: Block) -> tuple[str, Variable]:
    """A node's identifier, and the variable with its true name."""
    identifier, states = read_name(source, block), None
    name = identifier
    for offset, statement in statements(source, block):
        attribute = ATTRIBUTE.fullmatch(statement)
        if attribute and attribute[1] == "type" and states is None:
            states = read_states(source, identifier, attribute[2], offset)
        elif attribute and attribute[1] == NAME_ATTRIBUTE:
            name = unescape(source.unshield(attribute[2].strip(), offset))
        elif attribute is None or attribute[1] == "type":
            found = source.excerpt(statement)
            raise source.error(
                f"expected 'attribute : value;' of {identifier!r}, one of them 'type'; found {found}", offset
            )
    if states is None:
        rule = "add 'type : discrete [ number ] = { states };'"
        raise source.error(f"the node {identifier!r} has no type; {rule}", block.offset)
    with source.locate_errors(block.offset):
        return identifier, Variable(name, states)


def read_states(source: Source, name: str, text: str, offset: int) -> list[str]:
    """As many labels as declared."""
    match = TYPE.fullmatch(text.strip())
    if match is None:
        rule = "expected 'type : discrete [ number ] = { states };'"
        raise source.error(f"{rule} of {name!r}, found {source.excerpt(text)}; other kinds are not read", offset)
    labels = [word for word in SEPARATORS.split(match[2]) if word]
    if str(len(labels)) != match[1].lstrip("0"):
        declared = f"the node {name!r} declares {match[1][:20]} states"
        raise source.error(f"{declared}, but lists {source.excerpt(match[2])}", offset)
    return [unescape(source.unshield(label, offset)) for label in labels]


def read_values(rows: RowRepair, source: Source, block: Block, family: Family, room: int) -> np.ndarray:
    """The table as (row, state of the child), complete; a default row may fill as many cells as there is room."""
    num_states, name = family.child.num_states, repr(family.child.name)
    check_size([*family.parents.shape, num_states], room, f"the table of {name}")
    given = Rows()
    for offset, statement in statements(source, block):
        row = ROW.fullmatch(statement)
        attribute = ATTRIBUTE.fullmatch(statement)
        if row or not (attribute or family.parents):
            states, numbers = (row[1], row[2]) if row else ("", statement)
            given.indices.append(find_row(source, states, family, len(given.indices), offset, rows))
            given.offsets.append(offset)
            given.numbers += read_numbers(source, numbers, num_states, f"a row of {name}", offset)
        elif attribute and attribute[1] == "default" and given.default is None:
            given.default = read_numbers(source, attribute[2], num_states, f"the default row of {name}", offset)
        elif attribute and attribute[1] == "function" and attribute[2].strip() == "max":
            given.is_maximum = True
        else:
            found = source.excerpt(statement)
            raise source.error(
                f"expected a row '(states) : numbers;', one 'default' or 'function : max' of {name}, found {found}",
                offset,
            )
    return fill_table(source, given, family)


def find_row(source: Source, text: str, family: Family, place: int, offset: int, rows: RowRepair) -> int:
    """The position of the row of these states of the parents, the last of which changes fastest."""
    parents, words = family.parents, [word for word in SEPARATORS.split(text) if word]
    if parents and len(words) == len(parents) + 1 and set(words) == {"0"} and place < parents.size:
        if (IN_ORDER, UserWarning) not in rows.notes:
            rows.notes.append((IN_ORDER, UserWarning))
        return place
    rule = (
        f"a row of {family.child.name!r} gives the position, from 0, of a state of each of its {len(parents)} parents"
    )
    if len(words) != len(parents):
        raise source.error(f"{rule}; found {source.excerpt(text)}", offset)
    index = 0
    for word, parent in zip(words, parents, strict=True):
        if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) < parent.num_states):
            states = f"{parent.name!r} has {parent.num_states} states"
            raise source.error(f"{rule}; found {source.excerpt(word)}, and {states}", offset)
        index = index * parent.num_states + int(word)
    return index


def write_dsc(model: BayesianNetwork) -> str:
    tables = as_nonempty_tables(model, "DSC")
    warn_losses([*find_losses(model), *cut_losses(model.variables)], "DSC")
    names = make_identifiers((table.child.name for table in tables), KEYWORDS)
    nodes = [node_text(table.child, names) for table in tables]
    return 'belief network "unknown"\n' + "".join([*nodes, *(probability_text(table, names) for table in tables)])


def node_text(variable: Variable, names: dict[str, str]) -> str:
    identifier, name = names[variable.name], quote(variable.name)
    true_name = "" if identifier == variable.name else f"  name : {name};\n  {NAME_ATTRIBUTE} : {name};\n"
    labels = ", ".join(quote(label) for label in state_texts(variable, "DSC"))
    return f"node {identifier} {{\n{true_name}  type : discrete [ {variable.num_states} ] = {{ {labels} }};\n}}\n"


def probability_text(table: Conditional, names: dict[str, str]) -> str:
    parents = ", ".join(names[parent.name] for parent in table.parents)
    codes = product(*(range(size) for size in table.parents.shape))
    heads = [f"({', '.join(map(str, row))}) : " for row in codes] if parents else [""]
    numbers = table.values.reshape(len(heads), -1).tolist()
    rows = "".join(f"  {head}{', '.join(map(repr, row))};\n" for head, row in zip(heads, numbers, strict=True))
    given = f" | {parents}" if parents else ""
    return f"probability ( {names[table.child.name]}{given} ) {{\n{rows}}}\n"
