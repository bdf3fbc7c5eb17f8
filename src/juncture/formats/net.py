"""NET, the text format of Hugin: Bayesian networks, discrete or conditional Gaussian, and discrete decision networks.

    net { }
    node rain { states = ("no" "yes"); }
    node wet { states = ("no" "yes"); }
    potential (rain) { data = (0.8 0.2); }
    potential (wet | rain) { data = ((0.9 0.1) (0.2 0.8)); }

Data list the parents in order, the first changing slowest, and the child fastest; inner brackets may be left out.
Comments run from `%` or `//` to the line's end, a quoted text may go on over lines, and the `net` block may be
missing: programs that read NET files take these too. Attributes other than `states` and `data` are ignored. Classes
are refused.

A node's name must be a letter or underscore, then letters, digits and underscores. Any other name is written as such
an identifier, with the true name in the attribute `JUNCTURE_name`, from which it is read back. States are text, and
`JUNCTURE_cuts = "18.0 65.0";` holds the cuts of a variable. Compact conditionals are written out; ties and plates are
lost, with a warning.

Continuous nodes are read, as `LinearGaussian`, but not written. Their data, `( normal ( 2 + 1.5 * C, 0.9 ) … )`, have
a mean and a variance for each row.

Decisions and utilities make an influence diagram:

    decision treat { states = ("no" "yes"); }
    utility worth { }
    potential (treat | test) { }
    potential (worth | treat ill) { data = ((0 -100) (-10 -20)); }

The potential of a decision says what is known when it is taken, and has no data; it may be left out where that is
nothing. The data of a utility list its parents in order, the first changing slowest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.factors.gaussian import LinearGaussian
from juncture.formats.block_tables import (
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
from juncture.formats.blocks import (
    Block,
    Source,
    blocks,
    check_keyword,
    read_name,
    read_source,
    split_keyword,
    statements,
)
from juncture.formats.cut_points import cuts_text, read_cuts
from juncture.formats.files import warn_losses
from juncture.formats.identifiers import make_identifiers, quote, unescape
from juncture.formats.linear import parse_linear
from juncture.formats.losses import find_losses, state_texts, to_table
from juncture.formats.row_repair import RowRepair, check_size
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.decision_network import Decision, DecisionNetwork, Utility, node_name
from juncture.variables import Scope, Variable

TO_LINE_END = re.compile(r"[^\n]*+")
CLOSINGS = {'"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL), "%": TO_LINE_END, "//": TO_LINE_END}
GROUP = re.compile(r"\(([^()]*)\)")
INDENT = "\n            "
NODES = {"node", "discrete", "continuous"}
OTHER_KINDS = {"continuous", "function", "instance", "interval"}


def read_net(data: bytes, rows: RowRepair) -> BayesianNetwork | DecisionNetwork:
    source = read_source(data, CLOSINGS)
    by_identifier: dict[str, Declared] = {}
    by_name: dict[str, Declared] = {}
    potentials: list[Block] = []
    kinds: dict[str, str] = {}
    for block in blocks_after_header(source):
        if block.keyword == "potential":
            potentials.append(block)
        else:
            identifier, variable = read_node(source, block)
            declare(source, by_identifier, identifier, Declared(variable, block.offset))
            declare(source, by_name, variable.name, Declared(variable, block.offset))
            kinds[variable.name] = block.keyword
    if {DECISION, UTILITY} & set(kinds.values()):
        return read_decisions(source, by_identifier, DecisionBlocks.of(by_name, kinds), potentials, rows)
    if not any(declared.variable.is_real for declared in by_name.values()):
        return build_network(source, by_name, read_tables(source, potentials, by_identifier, read_values, rows))
    real = [block for block in potentials if read_family(source, block, by_identifier).child.is_real]
    rest = sorted(set(potentials) - set(real), key=lambda block: block.offset)
    tables = read_tables(source, rest, by_identifier, read_values, rows)
    return build_network(source, by_name, {**tables, **read_gaussians(source, real, by_identifier)})


def read_decisions(
    source: Source, by_identifier: dict[str, Declared], nodes: DecisionBlocks, potentials: list[Block], rows: RowRepair
) -> DecisionNetwork:
    """The network of a file with decisions or utilities."""
    real = next((each for each in nodes.declared.values() if each.variable.is_real), None)
    if real is not None:
        raise source.error(f"{real.variable.name!r} is continuous; decision networks have states only", real.offset)
    families = [(block, read_family(source, block, by_identifier)) for block in potentials]
    chance = [block for block, family in families if nodes.is_chance(family)]
    tables = read_tables(source, chance, by_identifier, read_values, rows)
    return build_decision_network(source, nodes, tables, families, attribute)


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
        others = [block.keyword] if block.keyword in {"continuous", DECISION, UTILITY} else []
        check_keyword(source, block, ["node", "potential", *others])
        yield block


def as_plain_node(source: Source, block: Block) -> Block:
    """`discrete node x` as `node x`, `continuous node x` as `continuous x`; other kinds are refused by name."""
    keyword, head = split_keyword(block.head) if block.keyword == "discrete" else (block.keyword, block.head)
    if block.keyword == "continuous" and split_keyword(block.head)[0] == "node":
        return block._replace(head=split_keyword(block.head)[1])
    if keyword in OTHER_KINDS or (block.keyword == "discrete" and keyword != "node"):
        whole = source.excerpt(f"{block.keyword} {block.head}")
        raise source.error(
            f"{whole} is not a chance node, a decision or a utility, and only these can be read", block.offset
        )
    return block._replace(keyword=keyword, head=head)


def read_node(source: Source, block: Block) -> tuple[str, Variable]:
    """A node's identifier, and the variable with its true name."""
    identifier = read_name(source, block)
    if block.keyword == "continuous":
        with source.locate_errors(block.offset):
            return identifier, Variable(identifier)
    if block.keyword == UTILITY:
        offset, name = attribute(source, block, NAME_ATTRIBUTE, default=identifier)
        with source.locate_errors(offset):
            return identifier, utility_stand_in(unescape(source.unshield(name, offset)))
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


