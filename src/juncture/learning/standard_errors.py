"""Standard errors of the tables, from the curvature of the observed log-likelihood at its maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.learning.expected_statistics import Expectation
from juncture.learning.free_tables import FreeTables
from juncture.learning.kinds.contract import Wishes
from juncture.learning.sharing import kept_children
from juncture.learning.templates import prepared
from juncture.models.bayesian_network import BayesianNetwork

STEP = 1e-4  # in logits: central differences of the gradient then err by some 1e-8
FLAT = 1e-6  # a curvature this small, relative to what each entry has by itself, is none
EDGE = 1e-6  # a probability below this lies on the boundary, where no curvature tells its error


def standard_errors(model: BayesianNetwork, data: Any, *, fixed: Any = (), latent: Any = ()) -> dict[str, np.ndarray]:
    """The standard error of every entry of the free tables, by child, in the shape of its table.

    From the inverse of the observed information, by the delta method. Infinite where the data say nothing of an
    entry: parents' states that were never seen, entries that others can make up for, and those on the boundary.
    """
    template, dataset = prepared(model, data, latent=latent)
    tables = FreeTables(template, kept_children(template, fixed), Wishes())
    information = observed_information(tables, Expectation.of(template, dataset))
    values = np.concatenate([np.empty(0), *(table.reshape(-1) for table in tables.values(model))])
    inside = np.flatnonzero((values > EDGE) & (values < 1 - EDGE))
    errors = np.full(len(values), np.inf)
    errors[inside] = errors_of(
        information[np.ix_(inside, inside)], table_jacobian(tables, model)[np.ix_(inside, inside)]
    )
    return split(errors, tables)


def observed_information(tables: FreeTables, expectation: Expectation) -> np.ndarray:
    """-∇² of the log-likelihood in the logits, by central differences of its gradient."""
    start = tables.logits(tables.template)
    columns = []
    for place in range(len(start)):
        sides = []
        for sign in (1.0, -1.0):
            moved = start.copy()
            moved[place] += sign * STEP
            model = tables.model(moved)
            sides.append(tables.gradient(model, expectation.run(model)[0]))
        columns.append((sides[1] - sides[0]) / (2 * STEP))
    matrix = np.stack(columns, axis=1) if columns else np.zeros((0, 0))
    return np.asarray((matrix + matrix.T) / 2)


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


def errors_of(information: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """The square roots of the diagonal of J I⁻¹ Jᵀ; infinite where a direction of which nothing is known leads.

    The logits' common shift in each row, of which nothing is known either, does not move the tables.
    """
    own = np.diag(information)
    scale = np.sqrt(np.where(own > 1e-9, own, 1.0))  # of few rows as of many: what counts is relative
    curvatures, directions = np.linalg.eigh(information / np.outer(scale, scale))
    if (curvatures < -1e-4).any():
        raise InvalidData("the model is not at a maximum of the likelihood of these data: fit it to them first")
    known = curvatures > FLAT
    moves = (jacobian @ (directions / scale[:, None])) ** 2  # (entry, direction)
    errors = np.sqrt((moves[:, known] / curvatures[known]).sum(axis=1))
    return np.where((moves[:, ~known] * scale[:, None] ** 2 > 1e-8).any(axis=1), np.inf, errors)


def split(errors: np.ndarray, tables: FreeTables) -> dict[str, np.ndarray]:
    found, start = {}, 0
    for group, table in zip(tables.groups, tables.values(tables.template), strict=True):
        stop = start + table.size
        own = errors[start:stop].reshape(table.shape) if table.shape[-1] > 1 else np.zeros(table.shape)
        found.update(dict.fromkeys(group, own))
        start = stop
    return found
