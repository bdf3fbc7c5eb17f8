"""Standard errors of the tables of a network, from the curvature of the log-likelihood at its maximum.

`Fit.standard_errors` asks for them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, NotIdentifiedWarning, warn_user
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.networks.estimation import pool_statistics
from juncture.learning.networks.expectation import NetworkExpectation, RowBlock
from juncture.learning.networks.gradient import FreeTables
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.networks.bayesian_network import BayesianNetwork

EXTRA = 8  # sums of scores beyond the number of parameters
RANK = 1e-8  # a width of the scores this small, relative to the largest, is rounding
UNSEEN = 1e-9  # rows: entries with less information have none
STILL, ROUGHLY_STILL = (
    1e-10,
    1e-8,
)  # squares of moves that are rounding: of exact directions, and of those by differences
SHOWN = 6  # names
STEP = 1e-4  # in logits: central differences of the gradient then err by some 1e-8
FLAT = 1e-6  # a curvature this small, relative to what each entry has by itself, is none
EDGE = 1e-6  # a probability below this lies on the boundary, where the curvature does not give its error


def standard_errors(model: BayesianNetwork, data: Any, fixed: frozenset[str] = frozenset()) -> dict[str, np.ndarray]:
    """The standard errors of the tables at a maximum of the likelihood of rows with holes.

    They come from the inverse of the observed information, by the delta method. A standard error is infinite where the
    data say nothing of an entry: for parents' states that were never seen, for entries that the data do not identify
    (which a `NotIdentifiedWarning` names), and for entries on the boundary. Entries are not identified where some
    direction changes the probability of no row, to first order: the rank of the rows' scores decides, also before EM
    has fully converged.

    Parameters
    ----------
    model
        A network that was fitted to the data without a prior.
    data
        The rows, coded by the variables of the model; cells may be missing.
    fixed
        The children whose tables were not learned.

    Returns
    -------
    For each child of a free table the standard errors of its entries, in the shape of the table.
    """
    if not isinstance(data, Dataset):
        raise InvalidData(
            "standard errors of rows with holes need the rows in memory, not a source: fit the model to"
            " juncture.data.sources.collect(source)"
        )
    tables = FreeTables(model, fixed, EstimationOptions())
    expectation, block = NetworkExpectation.of(model), RowBlock.of(model, data)
    values = np.concatenate([np.empty(0), *(table.reshape(-1) for table in tables.values(model))])
    inside = np.flatnonzero((values > EDGE) & (values < 1 - EDGE))
    square = np.ix_(inside, inside)
    information, jacobian = (
        observed_information(tables, expectation, block)[square],
        table_jacobian(tables, model)[square],
    )
    hidden = flat_directions(sums_of_scores(tables, expectation, block)[:, inside])
    errors = np.full(len(values), np.inf)
    errors[inside] = invert_information(information, hidden, jacobian)
    is_seen = np.zeros(len(values), bool)
    is_seen[inside] = np.diag(information) > UNSEEN
    warn_of_unidentified(split(np.isinf(errors) & is_seen, tables))
    return {
        name: found if found.shape[-1] > 1 else np.zeros(found.shape) for name, found in split(errors, tables).items()
    }


def errors_of_counts(
    model: BayesianNetwork, statistics: NetworkStatistics, fixed: frozenset[str] = frozenset()
) -> dict[str, np.ndarray]:
    """What `standard_errors` gives of complete rows, whose counts suffice: √(θ (1 - θ) / N).

    N is the number of the rows that have the parents' states.
    """
    tables = FreeTables(model, fixed, EstimationOptions())
    pooled, found = pool_statistics(model, statistics), {}
    for group, table in zip(tables.groups, tables.values(model), strict=True):
        weight = pooled[group[0]].of_parents[..., None]
        is_known = (table > EDGE) & (table < 1 - EDGE) & (weight > UNSEEN)
        errors = np.sqrt(table * (1 - table) / np.where(weight > UNSEEN, weight, 1.0))
        errors = np.where(is_known, errors, np.inf) if table.shape[-1] > 1 else np.zeros(table.shape)
        found.update(dict.fromkeys(group, errors))
    return found


def observed_information(tables: FreeTables, expectation: NetworkExpectation, block: RowBlock) -> np.ndarray:
    """-∇² of the log-likelihood in the logits, by central differences of its gradient."""
    start = tables.logits(tables.template)
    columns = []
    for index in range(len(start)):
        sides = []
        for sign in (1.0, -1.0):
            moved = start.copy()
            moved[index] += sign * STEP
            model = tables.model(moved)
            sides.append(tables.gradient(model, expectation.run(model, block).statistics))
        columns.append((sides[1] - sides[0]) / (2 * STEP))
    matrix = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
    return (matrix + matrix.T) / 2


def sums_of_scores(tables: FreeTables, expectation: NetworkExpectation, block: RowBlock) -> np.ndarray:
    """Sums of ∇ log p(row) over the distinct rows, with random weights: they span the space of the rows' scores."""
    start = tables.logits(tables.template)
    rng, model = np.random.default_rng(0), tables.model(start)
    sums = []
    for _ in range(len(start) + EXTRA):
        weights = rng.standard_exponential(len(block.weights)) * (block.weights > 0)
        weighed = replace(block, weights=weights)
        sums.append(tables.gradient(model, expectation.run(model, weighed).statistics))
    return np.array(sums).reshape(len(sums), len(start))


