"""Single-policy updating: the rules of a policy improved one by one (Lauritzen and Nilsson 2001).

With all other rules fixed, the best rule for a decision takes in each joint state of its parents the action with the
largest Σ p · u over the utilities that it can change. An extremal decision is solved once, whatever the others do; the
rest is repeated until no rule can be improved alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from juncture.inference.decisions.limited_memory import LimitedMemory
from juncture.inference.decisions.weighted_utilities import Tables
from juncture.inference.exact.elimination.semiring import Table
from juncture.numerics.iteration import iterate

TIE = 1e-12  # of the larger utility: a smaller difference is rounding, and the earlier action is taken


@dataclass(frozen=True, eq=False)
class Rule:
    """The action for each joint state of the parents, as codes."""

    name: str
    parents: tuple[str, ...]
    codes: np.ndarray

    def table(self, tables: Tables) -> Table:
        """The rule as a table of ones and zeros, the parents first."""
        num_actions = tables.variables.variable(self.name).num_states
        return tables.table((*self.parents, self.name), np.eye(num_actions)[self.codes])


Rules: TypeAlias = dict[str, Rule]


def best_actions(weighted: np.ndarray) -> np.ndarray:
    """The first action, along the last axis, that is as good as the best one."""
    slack = TIE * np.abs(weighted).max(axis=-1, keepdims=True)
    return np.asarray((weighted >= weighted.max(axis=-1, keepdims=True) - slack).argmax(axis=-1))


@dataclass(frozen=True, eq=False)
class PolicySearch:
    """The search for the rules of all decisions of a problem whose decisions know requisite parents only."""

    tables: Tables
    memory: LimitedMemory

    def run(self, starts: int, rng: np.random.Generator) -> tuple[Rules, bool]:
        """The rules, and whether they are optimal."""
        memory, solved = self.memory, Rules()
        unsolved = list(memory.information)
        while unsolved and (extremal := memory.find_extremal(unsolved)) is not None:
            unsolved.remove(extremal)
            others = [*(rule.table(self.tables) for rule in solved.values()), *map(self._uniform, unsolved)]
            solved[extremal] = self._improve(memory, extremal, others)
        if not unsolved:
            return solved, True
        climbs = [LocalSearch(self, memory, solved, unsolved, rng if start else None) for start in range(starts)]
        ended = [(climb, iterate(climb, tolerance=0.0)[0]) for climb in climbs]
        values = [climb.objective(rules) for climb, rules in ended]
        return ended[int(np.argmax(values))][1], False

    def _uniform(self, name: str) -> Table:
        count = self.tables.variables.variable(name).num_states
        return self.tables.table([name], np.full(count, 1.0 / count))

    def _improve(self, memory: LimitedMemory, name: str, others: Sequence[Table]) -> Rule:
        parents = memory.information[name]
        affected = memory.affected(memory.graph, name)
        summed = self.tables.sum_out((*parents, name), others, affected)
        return Rule(name, parents, best_actions(summed.weighted_utilities))

    def _draw(self, memory: LimitedMemory, name: str, rng: np.random.Generator) -> Rule:
        variable = self.tables.variables.variable
        shape = tuple(variable(parent).num_states for parent in memory.information[name])
        return Rule(name, memory.information[name], rng.integers(variable(name).num_states, size=shape))


@dataclass(frozen=True, eq=False)
class LocalSearch:
    """Rules improved in turn, from uniform or from drawn ones; a step goes once through all unsolved decisions."""

    search: PolicySearch
    memory: LimitedMemory
    solved: Rules
    unsolved: Sequence[str]
    rng: np.random.Generator | None

    def init(self) -> Rules:
        if self.rng is not None:
            drawn = {name: self.search._draw(self.memory, name, self.rng) for name in self.unsolved}
            return self.step({**self.solved, **drawn})
        return self.step(dict(self.solved))

    def step(self, rules: Rules) -> Rules:
        rules = dict(rules)
        for name in reversed(self.unsolved):
            tables = self.search.tables
            others = [rule.table(tables) for other, rule in rules.items() if other != name]
            others += [self.search._uniform(other) for other in self.unsolved if other not in rules and other != name]
            rules[name] = self.search._improve(self.memory, name, others)
        return rules

    def objective(self, rules: Rules) -> float:
        tables = self.search.tables
        followed = [rule.table(tables) for rule in rules.values()]
        return float(tables.sum_out((), followed, tables.utilities).utilities)
