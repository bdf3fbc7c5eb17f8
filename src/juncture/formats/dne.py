"""DNE, the text format of Netica, as far as it describes Bayesian networks of nodes with states.

    // ~->[DNET-1]->~
    bnet example {
    node rain { kind = NATURE; discrete = TRUE; states = (no, yes); parents = (); probs = (0.8, 0.2); };
    node wet { kind = NATURE; discrete = TRUE; states = (no, yes); parents = (rain); probs = (0.9, 0.1, 0.2, 0.8); };
    };

The bodies of blocks, `keyword name { body };`, are fields, `name = value;`. The states of a node are given by names,
by titles, by levels (values, or bounds of intervals) or by their number. Tables list the parents in order, the first
changing slowest, and the child fastest; inner brackets may be left out. In a table `#2` stands for the third state,
in `probs` for the row in which it is certain, and `@imposs` for 0. A `functable`, one state for each row, gives a
`Deterministic`. A continuous node is read if its `levels` make it discrete: its states are the intervals between
them, unless it has `states` too. Comments are `// …` and `/* … */`.

Constants (such as titles) are left out, titles of nodes and states, pictures and other fields are ignored. Decisions,
utilities, links over time and nodes without a table are refused by name; with `normalize=True`, a table that is
missing is uniform, as in Netica. Findings are no part of a model, and a warning names those of a file.

A name in Netica is a letter, then letters, digits and underscores, 30 in all. Any other name is written as such a
one, with the true name in the field `JUNCTURE_name` and the true labels in `JUNCTURE_states`, from which they are
read back. States are text. Compact conditionals are written out; ties and plates are lost, with a warning.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from juncture.errors import FormatError
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.factors.deterministic import Deterministic
from juncture.formats.block_tables import (
    DEFAULT_CELLS,
    MAX_PARENTS,
    Declared,
    build_network,
    declare,
    find_variable,
    is_number,
    read_numbers,
)
from juncture.formats.blocks import (
    C_CLOSINGS,
    Block,
    Source,
    closing_brace,
    read_name,
    read_source,
    skip_space,
    split_keyword,
)
from juncture.formats.files import warn_losses
from juncture.formats.identifiers import make_identifiers, quote, unescape
from juncture.formats.losses import as_bayesian_network, cut_losses, find_losses, state_texts, to_table
from juncture.formats.row_repair import RowRepair, check_size, describe_row
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable

IDENTIFIER = re.compile(rb"\s*//\s*~->\s*(?!\[DNET-1\]->~)[^\n]*")
STATES_FIELD = "JUNCTURE_states"
NAME_FIELD = "JUNCTURE_name"
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


MARK = re.compile(r"[;{]")
LIST = re.compile(r"\(([^()]*)\)")


class Field(NamedTuple):
    name: str
    value: str
    offset: int


def entries(source: Source, start: int, end: int) -> Iterator[Field | Block]:
    """The fields and blocks between two offsets, in order; a value may have braces of its own."""
    text, position = source.text, skip_space(source.text, start)
    while position < end:
        mark = find_mark(source, position, position, end)
        if mark[0] == "{" and "=" not in text[position : mark.start()]:
            keyword, head = split_keyword(text[position : mark.start()])
            closing = find_closing(source, position, mark)
            yield Block(keyword, head, position, mark.end(), closing)
            position = skip_space(text, closing + 1)
            position = skip_space(text, position + 1) if text.startswith(";", position) else position
            continue
        while mark[0] == "{":
            mark = find_mark(source, position, find_closing(source, position, mark) + 1, end)
        name, equals, value = text[position : mark.start()].partition("=")
        if not equals:
            raise source.error(f"expected 'field = value;', found {source.excerpt(name)}", position)
        yield Field(name.strip(), value.strip(), position)
        position = skip_space(text, mark.end())


def find_mark(source: Source, entry: int, position: int, end: int) -> re.Match[str]:
    """The next semicolon or opening brace."""
    mark = MARK.search(source.text, position, end)
    if mark is None:
        raise source.error(f"expected ';' after {source.excerpt(source.text[entry:end])}", entry)
    return mark


def find_closing(source: Source, entry: int, mark: re.Match[str]) -> int:
    closing = closing_brace(source.text, mark.end())
    if closing < 0:
        head = source.excerpt(source.text[entry : mark.start()])
        raise source.error(f"the file ends inside the block {head}; expected '}}'", entry)
    return closing


def read_fields(source: Source, block: Block, wanted: Iterable[str]) -> dict[str, Field]:
    """The wanted fields of a block, each given once at most; others and inner blocks are ignored."""
    found: dict[str, Field] = {}
    for entry in entries(source, block.body, block.end):
        if not isinstance(entry, Field) or entry.name not in wanted:
            continue
        if entry.name in found:
            what = source.excerpt(f"{block.keyword} {block.head}")
            raise source.error(f"{what} has two fields {entry.name!r}; give one", entry.offset)
        found[entry.name] = entry
    return found


def read_list(source: Source, field: Field) -> list[str]:
    """The words of `(a, b, c)`, quoted or not; a comma at the end adds none."""
    match = LIST.fullmatch(field.value)
    if match is None:
        found = source.excerpt(field.value)
        raise source.error(f"expected '{field.name} = (…, …);', found {found}", field.offset)
    if not match[1].strip():
        return []
    words = [word.strip() for word in match[1].split(",")]
    words = words[:-1] if len(words) > 1 and not words[-1] else words
    return [unescape(source.unshield(word, field.offset)) for word in words]


INFINITE = {"INFINITY": math.inf, "+INFINITY": math.inf, "-INFINITY": -math.inf}


class States(NamedTuple):
    """The labels of a node's states; their codes by name, and by value, or the bounds of their intervals in order."""

    labels: list[str]
    codes: dict[str, int]
    values: dict[float, int]
    bounds: list[float]
    is_descending: bool

    def find(self, word: str) -> int | None:
        """The code of the state that a word of a table means: `#2`, a name, or a number among the levels."""
        if word.startswith("#"):
            code = int(word[1:]) if word[1:].isascii() and word[1:].isdigit() and len(word) < 10 else len(self.labels)
            return code if code < len(self.labels) else None
        if word in self.codes or not is_level(word):
            return self.codes.get(word)
        return self._find_interval(to_number(word)) if self.bounds else self.values.get(to_number(word))

    def _find_interval(self, number: float) -> int | None:
        """The interval from its lower bound on; the greatest bound belongs to the highest."""
        if not self.bounds[0] <= number <= self.bounds[-1]:
            return None
        last = len(self.labels) - 1
        place = min(bisect_right(self.bounds, number) - 1, last)
        return last - place if self.is_descending else place


