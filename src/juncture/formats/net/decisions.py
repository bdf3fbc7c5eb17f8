"""The decisions and utilities of NET files, Hugin's influence diagrams.

    decision treat { states = ("no" "yes"); }
    utility worth { }
    potential (treat | test) { }
    potential (worth | treat ill) { data = ((0 -100) (-10 -20)); }

The potential of a decision says what is known when it is taken, and has no data; it may be left out where that is
nothing. The data of a utility list its parents in order, the first changing slowest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.formats.blocks import Block
from juncture.formats.blocks.families import Declared, Family, read_numbers
from juncture.formats.blocks.source import Source
from juncture.formats.rows import check_size
from juncture.networks.decision_network import DecisionNetwork
from juncture.networks.decision_nodes import Decision, Utility
from juncture.variables import Variable

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
