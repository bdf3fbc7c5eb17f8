"""Small random models and evidence for tests; the same generator state gives the same instance.

`CONDITIONALS` lists the discrete kinds by name; a kind added there joins the random networks and every law over kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.factors.conditional import Conditional, DiscreteConditional
from juncture.factors.deterministic import Deterministic
from juncture.factors.factor import Factor
from juncture.factors.logistic import Logistic
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorGraph, MarkovNetwork
from juncture.variables import Scope, Variable
from juncture.verbs import sample

Build = Callable[[np.random.Generator, Variable, Scope], DiscreteConditional]


def random_variables(rng: np.random.Generator, count: int, *, max_states: int = 4) -> list[Variable]:
    """`x0`, `x1`, …: mostly of two states, some of one; labels are text, numbers or booleans."""
    sizes = [size for size in (1, 2, 2, 2, 3, 4) if size <= max_states]
    return [random_variable(rng, f"x{place}", int(rng.choice(sizes))) for place in range(count)]


def random_variable(rng: np.random.Generator, name: str, num_states: int) -> Variable:
    labels: list[list[Any]] = [
        list(range(num_states)),
        [f"s{place}" for place in range(num_states)],
        [place - 0.5 for place in range(num_states)],
        [False, True, "maybe", 3][:num_states],
    ]
    return Variable(name, labels[rng.integers(len(labels))])


# --- conditionals --------------------------------------------------------------------------------------------------


def random_table(rng: np.random.Generator, child: Variable, parents: Scope) -> Conditional:
    return Conditional(child, parents, random_rows(rng, (*parents.shape, child.num_states)))


def random_table_with_zeros(rng: np.random.Generator, child: Variable, parents: Scope) -> Conditional:
    return Conditional(child, parents, random_rows(rng, (*parents.shape, child.num_states), zeros=0.4))


def random_deterministic(rng: np.random.Generator, child: Variable, parents: Scope) -> Deterministic:
    return Deterministic(child, parents, rng.integers(child.num_states, size=parents.shape))


def random_noisy_or(rng: np.random.Generator, child: Variable, parents: Scope) -> NoisyOr:
    probabilities = rng.choice([0.0, 1.0, *rng.random(4)], size=len(parents))
    return NoisyOr(child, parents, probabilities, leak=float(rng.choice([0.0, 0.3])))


def random_noisy_max(rng: np.random.Generator, child: Variable, parents: Scope) -> NoisyMax:
    tables = [random_rows(rng, (parent.num_states, child.num_states), zeros=0.2) for parent in parents]
    return NoisyMax(child, parents, tables, random_rows(rng, (child.num_states,), zeros=0.2))


def random_logistic(rng: np.random.Generator, child: Variable, parents: Scope) -> Logistic:
    states = () if child.num_states == 2 else (child.num_states,)
    return Logistic(child, parents, rng.normal(size=(*states, len(parents))), rng.normal(size=states))


CONDITIONALS: dict[str, Build] = {
    "table": random_table,
    "table with zeros": random_table_with_zeros,
    "deterministic": random_deterministic,
    "noisy or": random_noisy_or,
    "noisy max": random_noisy_max,
    "logistic": random_logistic,
}


def random_conditional(rng: np.random.Generator, child: Variable, parents: Sequence[Variable]) -> DiscreteConditional:
    """A conditional of a random kind that these variables allow."""
    binary = all(variable.num_states == 2 for variable in (child, *parents))
    kinds = [kind for kind in CONDITIONALS if binary or kind != "noisy or"]
    return CONDITIONALS[kinds[rng.integers(len(kinds))]](rng, child, Scope(parents))


def random_rows(rng: np.random.Generator, shape: tuple[int, ...], *, zeros: float = 0.0) -> np.ndarray:
    """Distributions along the last axis; each entry is 0 with probability `zeros`, but never a whole row."""
    values = rng.gamma(1.0, size=shape) + 1e-3
    values[rng.random(shape) < zeros] = 0.0
    kept = rng.integers(shape[-1], size=shape[:-1])
    np.put_along_axis(values, kept[..., np.newaxis], 1.0, axis=-1)
    return values / values.sum(axis=-1, keepdims=True)


# --- models --------------------------------------------------------------------------------------------------------


def random_network(
    rng: np.random.Generator, num_variables: int | None = None, *, max_states: int = 4, max_parents: int = 3
) -> BayesianNetwork:
    """A random directed acyclic graph with conditionals of all kinds, listed in an order that is not topological."""
    count = int(rng.integers(1, 7)) if num_variables is None else num_variables
    variables = random_variables(rng, count, max_states=max_states)
    order = [variables[place] for place in rng.permutation(count)]
    parts = []
    for place, child in enumerate(order):
        num_parents = int(rng.integers(min(place, max_parents) + 1))
        parents = [order[before] for before in rng.permutation(place)[:num_parents]]
        parts.append(random_conditional(rng, child, parents))
    return BayesianNetwork([parts[place] for place in rng.permutation(count)])


def random_field(
    rng: np.random.Generator, num_variables: int | None = None, *, max_states: int = 4, num_factors: int | None = None
) -> MarkovNetwork:
    """Factors with zeros on random scopes, some of them twice; some variables may be touched by none; Z > 0."""
    count = int(rng.integers(1, 7)) if num_variables is None else num_variables
    variables = random_variables(rng, count, max_states=max_states)
    possible = {variable.name: int(rng.integers(variable.num_states)) for variable in variables}
    scopes = [
        [variables[place] for place in rng.permutation(count)[: int(rng.integers(0, 4))]]
        for _ in range(int(rng.integers(0, count + 2)) if num_factors is None else num_factors)
    ]
    twice = scopes[:1] if rng.random() < 0.5 else []
    factors = [random_factor(rng, scope, possible) for scope in (*scopes, *twice)]
    return MarkovNetwork(factors, variables)


def dense_field(rng: np.random.Generator, *, zeros: float = 0.0) -> MarkovNetwork:
    """Seven variables of two or three states, most pairs joined by a factor, and three triples; Z > 0.

    Its width is about five, so that engines with small tables are not exact.
    """
    variables = [Variable(f"x{place}", int(rng.integers(2, 4))) for place in range(7)]
    pairs = [list(pair) for pair in combinations(variables, 2) if rng.random() < 0.7]
    triples = [[variables[place] for place in rng.permutation(7)[:3]] for _ in range(3)]
    possible = {variable.name: int(rng.integers(variable.num_states)) for variable in variables}
    factors = []
    for scope in (*pairs, *triples):
        values = np.exp(rng.normal(size=[variable.num_states for variable in scope]))
        kept = one_at(values.shape, tuple(possible[variable.name] for variable in scope)) > 0
        factors.append(Factor(scope, np.where((rng.random(values.shape) < zeros) & ~kept, 0.0, values)))
    return MarkovNetwork(factors, variables)


def random_factor(rng: np.random.Generator, scope: Sequence[Variable], possible: dict[str, int]) -> Factor:
    """A table with zeros, but not at the `possible` state codes."""
    scope = Scope(scope)
    values = np.asarray(rng.gamma(1.0, size=scope.shape))
    kept = tuple(possible[name] for name in scope.names)
    return Factor(scope, np.where(rng.random(scope.shape) < 0.25, 0.0, values) + 0.5 * one_at(scope.shape, kept))


def one_at(shape: tuple[int, ...], place: tuple[int, ...]) -> np.ndarray:
    array = np.zeros(shape)
    array[place] = 1.0
    return array


# --- the oracle, and evidence --------------------------------------------------------------------------------------

Model = BayesianNetwork | MarkovNetwork | FactorGraph


def joint_table(model: Model) -> np.ndarray:
    """The product of all factors, one axis per variable of the model, by one `einsum`."""
    axis = {name: place for place, name in enumerate(model.variables.names)}
    operands: list[Any] = [np.ones(model.variables.shape), list(axis.values())]
    for factor in model.factors:
        operands += [factor.values, [axis[name] for name in factor.scope.names]]
    return np.asarray(np.einsum(*operands, list(axis.values())))


def random_evidence(model: Model, rng: np.random.Generator) -> dict[str, Any]:
    """One row with positive probability: per variable a state, a likelihood, None, or nothing at all."""
    joint = joint_table(model)
    drawn = np.unravel_index(rng.choice(joint.size, p=joint.ravel() / joint.sum()), joint.shape)
    evidence: dict[str, Any] = {}
    for variable, code in zip(model.variables, drawn, strict=True):
        kind = rng.choice(["hard", "soft", "missing", "absent"], p=[0.3, 0.2, 0.1, 0.4])
        if kind == "hard":
            evidence[variable.name] = variable.labels[int(code)]
        elif kind == "soft":
            likelihood = rng.random(variable.num_states) * rng.integers(2, size=variable.num_states)
            evidence[variable.name] = (likelihood + one_at((variable.num_states,), (int(code),))).tolist()
        elif kind == "missing":
            evidence[variable.name] = None
    return evidence


def rows_with_holes(model: BayesianNetwork, num_rows: int, share: float = 0.05, seed: int = 1) -> Dataset:
    """Rows drawn from a model, of whose cells a share is missing at random."""
    rows, rng = sample(model, num_rows, rng=seed), np.random.default_rng(seed)
    columns = {name: np.where(rng.random(num_rows) < share, -1, column) for name, column in rows.columns.items()}
    return Dataset.from_codes(rows.variables, columns)