def read_states(source: Source, name: str, fields: Mapping[str, Field], offset: int) -> States:
    """Names come before titles, titles before levels, levels before a number."""
    names = read_list(source, fields["states"]) if "states" in fields else []
    is_interval = "discrete" in fields and fields["discrete"].value == "FALSE"
    words = read_levels(source, name, fields["levels"], is_interval=is_interval) if "levels" in fields else []
    from_levels = interval_labels(words) if is_interval else words
    titles = read_list(source, fields["statetitles"]) if "statetitles" in fields else []
    number = read_number(source, name, fields)
    names = names or (titles if titles and all(titles) else from_levels) or list(map(str, range(number or 0)))
    if not names or "" in names:
        what = "a state without a name" if names else "no states"
        raise source.error(f"the node {name!r} has {what}; give 'states = (…, …);'", offset)
    if number is not None and number != len(names):
        found = f"{name!r} has {len(names)} states, and numstates = {number}"
        raise source.error(f"{found}; the two must agree", fields["numstates"].offset)
    if words and len(from_levels) != len(names):
        rule = "a value for each state, or, of a continuous node, the bounds of each interval"
        raise source.error(f"the levels of {name!r} must be {rule}; found {len(words)}", fields["levels"].offset)
    labels = read_list(source, fields[STATES_FIELD]) if STATES_FIELD in fields else names
    if len(labels) != len(names):
        raise source.error(f"{STATES_FIELD} of {name!r} needs {len(names)} labels", fields[STATES_FIELD].offset)
    levels, codes = [to_number(word) for word in words], {word: code for code, word in enumerate(names)}
    if is_interval:
        return States(labels, codes, {}, sorted(levels), is_descending=levels != sorted(levels))
    return States(labels, codes, {level: code for code, level in enumerate(levels)}, [], is_descending=False)