Attribute = Callable[[Source, Block, str], tuple[int, str]]


class DecisionBlocks(NamedTuple):
    """The nodes of a file by name, and which of them are decisions and utilities."""

    declared: Mapping[str, Declared]
    decisions: frozenset[str]
    utilities: frozenset[str]

    @classmethod
    def of(cls, declared: Mapping[str, Declared], kinds: Mapping[str, str]) -> DecisionBlocks:
        decisions = frozenset(name for name, kind in kinds.items() if kind == "decision")
        return cls(declared, decisions, frozenset(name for name, kind in kinds.items() if kind == "utility"))

    def is_chance(self, family: Family) -> bool:
        return family.child.name not in self.decisions | self.utilities


def utility_stand_in(name: str) -> Variable:
    """What stands for a utility among the variables of a file, until its table is read."""
    return Variable(name, ["utility"])


def build_decision_network(
    source: Source,
    nodes: DecisionBlocks,
    tables: Mapping[str, Conditional],
    potentials: Sequence[tuple[Block, Family]],
    attribute: Attribute,
) -> DecisionNetwork:
    """The network of these tables and of the potentials of decisions and utilities, in the order of declarations."""
    known: dict[str, Decision | Utility] = {}
    for block, family in potentials:
        check_parents(source, nodes, block, family)
        if nodes.is_chance(family):
            continue
        if family.child.name in known:
            raise source.error(f"{family.child.name!r} has a second 'potential' block; give one", block.offset)
        is_decision = family.child.name in nodes.decisions
        with source.locate_errors(block.offset):
            known[family.child.name] = (
                Decision(*family) if is_decision else read_utility(source, block, family, attribute)
            )
    parts = []
    for name, (variable, offset) in nodes.declared.items():
        part = tables.get(name) or known.get(name) or (Decision(variable) if name in nodes.decisions else None)
        if part is None:
            raise source.error(f"{name!r} has no table; add a 'potential' block with its numbers", offset)
        parts.append(part)
    with source.locate_errors(min(offset for _, offset in nodes.declared.values())):
        return DecisionNetwork(parts)


def check_parents(source: Source, nodes: DecisionBlocks, block: Block, family: Family) -> None:
    wrong = next((parent for parent in family.parents.names if parent in nodes.utilities), None)
    if wrong is not None:
        raise source.error(f"{wrong!r} is a utility and cannot be a parent of {family.child.name!r}", block.offset)


def read_utility(source: Source, block: Block, family: Family, attribute: Attribute) -> Utility:
    offset, data = attribute(source, block, "data")
    name = family.child.name
    size = check_size(family.parents.shape, len(source.text), f"the utility {name!r}")
    flat = data.replace("(", " ").replace(")", " ")
    numbers = read_numbers(source, flat, size, f"the utility {name!r}", offset)
    return Utility(family.parents, np.reshape(numbers, family.parents.shape), name=name)


NORMAL = re.compile(r"normal\s*\(([^(),]*),([^(),]*)\)")


