"""Small random models whose tables have zeros of all shapes, and the engine that keeps possible cells of any model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.factors.conditional import Conditional
from juncture.factors.factor import Factor
from juncture.inference.exact.junction_tree.choice import Choice, keep_possible_states
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph
from juncture.variables import Variable


@dataclass(frozen=True)
class PossibleCells(JunctionTree):
    """The junction tree that keeps the cells that can be non-zero alone, also where all cells would be faster."""

    def choice(self, model: Any) -> Choice:
        if "choice" not in model.derived:
            keep_possible_states(model)
        return super().choice(model)


def table_with_zeros(rng: np.random.Generator, shape: Sequence[int]) -> np.ndarray:
    """Random numbers with zeros: none, some, but for a permutation, for sums of codes (parities), for one state."""
    values = rng.random(shape) + 0.05
    kind = rng.integers(5)
    if kind == 1:
        values *= rng.random(shape) < 0.5
    elif kind == 2:
        codes = sum(np.indices(shape)[:-1], np.zeros(shape, int))
        values *= rng.permutation(shape[-1])[codes % shape[-1]] == np.indices(shape)[-1]
    elif kind == 3:
        values *= sum(np.indices(shape)) % shape[-1] == 0
    elif kind == 4:
        values *= np.indices(shape)[-1] == rng.integers(shape[-1])
    return values


def network_with_zeros(rng: np.random.Generator, most: int = 8) -> BayesianNetwork:
    """Of three variables or more, fewer than `most`; evidence may be impossible."""
    variables = variables_of(rng, most)
    conditionals = []
    for index, child in enumerate(variables):
        parents = [variables[at] for at in rng.permutation(index)[: rng.integers(0, 4)]]
        table = table_with_zeros(rng, [*(parent.num_states for parent in parents), child.num_states])
        table[table.sum(axis=-1) == 0.0] = 1.0
        conditionals.append(Conditional(child, parents, table / table.sum(axis=-1, keepdims=True)))
    return BayesianNetwork(conditionals)


def field_with_zeros(rng: np.random.Generator, most: int = 8) -> FactorGraph:
    """As above; constraints may contradict each other, so that nothing is possible."""
    variables = variables_of(rng, most)
    scopes = [rng.permutation(len(variables))[: rng.integers(1, 4)] for _ in range(rng.integers(2, 9))]
    parts = [[variables[index] for index in scope] for scope in scopes]
    factors = [Factor(part, table_with_zeros(rng, [one.num_states for one in part])) for part in parts]
    return FactorGraph(factors, variables=variables)


def variables_of(rng: np.random.Generator, most: int) -> list[Variable]:
    names = [f"x{index}" for index in range(rng.integers(3, most))]
    return [Variable(name, int(rng.integers(1, 4))) for name in names]


def model_with_zeros(rng: np.random.Generator) -> BayesianNetwork | FactorGraph:
    """Directed or not, of up to six variables."""
    return network_with_zeros(rng, 7) if rng.random() < 0.5 else field_with_zeros(rng, 7)


def any_evidence(model: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Some variables observed, some with likelihoods, whether that can be or not."""
    evidence: dict[str, Any] = {}
    for variable in model.variables:
        kind = rng.integers(5)
        if kind == 0:
            evidence[variable.name] = variable.labels[rng.integers(variable.num_states)]
        elif kind == 1:
            likelihood = rng.random(variable.num_states) * (rng.random(variable.num_states) < 0.8)
            evidence[variable.name] = likelihood.tolist() if likelihood.any() else [0.5] + [0.0] * (len(likelihood) - 1)
    return evidence