def read_number(source: Source, name: str, fields: Mapping[str, Field]) -> int | None:
    """The declared number of states, if there is one."""
    if "numstates" not in fields:
        return None
    word, offset = fields["numstates"].value, fields["numstates"].offset
    if not (word.isascii() and word.isdigit() and len(word) < 10 and 0 < int(word) <= len(source.text)):
        rule = "must be a whole number, and not more than its table can hold"
        raise source.error(f"the number of states of {name!r} {rule}; found {source.excerpt(word)}", offset)
    return int(word)


def read_levels(source: Source, name: str, field: Field, *, is_interval: bool) -> list[str]:
    """The numbers as the file writes them; bounds of intervals go up or down."""
    words = read_list(source, field)
    wrong = next((word for word in words if not is_level(word)), None)
    if wrong is not None:
        raise source.error(f"the levels of {name!r} must be numbers; found {source.excerpt(wrong)}", field.offset)
    steps = {low < high for low, high in pairwise(map(to_number, words))}
    if is_interval and (len(steps) > 1 or len({to_number(word) for word in words}) < len(words)):
        rule = "must all go up, or all go down"
        raise source.error(f"the levels of {name!r} {rule}; found {source.excerpt(field.value)}", field.offset)
    return words


def is_level(word: str) -> bool:
    return word in INFINITE or (is_number(word) and math.isfinite(float(word)))


def to_number(word: str) -> float:
    return INFINITE[word] if word in INFINITE else float(word)


def interval_labels(words: list[str]) -> list[str]:
    """The intervals between levels.

    >>> interval_labels(["-INFINITY", "10", "20", "INFINITY"])
    ['< 10', '10 – 20', '≥ 20']
    """
    return [interval_label(low, high) for low, high in pairwise(words)]


def interval_label(low: str, high: str) -> str:
    low, high = (low, high) if to_number(low) < to_number(high) else (high, low)
    if low in INFINITE:
        return "any" if high in INFINITE else f"< {high}"
    return f"≥ {low}" if high in INFINITE else f"{low} – {high}"


GROUP = re.compile(r"\(([^()]*)\)")
STATE = re.compile(r"#([0-9]{1,9})(?![^\s,)])")
IMPOSSIBLE = re.compile(r"@imposs(?![^\s,)])")


def read_groups(source: Source, field: Field, name: str) -> list[str]:
    """What stands in innermost brackets: the whole table in one pair, or one row in each."""
    groups = GROUP.findall(field.value)
    rest = GROUP.sub("", field.value)
    if rest.strip("( \t\r\n,)") or field.value.count("(") != field.value.count(")") or not groups:
        found = source.excerpt(field.value)
        raise source.error(f"the {field.name} of {name} must be a list in brackets; found {found}", field.offset)
    return groups


def read_probs(source: Source, field: Field, child: Variable, parents: Scope, room: int) -> np.ndarray:
    """The table as (row, state of the child), in at most so many cells."""
    num_states, name = child.num_states, repr(child.name)
    size = check_size([*parents.shape, num_states], room, f"the table of {name}")
    if len(STATE.findall(field.value)) * num_states > size:
        raise source.error(f"the probs of {name} need {size // num_states} rows, and have more", field.offset)
    groups = [write_out(group, num_states) for group in read_groups(source, field, name)]
    if len(groups) == 1:
        numbers = read_numbers(source, groups[0], size, f"the table of {name}", field.offset)
        return np.array(numbers).reshape(-1, num_states)
    if len(groups) != size // num_states:
        raise source.error(f"the probs of {name} need {size // num_states} rows, found {len(groups)}", field.offset)
    return np.array([read_numbers(source, group, num_states, f"a row of {name}", field.offset) for group in groups])


