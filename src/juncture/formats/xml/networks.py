"""What the XML formats share: variables, parents and tables out of elements, and the same as escaped text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from juncture.errors import FormatError, InvalidModel, hint
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.formats.cut_points import read_cuts
from juncture.formats.rows import RowRepair, check_size
from juncture.formats.xml import WHITESPACE, Element, shorten
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable

MAX_PARENTS = 31 if np.__version__.startswith("1.") else 63  # NumPy's limit of axes, less the child's
MAX_HINT = 1000  # beyond as many names or letters, looking for a similar name takes too long

WORD = re.compile(rf"[^{WHITESPACE}]+")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# --- reading ---------------------------------------------------------------------------------------------------------


def words(element: Element) -> Iterator[str]:
    """The text cut at white space, a word at a time."""
    return (match[0] for match in WORD.finditer(element.leaf_text))


def read_numbers(element: Element, count: int) -> np.ndarray:
    """Exactly `count` numbers."""
    try:
        numbers = np.fromiter(map(as_number, islice(words(element), count + 1)), dtype=np.float64)
    except ValueError as error:
        element.fail(f"holds {error}, which is not a number")
    check_count(element, len(numbers), count, "numbers")
    return numbers


def as_number(word: str) -> float:
    try:
        if "_" not in word and word.isascii():  # Python's float takes underscores and foreign digits
            return float(word)
    except ValueError:
        pass
    raise ValueError(shorten(word))


def check_count(element: Element, found: int, expected: int, what: str) -> None:
    if found != expected:
        found = sum(1 for _ in words(element))
        element.fail(f"has {found:,} {what}; the states of the child and its parents call for {expected:,}")


def read_variable(name: str, states: Sequence[str] | None, element: Element, cuts: str | None = None) -> Variable:
    check_distinct(states or (), element, f"gives the variable {shorten(name)} the state")
    try:
        return Variable(name, states, cuts=read_cuts(cuts))
    except InvalidModel as error:
        raise FormatError(str(error), line=element.line) from error


def read_parents(child: str, names: Sequence[str], variables: Mapping[str, Variable], element: Element) -> Scope:
    """The parents by name (or whatever the mapping goes by): known, distinct, and not the child itself."""
    for name in names:
        if name not in variables:
            near = f"; {hint(name, variables)}" if max(len(name), len(variables)) < MAX_HINT else ""
            element.fail(f"names the unknown parent {shorten(name)} of {shorten(child)}{near}")
    if child in names:
        element.fail(f"makes {shorten(child)} its own parent")
    check_distinct(names, element, f"gives {shorten(child)} the parent")
    if len(names) > MAX_PARENTS:
        element.fail(f"gives {shorten(child)} {len(names):,} parents; a table can have at most {MAX_PARENTS}")
    return Scope(variables[name] for name in names)


def read_table(
    child: Variable, parents: Scope, element: Element, rows: RowRepair, *, child_slowest: bool = False
) -> Conditional:
    """P(child | parents) from numbers in which the child varies fastest (or slowest), and of the parents the last."""
    sizes = (*parents.shape, child.num_states)
    what = f"the table of {shorten(child.name)}"
    cells = check_size(sizes, len(element.leaf_text) // 2 + 1, what, line=element.line)
    numbers = read_numbers(element, cells)
    numbers = numbers.reshape(child.num_states, -1).T if child_slowest else numbers
    values = rows.repair(child, parents, numbers, line=element.line)
    return Conditional(child, parents, values)


def check_distinct(texts: Iterable[str], element: Element, what: str) -> None:
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            element.fail(f"{what} {shorten(text)} twice; names must be distinct")
        seen.add(text)


def read_network(conditionals: Iterable[AnyConditional], element: Element) -> BayesianNetwork:
    try:
        return BayesianNetwork(conditionals)
    except InvalidModel as error:  # what is left to be wrong here is a cycle
        raise FormatError(str(error), line=element.line) from error


# --- writing ---------------------------------------------------------------------------------------------------------


def format_element(name: str, text: str, variable: str, attributes: str = "") -> str:
    """`<name>text</name>` with all that is special escaped; white space at the ends is marked as meant."""
    wrong = NOT_XML.search(text)
    if wrong:
        raise FormatError(f"XML cannot hold the character {wrong[0]!r} in {text!r}, of the variable {variable!r}")
    space = ' xml:space="preserve"' if not text or text != text.strip(WHITESPACE) else ""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    return f"<{name}{attributes}{space}>{escaped}</{name}>"


def numbers_text(values: np.ndarray, separator: str) -> str:
    """A line for each row, in which every double reads back as the same bits."""
    rows = values.reshape(-1, values.shape[-1]).tolist()
    return separator.join(" ".join(map(repr, row)) for row in rows)
