"""Densities of rows that each observe other variables: least squares for many rows at once.

The rows of a network over their standard deviations are M z = noise of variance 1, where z are the deviations from the
means. Given the observed part of z, the free part is one of least squares: with M_free = Q R and b = M_observed z, the
density is that of the part of b that Q does not reach, over |det R|. Nothing is squared or inverted. Where a pattern of
holes has few rows this takes less time than a plan for it (Golub and Van Loan 2013, 5.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from juncture.data.findings import Findings
from juncture.inference.exact.gaussian.answers import GaussianAnswers, Group
from juncture.inference.exact.gaussian.linear_system import LinearSystem
from juncture.numerics.stable import LOG_TWO_PI

STIFF = 2.0**10  # the ratio of a standard deviation to that of its noise, above which orthogonal steps lose digits
PLAN_OPERATIONS, PLAN_OPERATIONS_PER_VARIABLE = 1.5e6, 5e4  # as many of least squares take as long as a plan
PAIR_OPERATIONS = 5e3  # ... as what each pair takes besides
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


class DenseRows(NamedTuple):
    """The rows of networks of one structure, each a case, in the units inside: M z = noise of variance 1."""

    parents: Mapping[int, np.ndarray]  # variable → its parents, children before them
    matrices: np.ndarray  # (case, row, variable)
    means: np.ndarray  # (case, variable)
    scales: np.ndarray  # (case, variable): the units
    log_noise: np.ndarray  # (case, row): log standard deviations

    @classmethod
    def of(cls, system: LinearSystem) -> DenseRows:
        """The only case of a network of numbers."""
        size, starts = len(system.names), system.starts
        matrix = np.zeros((1, size, size))
        matrix[0, np.repeat(np.arange(size), np.diff(starts)), system.nodes] = system.entries
        order = system.order[::-1].tolist()
        parents = {node: system.nodes[starts[node] + 1 : starts[node + 1]] for node in order}
        log_noise = np.log(system.deviations)
        return cls(parents, matrix, system.means[None], system.scales[None], log_noise[None])

    def find_needed(self, known: np.ndarray) -> np.ndarray:
        """(row, variable): whether a variable is known, or an ancestor of one that is; all others integrate to 1."""
        needed = known.T.copy()
        for node, parents in self.parents.items():
            needed[parents] |= needed[node]
        return needed.T

    def log_densities(self, values: np.ndarray, rows: np.ndarray, cases: np.ndarray) -> np.ndarray:
        """(pair,): log p of what is not NaN of (row, variable) numbers, for pairs of a row and a case."""
        known = ~np.isnan(values)
        needed = self.find_needed(known)
        hidden, num_known, size = needed & ~known, known.sum(axis=1), self.matrices.shape[1]
        num_free = np.count_nonzero(hidden, axis=1)[rows]
        logs = np.empty(len(rows))
        for count in np.unique(num_free).tolist():
            same = np.flatnonzero(num_free == count)
            step = max(1, NUMBERS_AT_ONCE // (size * (count + 1 if len(self.matrices) == 1 else size)))
            for start in range(0, len(same), step):
                pairs = same[start : start + step]
                row, case = rows[pairs], cases[pairs]
                free = np.nonzero(hidden[row])[1].reshape(len(row), count)
                columns = [self.columns(free, case), self.errors(values[row], known[row], case)[:, None]]
                tall = (np.concatenate(columns, axis=1) * needed[row, None]).transpose(0, 2, 1)
                triangles = np.asarray(np.linalg.qr(tall, mode="r"))
                found = np.abs(triangles.diagonal(axis1=1, axis2=2))
                units = np.log(self.scales[case[:, None], free]) - np.log(found[:, :count])
                noise = (self.log_noise[case] * needed[row]).sum(axis=1)
                squares = found[:, count] ** 2 + num_known[row] * LOG_TWO_PI
                logs[pairs] = units.sum(axis=1) - noise - 0.5 * squares
        return logs

    def columns(self, free: np.ndarray, case: np.ndarray) -> np.ndarray:
        """(pair, free variable, row): the coefficients of the free variables."""
        if len(self.matrices) == 1:
            return self.matrices[0].T[free]
        return self.matrices.transpose(0, 2, 1)[case[:, None], free]

    def errors(self, values: np.ndarray, known: np.ndarray, case: np.ndarray) -> np.ndarray:
        """(pair, row): what the known numbers contribute."""
        deviations = np.where(known, (values - self.means[case]) / self.scales[case], 0.0)
        if len(self.matrices) == 1:
            return deviations @ self.matrices[0].T
        return np.matmul(self.matrices[case], deviations[..., None])[..., 0]


def is_dense(system: LinearSystem) -> bool:
    """Whether all rows have noise, none of them so little that digits would be lost."""
    return not system.is_exact.any() and bool(np.abs(system.entries).max(initial=0.0) <= STIFF)


def are_few(num_pairs: np.ndarray, num_free: np.ndarray, num_variables: int) -> np.ndarray:
    """(pattern,): whether least squares for these many pairs take less time than a plan for their pattern."""
    operations = num_pairs * (PAIR_OPERATIONS + 2.0 * num_variables * (num_free + 1.0) ** 2)
    return operations <= PLAN_OPERATIONS + PLAN_OPERATIONS_PER_VARIABLE * num_variables
