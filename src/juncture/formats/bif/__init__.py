"""BIF, the Interchange Format for Bayesian Networks, version 0.15 and the dialect of the public repository.

    network example { }
    variable rain { type discrete [ 2 ] { no, yes }; }
    variable wet { type discrete [ 2 ] { no, yes }; }
    probability ( rain ) { table 0.8, 0.2; }
    probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }

Names and labels are plain words or stand in double quotes, which have no escape: a name with a quote or a line
end cannot be written. Comments are `// …` and `/* … */`. The network's name and properties are ignored,
except `property function max;` (see tables.py) and a variable's `property juncture_cuts = 18.0 65.0;`, its cuts.
States are text. Compact conditionals are written out; ties and plates are lost, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from juncture.errors import FormatError
from juncture.factors.conditional import Conditional
from juncture.formats.bif.tables import read_values, splittings
from juncture.formats.blocks import Block, blocks, check_keyword, read_name, statements
from juncture.formats.blocks.families import Declared, as_nonempty_tables, build_network, declare, read_tables
from juncture.formats.blocks.source import Source, read_source
from juncture.formats.cut_points import find_cuts, property_text, read_cuts
from juncture.formats.files import warn_losses
from juncture.formats.losses import find_losses, state_texts
from juncture.formats.rows import RowRepair
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
