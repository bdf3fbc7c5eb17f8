"""Tables of DNE nodes: `probs`, rows of probabilities, and `functable`, the state of each row."""

from __future__ import annotations

import re

import numpy as np

from juncture.formats.blocks.families import read_numbers
from juncture.formats.blocks.source import Source
from juncture.formats.dne.fields import Field
from juncture.formats.dne.states import States
from juncture.formats.net.names import unescape
from juncture.formats.rows import check_size, describe_row
from juncture.variables import Scope, Variable

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