def write_out(text: str, num_states: int) -> str:
    """Numbers in place of `#2`, the row in which the third state is certain, and of `@imposs`, 0."""

    def row_text(match: re.Match[str]) -> str:
        code = int(match[1])
        certain = ", ".join("1" if state == code else "0" for state in range(num_states))
        return certain if code < num_states else match[0]

    return IMPOSSIBLE.sub("0", STATE.sub(row_text, text)) if "#" in text or "@" in text else text


def read_functable(
    source: Source, field: Field, states: States, child: Variable, parents: Scope, room: int
) -> np.ndarray:
    """The code of the child's state for each row, with one axis per parent."""
    name = repr(child.name)
    size = check_size(parents.shape, room, f"the functable of {name}")
    words = [word.strip() for group in read_groups(source, field, name) for word in group.split(",")]
    if len(words) != size:
        raise source.error(f"the functable of {name} needs {size} states, found {len(words)}", field.offset)
    codes = [states.find(unescape(source.unshield(word, field.offset))) for word in words]
    if None in codes:
        row = codes.index(None)
        rule = f"the functable of {name} has {source.excerpt(words[row])} for {describe_row(child, parents, row)}"
        raise source.error(f"{rule}, which is none of its states", field.offset)
    return np.array(codes).reshape(parents.shape)


def write_dne(model: BayesianNetwork) -> str:
    text = network_text(as_bayesian_network(model, "DNE"))
    warn_losses([*find_losses(model, kept=(Conditional, Deterministic)), *cut_losses(model.variables)], "DNE")
    return text


KEYWORDS = {"bnet", "node", "visual", "TRUE", "FALSE"}
LONGEST = 30  # characters of a name
ROW_END = ",\n\t\t "


def network_text(network: BayesianNetwork) -> str:
    if not network.conditionals:
        raise FormatError("DNE cannot hold a network without variables; write it as .json")
    names = make_identifiers(network.variables.names, KEYWORDS, prefix="x", longest=LONGEST)
    parts = [part if isinstance(part, Deterministic) else to_table(part, "DNE") for part in network.conditionals]
    return "// ~->[DNET-1]->~\n\nbnet juncture {\n" + "".join(node_text(part, names) for part in parts) + "};\n"


def node_text(part: Conditional | Deterministic, names: dict[str, str]) -> str:
    name, child = names[part.child.name], part.child
    parents = ", ".join(names[parent.name] for parent in part.parents)
    labels = state_texts(child, "DNE")
    states = make_identifiers(labels, (), prefix="s", longest=LONGEST)
    lines = [
        "kind = NATURE",
        "discrete = TRUE",
        f"chance = {'DETERMIN' if isinstance(part, Deterministic) else 'CHANCE'}",
        f"states = ({', '.join(states.values())})",
        f"parents = ({parents})",
        table_text(part, list(states.values())),
        *title_lines(child, labels, name, list(states.values())),
    ]
    return f"\nnode {name} {{\n" + "".join(f"\t{line};\n" for line in lines) + "\t};\n"


def table_text(part: Conditional | Deterministic, states: list[str]) -> str:
    if isinstance(part, Deterministic):
        return f"functable =\n\t\t({ROW_END.join(states[code] for code in part.codes.ravel().tolist())})"
    rows = part.values.reshape(-1, len(states)).tolist()
    return f"probs =\n\t\t({ROW_END.join(', '.join(map(repr, row)) for row in rows)})"


def title_lines(variable: Variable, labels: list[str], name: str, states: list[str]) -> list[str]:
    """Titles, which Netica shows, and the true name and labels, where identifiers stand for them."""
    lines = []
    if name != variable.name:
        lines += [f"{field} = {quote(variable.name)}" for field in ("title", NAME_FIELD)]
    if states != labels:
        quoted = ", ".join(quote(label) for label in labels)
        lines += [f"{field} = ({quoted})" for field in ("statetitles", STATES_FIELD)]
    return lines
