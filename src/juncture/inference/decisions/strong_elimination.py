"""Strong elimination: all variables of a decision network out of one product, decisions by their maximum.

With perfect recall the variables have a partial order: what is known before the first decision, the decision, what is
learned before the second, and so on, last what is never observed. They are eliminated in the reverse of it. Chance
variables are summed out of pairs (p, u); a decision takes the maximum of u / p, the expected utility of what is
still to come (Jensen, Jensen and Dittmer 1994; Koller and Friedman 2009, section 23.3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.inference.decisions.limited_memory import LimitedMemory
from juncture.inference.decisions.policy_search import Rule, Rules, best_actions
from juncture.inference.decisions.weighted_utilities import PAIRS, Tables
from juncture.inference.exact.elimination.buckets import first_step, good_order, plan_elimination
from juncture.inference.exact.elimination.semiring import Table


def eliminate_strongly(tables: Tables, memory: LimitedMemory, requisite: LimitedMemory) -> Rules:
    """The best rule for each decision, over the requisite part of what it knows."""
    sizes = tables.variables.shape
    ones = [((node,), np.full(size, 1 + 0j)) for node, size in enumerate(sizes)]
    parts = [*tables.chance, *tables.utilities.values(), *tables.evidence, *ones]
    decisions = {tables.variables.axis(name): name for name in memory.information}
    order = strong_order(tables, memory, [scope for scope, _ in parts])
    plan = plan_elimination([scope for scope, _ in parts], sizes, memory_limit=None, order=order)
    indices = {step.node: index for index, step in enumerate(plan.steps)}
    waiting: list[list[Table]] = [[] for _ in range(len(plan.steps) + 1)]
    for scope, table in parts:
        waiting[first_step(scope, indices)].append((scope, table))
    rules: Rules = {}
    for index, step in enumerate(plan.steps):
        product = PAIRS.product(waiting[index], [*step.nodes, step.node])
        waiting[index] = []
        if step.node in decisions:
            name = decisions[step.node]
            rules[name] = find_rule(tables, requisite, name, step.nodes, product)
            left = take_best(product)
        else:
            left = PAIRS.sum_out(product)
        waiting[first_step(step.nodes, indices)].append((step.nodes, left))
    return {name: rules[name] for name in memory.information}


def strong_order(tables: Tables, memory: LimitedMemory, scopes: Sequence[Sequence[int]]) -> list[int]:
    """All variables: those learned after the last decision first, inside each stage in an order of small tables."""
    axis = tables.variables.axis
    rank = dict.fromkeys(range(len(tables.variables)), 2 * len(memory.information))
    for number, (name, parents) in enumerate(memory.information.items()):
        for parent in parents:
            rank[axis(parent)] = min(rank[axis(parent)], 2 * number)
        rank[axis(name)] = 2 * number + 1
    return sorted(good_order(scopes, tables.variables.shape), key=lambda node: -rank[node])


def find_rule(tables: Tables, requisite: LimitedMemory, name: str, nodes: Sequence[int], product: np.ndarray) -> Rule:
    """The best actions, with what makes no difference summed out of the weighted utilities first."""
    names = [tables.variables.names[node] for node in nodes]
    kept = [known for known in requisite.information[name] if known in names]
    summed = product.imag.sum(axis=tuple(axis for axis, known in enumerate(names) if known not in kept))
    present = [known for known in names if known in kept]
    ordered = summed.transpose([*(present.index(known) for known in kept), len(kept)])
    return Rule(name, tuple(kept), best_actions(ordered))


def take_best(product: np.ndarray) -> np.ndarray:
    """The pair of the best action, along the last axis.

    The probability of the past is the same for every action; where that is 0, so is the pair.
    """
    best = best_actions(product.imag)[..., np.newaxis]
    return np.asarray(np.take_along_axis(product, best, axis=-1)[..., 0])
