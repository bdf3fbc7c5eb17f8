"""Slow and obvious answers for the tests of learning, and rows with holes to learn from."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np

import juncture as jt
from juncture.learning.networks.expectation import NetworkExpectation, RowBlock
from support.builders import joint_table, random_rows, random_variables

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
    hole = {True: np.nan, False: -1}  # of a real column, of codes
    codes = {
        name: np.where((rng.random(len(rows)) < share) | (name in never), hole[column.dtype == float], column)
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


def quiet(function, *arguments, **options):
    """The answer, without warnings of what was never seen or of steps that ran out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.UnseenParentsWarning)
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        return function(*arguments, **options)


def holey(seed, *, build=random_tables, num_rows=25, zeros=0.0):
    """A network, and rows that it drew itself, with holes and sometimes a variable that is never observed."""
    rng = np.random.default_rng(seed)
    model = build(rng) if build is not random_tables else random_tables(rng, zeros=zeros)
    rows = jt.sample(model, num_rows, rng=rng)
    never = tuple(name for name in model.variables.names if rng.random() < 0.15)
    return rng, model, with_holes(rng, rows, float(rng.choice([0.0, 0.2, 0.7])), never)


def latent_class(rng, num_features=4, num_classes=2):
    """A hidden class with binary features."""
    hidden = jt.Variable("h", num_classes)
    features = [jt.Variable(f"f{place}", 2) for place in range(num_features)]
    rows = [rng.dirichlet(np.ones(2), num_classes) for _ in features]
    tables = [jt.Conditional(feature, [hidden], table) for feature, table in zip(features, rows, strict=True)]
    return jt.BayesianNetwork([jt.Conditional(hidden, [], rng.dirichlet(np.ones(num_classes))), *tables])


class RowExpectation:
    """The E-step on given rows: `run` gives the expected statistics and the log-likelihood under a model."""

    def __init__(self, template, rows, engine="auto"):
        self.expectation = NetworkExpectation.of(template, engine)
        self.block = RowBlock.of(template, rows)

    def run(self, model):
        expected = self.expectation.run(model, self.block)
        return expected.statistics, expected.log_likelihood
