"""What rows with holes show before learning starts: states and levels of variables, and the families that are complete.

Each is a function of the rows of one block, and adds up over blocks, in one pass over a source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block
from juncture.factors.conditional import Conditional
from juncture.factors.gaussian import LinearGaussian
from juncture.learning.conditionals.contract import summarise
from juncture.learning.conditionals.line_moments import LineMoments
from juncture.learning.networks.statistics import count_families
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.stable import Moments, grouped_moments, merge_moments
from juncture.variables import Scope, Variable


@dataclass(frozen=True, eq=False)
class SeenRows:
    """What some rows show of each variable."""

    states: Mapping[str, np.ndarray]  # of each variable with states: whether some row has a hole, and each state
    moments: Mapping[str, Moments]  # of the numbers of each real variable that has a column
    names: frozenset[str]  # of the variables that some row has a value of

    @classmethod
    def of(cls, variables: Scope, block: Block) -> SeenRows:
        rows = block.rows
        known = {name: ~has_hole(column) for name, column in rows.columns.items()}
        states = {each.name: seen_states(each, rows) for each in variables if not each.is_real}
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        real = [each.name for each in variables if each.is_real and each.name in rows.columns]
        moments = {name: moments_of(rows.columns[name], weights, known[name]) for name in real}
        return cls(states, moments, frozenset(name for name, marks in known.items() if marks.any()))

    def __add__(self, other: SeenRows) -> SeenRows:
        states = {name: seen | other.states[name] for name, seen in self.states.items()}
        moments = {name: merge_moments(part, other.moments[name]) for name, part in self.moments.items()}
        return SeenRows(states, moments, self.names | other.names)


def seen_states(variable: Variable, rows: Dataset) -> np.ndarray:
    """Whether some row has a hole, and whether some row has each state; a column that is not there has holes."""
    seen, codes = np.zeros(variable.num_states + 1, np.bool_), rows.columns.get(variable.name)
    seen[0 if codes is None else np.unique(codes).astype(np.int64) + 1] = True
    return seen


def moments_of(column: np.ndarray, weights: np.ndarray, known: np.ndarray) -> Moments:
    return grouped_moments(column[known][:, None], np.zeros(int(known.sum()), np.int64), weights[known], 1)


@dataclass(frozen=True, eq=False)
class SeenFamilies:
    """The statistics of each table and line from the rows in which its family is complete."""

    parts: Mapping[str, np.ndarray | LineMoments]

    @classmethod
    def of(cls, template: BayesianNetwork, block: Block) -> SeenFamilies:
        rows = block.rows
        known = {name: ~has_hole(column) for name, column in rows.columns.items()}
        parts = {}
        for part in template.conditionals:
            if isinstance(part, Conditional | LinearGaussian) and all(name in known for name in family_of(part)):
                complete = np.logical_and.reduce([known[name] for name in family_of(part)])
                parts[part.child.name] = summarise_family(part, rows.take(complete))
        return cls(parts)

    def __add__(self, other: SeenFamilies) -> SeenFamilies:
        return SeenFamilies({name: part + other.parts[name] for name, part in self.parts.items()})


def family_of(part: Conditional | LinearGaussian) -> tuple[str, ...]:
    return (*part.parents.names, part.child.name)


def summarise_family(part: Conditional | LinearGaussian, rows: Dataset) -> Any:
    return count_families(rows, [part.scope])[0] if isinstance(part, Conditional) else summarise(part, rows)