def read_gaussian(
    source: Source, data: str, offset: int, family: Family, declared: Mapping[str, Declared]
) -> LinearGaussian:
    """One `normal` for each configuration of the parents with states, the first parent changing slowest."""
    discrete = Scope(parent for parent in family.parents if not parent.is_real)
    real = [parent.name for parent in family.parents if parent.is_real]
    found, name = NORMAL.findall(data), repr(family.child.name)
    if NORMAL.sub("", data).strip("( \t\r\n)") or data.count("(") != data.count(")"):
        raise source.error(
            f"the data of {name} must be normal ( mean, variance ); found {source.excerpt(data)}", offset
        )
    if len(found) != discrete.size:
        raise source.error(f"the data of {name} need {discrete.size} normal ( … ), found {len(found)}", offset)
    with source.locate_errors(offset):
        rows = [read_normal(source, mean, variance, real, declared, offset) for mean, variance in found]
        numbers = np.array(rows).reshape(*discrete.shape, len(real) + 2)
        return LinearGaussian(family.child, family.parents, numbers[..., 2:], numbers[..., 0], numbers[..., 1])


def read_normal(
    source: Source, mean: str, variance: str, real: list[str], declared: Mapping[str, Declared], offset: int
) -> list[float]:
    """The intercept, the variance, and the coefficient of each real-valued parent."""
    try:
        linear, spread = parse_linear(mean), parse_linear(variance)
    except ValueError as error:
        raise source.error(f"the mean and variance {source.excerpt(f'{mean},{variance}')}: {error}", offset) from error
    known = {key: declared[key].variable.name for key in linear.coefficients if key in declared}
    wrong = next((key for key in linear.coefficients if known.get(key) not in real), None)
    if wrong is not None or spread.coefficients:
        what = "the variance" if wrong is None else source.excerpt(wrong)
        rule = "must be a number" if wrong is None else "is not a continuous parent of this node"
        raise source.error(f"{what} in {source.excerpt(f'normal ({mean},{variance})')} {rule}", offset)
    by_name = {known[key]: value for key, value in linear.coefficients.items()}
    return [linear.constant, spread.constant, *(by_name.get(parent, 0.0) for parent in real)]


def write_net(model: BayesianNetwork | DecisionNetwork) -> str:
    if isinstance(model, DecisionNetwork):
        return write_decisions(model)
    tables = as_nonempty_tables(model, "NET")
    warn_losses(find_losses(model), "NET")
    names = make_identifiers(table.child.name for table in tables)
    nodes = [node_text(table.child, names) for table in tables]
    return "net\n{\n}\n" + "".join([*nodes, *(potential_text(table, names) for table in tables)])


NAME_ATTRIBUTE, CUTS_ATTRIBUTE = "JUNCTURE_name", "JUNCTURE_cuts"
DECISION, UTILITY = "decision", "utility"


def write_decisions(model: DecisionNetwork) -> str:
    warn_losses(find_losses(model), "NET")
    names = make_identifiers(map(node_name, model.parts))
    nodes, potentials = [], []
    for part in model.parts:
        if isinstance(part, Utility):
            nodes.append(f"\nutility {names[node_name(part)]}\n{{\n{name_text(node_name(part), names)}}}\n")
            potentials.append(
                family_text(node_name(part), part.parents, names, f"    data = {nest_all(part.values)};\n")
            )
        elif isinstance(part, Decision):
            nodes.append(node_text(part.variable, names, DECISION))
            potentials.append(family_text(part.variable.name, part.parents, names, ""))
        else:
            table = to_table(part, "NET")
            nodes.append(node_text(table.child, names))
            potentials.append(potential_text(table, names))
    return "net\n{\n}\n" + "".join([*nodes, *potentials])


def node_text(variable: Variable, names: dict[str, str], keyword: str = "node") -> str:
    identifier = names[variable.name]
    true_name = name_text(variable.name, names)
    labels = " ".join(quote(label) for label in state_texts(variable, "NET"))
    cuts = cuts_text(variable)
    kept = "" if cuts is None else f"    {CUTS_ATTRIBUTE} = {quote(cuts)};\n"
    return f"\n{keyword} {identifier}\n{{\n    states = ({labels});\n{true_name}{kept}}}\n"


def name_text(name: str, names: dict[str, str]) -> str:
    """The attributes with the true name of a node whose identifier is another."""
    return "" if names[name] == name else f"    label = {quote(name)};\n    {NAME_ATTRIBUTE} = {quote(name)};\n"


def potential_text(table: Conditional, names: dict[str, str]) -> str:
    return family_text(table.child.name, table.parents, names, f"    data = {nest(table.values)};\n")


def family_text(child: str, parents: Scope, names: dict[str, str], body: str) -> str:
    listed = " ".join(names[parent.name] for parent in parents)
    given = f" | {listed}" if listed else ""
    return f"\npotential ({names[child]}{given})\n{{\n{body}}}\n"


def nest_all(values: np.ndarray) -> str:
    """The numbers of a utility, also of one without parents."""
    return nest(values if values.ndim else values.reshape(1))


def nest(values: np.ndarray) -> str:
    """Numbers in one pair of brackets per row, and one around the rows of each state of a parent."""
    if values.ndim == 1:
        return f"({' '.join(map(repr, values.tolist()))})"
    return f"({INDENT.join(nest(part) for part in values)})"
