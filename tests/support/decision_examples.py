"""Random decision networks, and the oracle: the expected utility of every policy, by the joint table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

import juncture as jt
from juncture.factors.factor import align, product_of


def random_decision_network(rng: np.random.Generator, *, most_parents: int = 1) -> jt.DecisionNetwork:
    """Two to four chance variables, one or two decisions, one to three utilities, in a random order."""
    kinds = ["chance"] * int(rng.integers(2, 5)) + ["decision"] * int(rng.integers(1, 3))
    rng.shuffle(kinds)
    parts: list[Any] = []
    before: list[jt.Variable] = []
    for place, kind in enumerate(kinds):
        variable = jt.Variable(f"{kind[0]}{place}", ["no", "yes", "more"][: 2 + int(rng.random() < 0.2)])
        most = most_parents if kind == "decision" else 2
        parents = [before[i] for i in rng.permutation(len(before))[: rng.integers(0, most + 1)]]
        if kind == "decision":
            parts.append(jt.Decision(jt.Variable(variable.name, 2), parents))
        else:
            shape = (*(parent.num_states for parent in parents), variable.num_states)
            rows = rng.dirichlet(np.ones(shape[-1]), shape[:-1]) * (rng.random(shape) < 0.8) + 1e-12
            parts.append(jt.Conditional(variable, parents, rows / rows.sum(axis=-1, keepdims=True)))
        last = parts[-1]
        before.append(last.variable if isinstance(last, jt.Decision) else last.child)
    for _ in range(int(rng.integers(1, 4))):
        parents = [before[i] for i in rng.permutation(len(before))[: rng.integers(1, 4)]]
        parts.append(jt.Utility(parents, rng.normal(size=[parent.num_states for parent in parents]).round(2)))
    rng.shuffle(parts)
    return jt.DecisionNetwork(parts)


def known_at(network: jt.DecisionNetwork, no_forgetting: bool) -> dict[str, list[jt.Variable]]:
    """What each decision knows."""
    past: list[jt.Variable] = []
    found = {}
    for decision in network.decisions:
        known = dict.fromkeys([*(past if no_forgetting else []), *decision.parents])
        found[decision.variable.name] = list(known)
        past += [*decision.parents, decision.variable]
    return found


def all_policies(network: jt.DecisionNetwork, no_forgetting: bool) -> Iterator[dict[str, jt.Deterministic]]:
    """Every deterministic policy."""
    rules = []
    for name, parents in known_at(network, no_forgetting).items():
        variable, shape = network.variable(name), [parent.num_states for parent in parents]
        choices = product(range(variable.num_states), repeat=int(np.prod(shape)))
        rules.append([jt.Deterministic(variable, parents, np.reshape(codes, shape)) for codes in choices])
    for chosen in product(*rules):
        yield {rule.child.name: rule for rule in chosen}


def num_policies(network: jt.DecisionNetwork, no_forgetting: bool) -> float:
    sizes = [
        network.variable(name).num_states ** np.prod([parent.num_states for parent in parents])
        for name, parents in known_at(network, no_forgetting).items()
    ]
    return float(np.prod(sizes))


def utility_of(network: jt.DecisionNetwork, policy: dict[str, Any], evidence: dict[str, Any]) -> float:
    """The expected utility of a policy given evidence, from the joint table."""
    fixed = network.with_policy(policy)
    joint = product_of(factor for factor in fixed.factors)
    for name, state in evidence.items():
        joint = joint * jt.Factor(
            [network.variable(name)], np.eye(network.variable(name).num_states)[network.variable(name).code(state)]
        )
    total = np.zeros(joint.scope.shape)
    for utility in network.utilities:
        total = total + align(jt.Factor(utility.parents, np.zeros(utility.parents.shape)), joint.scope, utility.values)
    return float((joint.values * total).sum() / joint.total)