def flat_directions(scores: np.ndarray) -> np.ndarray:
    """(parameter, direction): a basis of the directions along which no row's probability changes."""
    size = np.sqrt((scores**2).sum(axis=0))
    scale = np.where(size > 0, size, 1.0)
    _, widths, directions = np.linalg.svd(scores / scale, full_matrices=True)
    rank = int((widths > RANK * widths.max(initial=0.0)).sum())
    return directions[rank:].T / scale[:, None]


def table_jacobian(tables: FreeTables, model: BayesianNetwork) -> np.ndarray:
    """d table / d logits: diag θ - θ θᵀ for each row of a table."""
    rows = [row for table in tables.values(model) for row in table.reshape(-1, table.shape[-1])]
    size = sum(len(row) for row in rows)
    jacobian, start = np.zeros((size, size)), 0
    for row in rows:
        stop = start + len(row)
        jacobian[start:stop, start:stop] = np.diag(row) - np.outer(row, row)
        start = stop
    return jacobian


def invert_information(information: np.ndarray, hidden: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """The square roots of the diagonal of J I⁻¹ Jᵀ; infinite along directions without information.

    The common shift of the logits in each row has no information either, but does not change the tables.
    """
    own = np.diag(information)
    scale = np.sqrt(np.where(own > UNSEEN, own, 1.0))  # relative, for few rows as for many
    basis, num_hidden = np.linalg.qr(hidden * scale[:, None], mode="complete")[0], hidden.shape[1]
    seen = basis[:, num_hidden:]
    curvatures, turns = np.linalg.eigh(seen.T @ (information / np.outer(scale, scale)) @ seen)
    if (curvatures < -1e-4).any():
        raise InvalidData("the model is not at a maximum of the likelihood of these data: fit it to them first")
    known, directions = curvatures > FLAT, seen @ turns
    moves = moves_along(directions, jacobian, scale)
    errors = np.sqrt((moves[:, known] / curvatures[known]).sum(axis=1)) / scale
    lost = np.hstack([moves_along(basis[:, :num_hidden], jacobian, scale) > STILL, moves[:, ~known] > ROUGHLY_STILL])
    return np.where(lost.any(axis=1), np.inf, errors)


def moves_along(directions: np.ndarray, jacobian: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(entry, direction): the square of how far an entry moves, in standard errors of the entry alone."""
    return (jacobian @ (directions / scale[:, None]) * scale[:, None]) ** 2


def split(numbers: np.ndarray, tables: FreeTables) -> dict[str, np.ndarray]:
    """The part of each child, in the shape of its table."""
    found, start = {}, 0
    for group, table in zip(tables.groups, tables.values(tables.template), strict=True):
        stop = start + table.size
        found.update(dict.fromkeys(group, numbers[start:stop].reshape(table.shape)))
        start = stop
    return found


def warn_of_unidentified(is_lost: dict[str, np.ndarray]) -> None:
    names = [name for name, entries in is_lost.items() if entries.any() and entries.shape[-1] > 1]
    if names:
        shown = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
        warn_user(
            f"the data do not identify the tables of {shown}: other values of their entries give every row the same"
            " probability, so that the standard errors there are infinite; observe more variables, or fix some tables",
            NotIdentifiedWarning,
        )
