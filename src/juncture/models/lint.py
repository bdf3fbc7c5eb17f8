"""`lint`: what an expert would ask about a network before trusting it."""

from __future__ import annotations

import numpy as np

from juncture.factors.conditional import AnyConditional, HasTable
from juncture.models.bayesian_network import BayesianNetwork


def lint(model: BayesianNetwork) -> list[str]:
    """Sentences about entries that are zero, and about states that can never occur.

    A zero cannot be changed by any evidence: (almost) never is better said with a small probability.
    """
    possible: dict[str, np.ndarray] = {}
    remarks = []
    for name in model.graph.topological_order():
        part = model[name]
        if not part.child.is_real:
            possible[name] = possible_states(part, possible)
            remarks += [
                f"{name}={label} can never occur"
                for label, can in zip(part.child.labels, possible[name], strict=True)
                if not can
            ]
    zeros = {part.child.name: num_zeros(part) for part in model.conditionals}
    return [f"{name} has {count} zero entries" for name, count in zeros.items() if count] + remarks


def possible_states(part: AnyConditional, possible: dict[str, np.ndarray]) -> np.ndarray:
    """Which states have a positive entry for some possible states of the parents."""
    if not isinstance(part, HasTable) or any(parent.is_real for parent in part.parents):
        return np.ones(part.child.num_states, dtype=bool)
    values = part.to_table().values
    for axis, parent in enumerate(part.parents):
        values = values.compress(possible[parent.name], axis=axis)
    return np.asarray((values > 0).any(axis=tuple(range(values.ndim - 1))))


def num_zeros(part: AnyConditional) -> int:
    """The zero entries of a table; a deterministic conditional (it has no parameters) is meant to have them."""
    if not isinstance(part, HasTable) or part.num_parameters == 0 or any(parent.is_real for parent in part.parents):
        return 0
    return int((part.to_table().values == 0).sum())
