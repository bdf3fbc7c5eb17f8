"""Densities of rows that each observe other variables: least squares for many rows at once.

The rows of a network over their standard deviations are M z = noise of variance 1, where z are the deviations from the
means. Given the observed part of z, the free part is one of least squares: with M_free = Q R and b = M_observed z, the
density is that of the part of b that Q does not reach, over |det R|. Nothing is squared or inverted. Where a pattern of
holes has few rows this takes less time than a plan for it (Golub and Van Loan 2013, 5.3).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.exact.gaussian.answers import GaussianAnswers, Group
from juncture.inference.exact.gaussian.systems import LinearSystem
from juncture.numerics import LOG_TWO_PI

STIFF = 2.0**10  # the ratio of a standard deviation to that of its noise, above which orthogonal steps lose digits
PLAN_OPERATIONS, PLAN_OPERATIONS_PER_VARIABLE = 1.5e6, 5e4  # of which a plan takes as long as least squares with these
NUMBERS_AT_ONCE = 2**20


class DensityAnswers(GaussianAnswers):
    """The densities of rows; all else is eliminated when it is asked for."""

    log_evidence: np.ndarray
    solve: Callable[[], tuple[Group, ...]]

    def __init__(
        self,
        system: LinearSystem,
        findings: Findings,
        log_evidence: np.ndarray,
        solve: Callable[[], tuple[Group, ...]],
    ) -> None:
        self.__dict__.update(
            names=system.names, numbers=system.numbers, centers=system.means, scales=system.scales,
            findings=findings, log_evidence=log_evidence, solve=solve,
        )  # fmt: skip

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        return self.solve()


def is_dense(system: LinearSystem) -> bool:
    """Whether all rows have noise, none of them so little that digits would be lost."""
    return not system.is_exact.any() and bool(np.abs(system.entries).max(initial=0.0) <= STIFF)


def are_few(num_rows: np.ndarray, num_free: np.ndarray, num_variables: int) -> np.ndarray:
    """(pattern,): whether least squares for these many rows take less time than a plan for their pattern."""
    operations = 2.0 * num_rows * num_variables * (num_free + 1.0) ** 2
    return operations <= PLAN_OPERATIONS + PLAN_OPERATIONS_PER_VARIABLE * num_variables


def log_densities(system: LinearSystem, deviations: np.ndarray) -> np.ndarray:
    """(row,): log p of what is not NaN of (row, variable), deviations from the means in the units inside."""
    matrix, known = dense_rows(system), ~np.isnan(deviations)
    needed = find_needed(system, known)
    errors = np.where(known, deviations, 0.0) @ matrix.T
    num_free = np.count_nonzero(needed & ~known, axis=1)
    logs = -0.5 * LOG_TWO_PI * known.sum(axis=1) - needed @ np.log(system.deviations)
    for count in np.unique(num_free).tolist():
        same = np.flatnonzero(num_free == count)
        step = max(1, NUMBERS_AT_ONCE // (len(matrix) * (count + 1)))
        for start in range(0, len(same), step):
            rows = same[start : start + step]
            free = np.nonzero((needed & ~known)[rows])[1].reshape(len(rows), count)
            columns = np.concatenate([matrix.T[free], errors[rows, None]], axis=1) * needed[rows, None]
            found = np.abs(np.linalg.qr(columns.transpose(0, 2, 1), mode="r").diagonal(axis1=1, axis2=2))
            units = np.log(system.scales)[free] - np.log(found[:, :count])
            logs[rows] += units.sum(axis=1) - 0.5 * found[:, count] ** 2
    return logs


def find_needed(system: LinearSystem, known: np.ndarray) -> np.ndarray:
    """(row, variable): whether a variable is known, or an ancestor of one that is; all others integrate to 1."""
    needed = known.T.copy()
    for node in system.order[::-1].tolist():
        needed[system.nodes[system.starts[node] + 1 : system.starts[node + 1]]] |= needed[node]
    return needed.T


def dense_rows(system: LinearSystem) -> np.ndarray:
    """(row, variable): the coefficients in the units inside."""
    size = len(system.names)
    matrix = np.zeros((size, size))
    matrix[np.repeat(np.arange(size), np.diff(system.starts)), system.nodes] = system.entries
    return matrix
