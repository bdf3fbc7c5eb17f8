"""Slow and obvious answers for the tests of learning, and rows with holes to learn from."""

from __future__ import annotations

from itertools import product

import numpy as np

import juncture as jt
from builders import joint_table, random_rows, random_variables

Codes = dict[str, np.ndarray]


def random_tables(
    rng: np.random.Generator, count: int | None = None, *, zeros: float = 0.0, max_states: int = 3
) -> jt.BayesianNetwork:
    """A random network of tables with at most three parents each."""
    count = int(rng.integers(1, 6)) if count is None else count
    variables = random_variables(rng, count, max_states=max_states)
    parts = []
    for place, child in enumerate(variables):
        parents = [variables[other] for other in rng.permutation(place)[: rng.integers(0, 4)]]
        shape = tuple(variable.num_states for variable in (*parents, child))
        parts.append(jt.Conditional(child, parents, random_rows(rng, shape, zeros=zeros)))
    return jt.BayesianNetwork([parts[place] for place in rng.permutation(count)])


def random_codes(rng: np.random.Generator, model: jt.BayesianNetwork, num_rows: int) -> Codes:
    """Any states, whatever the model thinks of them."""
    return {variable.name: rng.integers(variable.num_states, size=num_rows) for variable in model.variables}


def with_holes(rng: np.random.Generator, rows: jt.Dataset, share: float, never: tuple[str, ...] = ()) -> jt.Dataset:
    """The rows with some cells made holes, and all cells of the variables in `never`."""
    codes = {
        name: np.where((rng.random(len(rows)) < share) | (name in never), -1, column)
        for name, column in rows.columns.items()
    }
    return jt.Dataset.from_codes(rows.variables, codes, rows.weights)


def counted(conditional, codes: Codes, weights: np.ndarray) -> np.ndarray:
    """The counts of one family, a row at a time."""
    counts = np.zeros(conditional.scope.shape)
    for row, weight in enumerate(weights):
        counts[tuple(codes[name][row] for name in conditional.scope.names)] += weight
    return counts


def completions(model: jt.BayesianNetwork, row: dict[str, int]):
    """All assignments of codes that agree with a row in which -1 is a hole."""
    sizes = zip(model.variables.names, model.variables.shape, strict=True)
    return product(*(range(size) if row[name] < 0 else [row[name]] for name, size in sizes))


def expected_by_enumeration(model: jt.BayesianNetwork, rows: jt.Dataset) -> tuple[dict[str, np.ndarray], float]:
    """(expected counts of each family, log-likelihood): every completion of every row, weighed one by one."""
    joint, names = joint_table(model), model.variables.names
    tables = {part.child.name: np.zeros(part.scope.shape) for part in model.conditionals}
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    log_likelihood = 0.0
    for place, weight in enumerate(weights):
        row = {name: int(rows.columns[name][place]) if name in rows.columns else -1 for name in names}
        cells = list(completions(model, row))
        total = sum(joint[cell] for cell in cells)
        if weight > 0:
            log_likelihood += weight * np.log(total)
        for cell in cells if weight > 0 else ():
            codes = dict(zip(names, cell, strict=True))
            for part in model.conditionals:
                tables[part.child.name][tuple(codes[name] for name in part.scope.names)] += weight * joint[cell] / total
    return tables, float(log_likelihood)
