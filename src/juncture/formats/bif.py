"""BIF, the Interchange Format for Bayesian Networks, version 0.15 and the dialect of the public repository.

    network example { }
    variable rain { type discrete [ 2 ] { no, yes }; }
    variable wet { type discrete [ 2 ] { no, yes }; }
    probability ( rain ) { table 0.8, 0.2; }
    probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }

Names and labels are plain words or stand in double quotes, which have no escape: a name with a quote or a line end
cannot be written. Comments are `// …` and `/* … */`. The network's name and properties are ignored, except `property
function max;` and a variable's `property juncture_cuts = 18.0 65.0;`, its cuts. States are text. Compact conditionals
are written out; ties and plates are lost, with a warning.

In a `probability` block `(yes, no) 0.1, 0.9;` is the row of these states of the parents, in any order of rows.
`default 0.5, 0.5;` is the row of all states that have none. `table …;` lists all numbers with the variables as in the
block's head, the last one changing fastest, so that the child changes slowest; a variable without parents has just
this. `property function max;` says that the rows are the parameters of a noisy maximum, and the table is computed
from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from juncture.errors import FormatError, UnknownState
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
from juncture.formats.blocks import SHOWN, Block, Source, blocks, check_keyword, read_name, read_source, statements
from juncture.formats.cut_points import find_cuts, property_text, read_cuts
from juncture.formats.files import warn_losses
from juncture.formats.losses import find_losses, state_texts
from juncture.formats.row_repair import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable

CLOSINGS = {'"': re.compile(r'[^"\r\n]*+"'), "//": re.compile(r"[^\n]*+"), "/*": re.compile(r".*?\*/", re.DOTALL)}
TYPE = re.compile(r"type\s+discrete\s*\[\s*([0-9]+)\s*\]\s*\{([^{}]*)\}")
WORD = re.compile(r"(?!.*(?://|/\*))[A-Za-z0-9_<>=+./-]+")


def read_bif(data: bytes, rows: RowRepair) -> BayesianNetwork:
    source = read_source(data, CLOSINGS)
    declared: dict[str, Declared] = {}
    probabilities: list[Block] = []
    for block in blocks_after_network(source):
        if block.keyword == "probability":
            probabilities.append(block)
        else:
            variable = read_variable(source, block)
            declare(source, declared, variable.name, Declared(variable, block.offset))
    return build_network(source, declared, read_tables(source, probabilities, declared, read_values, rows))


def blocks_after_network(source: Source) -> Iterator[Block]:
    """The blocks of variables and probabilities, in any order, after the one that names the network."""
    found = blocks(source)
    check_keyword(source, next(found, None), ["network"])
    for block in found:
        check_keyword(source, block, ["variable", "probability"])
        yield block


def read_variable(source: Source, block: Block) -> Variable:
    """`variable name { type discrete [ 2 ] { no, yes }; }`."""
    name, states = read_name(source, block), None
    properties: list[str] = []
    for offset, statement in statements(source, block):
        match = TYPE.fullmatch(statement)
        if match and states is None:
            states = read_states(source, name, match[1], match[2], offset)
        elif statement.split(None, 1)[0] == "property":
            properties.append(statement.removeprefix("property"))
        else:
            found = source.excerpt(statement)
            raise source.error(
                f"expected one 'type discrete [ number ] {{ states }}' of {name!r}, found {found}", offset
            )
    if states is None:
        raise source.error(f"the variable {name!r} has no 'type discrete [ number ] {{ states }};'", block.offset)
    with source.locate_errors(block.offset):
        return Variable(name, states, cuts=read_cuts(find_cuts(properties)))


def read_states(source: Source, name: str, count: str, text: str, offset: int) -> list[str]:
    """As many labels as declared."""
    if len(count) <= len(str(len(text))) and (labels := next(splittings(text, int(count)), None)):
        return [source.unshield(label, offset) for label in labels]
    raise source.error(f"the variable {name!r} declares {count[:20]} states, but lists {source.excerpt(text)}", offset)


Axis: TypeAlias = tuple[int, dict[str, int]]


def read_values(source: Source, block: Block, family: Family, room: int) -> np.ndarray:
    """The table as (row, state of the child), complete; a default row may fill as many cells as there is room."""
    num_states, what = family.child.num_states, f"the table of {family.child.name!r}"
    size = check_size([*family.parents.shape, num_states], room, what)
    given = read_rows(source, block, family, size)
    if given.table is not None:
        if given.indices or given.default is not None:
            raise FormatError(f"{what} is given whole and by rows; give one of the two")
        return np.array(given.table).reshape(num_states, -1).T
    return fill_table(source, given, family)


def read_rows(source: Source, block: Block, family: Family, size: int) -> Rows:
    given = Rows()
    axes = [read_axis(source, parent) for parent in family.parents]
    num_states, name = family.child.num_states, f"a row of {family.child.name!r}"
    for offset, statement in statements(source, block):
        if statement[0] == "(":
            labels, _, numbers = statement[1:].rpartition(")")
            given.indices.append(find_row(source, labels, family, axes, offset))
            given.offsets.append(offset)
            given.numbers += read_numbers(source, numbers, num_states, name, offset)
        else:
            read_keyword(source, given, family, size, statement, offset)
    return given


def read_keyword(source: Source, given: Rows, family: Family, size: int, statement: str, offset: int) -> None:
    """A statement that starts with a word: `table`, `default`, or a `property`, which is ignored."""
    words = statement.split(None, 1)
    rest = words[1] if len(words) > 1 else ""
    name = repr(family.child.name)
    if words[0] == "table" and given.table is None:
        given.table = read_numbers(source, rest, size, f"the table of {name}", offset)
    elif words[0] == "default" and given.default is None:
        given.default = read_numbers(source, rest, family.child.num_states, f"the default row of {name}", offset)
    elif words[0] in {"table", "default"}:
        raise source.error(f"{name} has two {words[0]!r} entries; give one", offset)
    elif words[0] == "property":
        given.is_maximum |= rest.split() == ["function", "max"]
    else:
        found = source.excerpt(statement)
        raise source.error(
            f"expected a row '(states) numbers;', 'table', 'default' or 'property', found {found}", offset
        )


def read_axis(source: Source, variable: Variable) -> Axis:
    """How many states a parent has, and their codes by how they can stand in the shielded text."""
    codes = {str(label): code for code, label in enumerate(variable.labels)}
    codes |= {source.shields[label]: code for label, code in codes.items() if label in source.shields}
    return variable.num_states, codes


def find_row(source: Source, labels: str, family: Family, axes: Sequence[Axis], offset: int) -> int:
    """The position of the row of these states of the parents, the last of which changes fastest."""
    index = 0
    try:
        for part, (num_states, codes) in zip(labels.split(",", len(axes)), axes, strict=True):
            index = index * num_states + codes[part.strip()]
    except (KeyError, ValueError):
        return find_row_carefully(source, labels, family, axes, offset)
    return index


def find_row_carefully(source: Source, labels: str, family: Family, axes: Sequence[Axis], offset: int) -> int:
    """The same for labels that are not just separated by commas; says what is wrong if there is no reading."""
    readings = list(splittings(labels, len(axes))) if axes else []
    for parts in readings:
        if all(part in codes for part, (_, codes) in zip(parts, axes, strict=True)):
            codes_of = [codes[part] for part, (_, codes) in zip(parts, axes, strict=True)]
            return int(np.ravel_multi_index(codes_of, family.parents.shape))
    if not readings:
        rule = f"a row of {family.child.name!r} names one state for each of its {len(axes)} parents"
        raise source.error(f"{rule}; found {source.excerpt(labels)}", offset)
    unknown = next(index for index, part in enumerate(readings[0]) if part not in axes[index][1])
    parent = family.parents[unknown]
    label = source.unshield(readings[0][unknown], offset)[:SHOWN]
    raise source.error(str(UnknownState.of(parent.name, label, parent.labels)), offset)


def splittings(text: str, count: int) -> Iterator[list[str]]:
    """The ways to read text as `count` labels: between commas, between spaces, or between either.

    Unquoted labels may hold spaces or commas, if only one of them; the number of labels then decides. A line end
    inside a label is a space.
    """
    by_commas = [join_lines(part.strip()) for part in text.split(",", count)]
    by_spaces = [part.strip(",") for part in text.split(None, count)]
    by_either = [part for part in SEPARATORS.split(text, count + 1) if part]
    for parts in (by_commas, by_spaces, by_either):
        if len(parts) == count and all(parts):
            yield parts


def join_lines(label: str) -> str:
    return " ".join(label.split()) if "\n" in label or "\r" in label else label


def write_bif(model: BayesianNetwork) -> str:
    tables = as_nonempty_tables(model, "BIF")
    warn_losses(find_losses(model), "BIF")
    variables = [variable_text(table.child) for table in tables]
    return "network unknown {\n}\n" + "".join([*variables, *map(probability_text, tables)])


def variable_text(variable: Variable) -> str:
    labels = ", ".join(quote(label) for label in state_texts(variable, "BIF"))
    cuts = property_text(variable)
    kept = "" if cuts is None else f"  property {cuts};\n"
    return f"variable {quote(variable.name)} {{\n  type discrete [ {variable.num_states} ] {{ {labels} }};\n{kept}}}\n"


def probability_text(table: Conditional) -> str:
    names = [quote(parent.name) for parent in table.parents]
    given = f" | {', '.join(names)}" if names else ""
    states = product(*([quote(label) for label in state_texts(parent, "BIF")] for parent in table.parents))
    heads = [f"({', '.join(labels)})" for labels in states] if names else ["table"]
    numbers = table.values.reshape(len(heads), -1).tolist()
    rows = "".join(f"  {head} {', '.join(map(repr, row))};\n" for head, row in zip(heads, numbers, strict=True))
    return f"probability ( {quote(table.child.name)}{given} ) {{\n{rows}}}\n"


def quote(name: str) -> str:
    """A plain word as it is, anything else in quotes."""
    if WORD.fullmatch(name):
        return name
    if any(character in name for character in '"\n\r\0'):
        raise FormatError(
            f"BIF cannot hold the name {name!r}: its quotes have no escape for quotes, line ends and NUL; rename it"
        )
    return f'"{name}"'
