"""Evidence as the kernels take it: by node number, one row or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.data.tables.distinct import distinct_rows
from juncture.numerics import stable

NOTHING_SOFT = {"soft": np.empty(0, np.int64), "likelihoods": np.empty(0), "log_scale": 0.0}


@dataclass(frozen=True, eq=False)
class CodedFinding:
    """One row of evidence by node: codes of those observed, and a likelihood per state for those that are soft.

    Likelihoods are divided by their largest entry, so that their product cannot leave the range of doubles.
    """

    observed: np.ndarray
    codes: np.ndarray
    soft: np.ndarray
    likelihoods: np.ndarray
    log_scale: float = 0.0  # of what the likelihoods were divided by
    is_safe: ClassVar[bool] = True  # whether no likelihood vanished when it was divided

    @classmethod
    def hard(cls, observed: Sequence[int], codes: Sequence[int]) -> CodedFinding:
        """Codes alone; fields are set at once, as this is done for every row of labels."""
        finding = cls.__new__(cls)
        nodes, states = np.array(observed, np.int64), np.array(codes, np.int64)
        finding.__dict__.update(observed=nodes, codes=states, **NOTHING_SOFT)
        return finding

    @property
    def log_likelihoods(self) -> np.ndarray:
        return stable.log(self.likelihoods)

    def as_logs(self, num_states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All evidence as log-likelihoods, one after the other."""
        sizes = num_states[self.observed]
        hard = np.full(int(sizes.sum()), -np.inf)
        hard[np.cumsum(sizes) - sizes + self.codes] = 0.0
        return np.concatenate([self.observed, self.soft]), np.concatenate([hard, self.log_likelihoods])


@dataclass(frozen=True, eq=False)
class WideFinding(CodedFinding):
    """One row of evidence with likelihoods so far apart that doubles hold only their logarithms."""

    kept_logs: np.ndarray = field(default_factory=lambda: np.empty(0))
    is_safe: ClassVar[bool] = False

    @property
    def log_likelihoods(self) -> np.ndarray:
        return self.kept_logs


@dataclass(frozen=True, eq=False)
class CodedFindings:
    """Many rows of evidence: codes (observed, row) with -1 for a hole, likelihoods (all soft states, row).

    Codes stay as small as their columns are; kernels get those of a few rows at a time as int64.
    """

    observed: np.ndarray
    codes: np.ndarray
    soft: np.ndarray
    likelihoods: np.ndarray
    log_scale: np.ndarray  # (row,): of what the likelihoods were divided by
    log_likelihoods: np.ndarray | None = None  # (all soft states, row), if some vanished when they were divided

    @classmethod
    def of(cls, findings: Findings, nodes: Mapping[str, int]) -> CodedFindings:
        codes = list(findings.codes.values())
        return cls(
            np.array([nodes[name] for name in findings.codes], dtype=np.int64),
            np.stack(codes) if codes else np.empty((0, findings.num_rows), np.int64),
            np.array([nodes[name] for name in findings.likelihoods], dtype=np.int64),
            *scale_likelihoods(list(findings.likelihoods.values()), findings.num_rows),
        )

    def codes_of(self, rows: slice) -> np.ndarray:
        """(observed, row): the codes of some rows, as kernels take them."""
        return as_codes(self.codes, rows)

    def is_wide(self, rows: slice) -> np.ndarray:
        """(row,): whether a likelihood vanished when it was divided, so that the row must run in logarithms."""
        if self.log_likelihoods is None:
            return np.zeros(rows.stop - rows.start, bool)
        vanished = (self.likelihoods[:, rows] < stable.SMALLEST) & (self.log_likelihoods[:, rows] > -np.inf)
        return np.asarray(vanished.any(axis=0))

    def all_log_likelihoods(self) -> np.ndarray:
        """(all soft states, row): the logarithms, those that were kept where a likelihood vanished."""
        logs = stable.log(self.likelihoods)
        if self.log_likelihoods is None:
            return logs
        return np.where(self.is_wide(slice(0, self.num_rows)), self.log_likelihoods, logs)

    @property
    def num_rows(self) -> int:
        return int(self.codes.shape[1])

    def take(self, indices: np.ndarray) -> CodedFindings:
        """Some of the rows."""
        logs = None if self.log_likelihoods is None else self.log_likelihoods[:, indices]
        return CodedFindings(
            self.observed,
            self.codes[:, indices],
            self.soft,
            self.likelihoods[:, indices],
            self.log_scale[indices],
            logs,
        )

    def distinct(self) -> tuple[CodedFindings, np.ndarray]:
        """Each different row once, and for each row which of them it is, (row,)."""
        logs = self.likelihoods[:0] if self.log_likelihoods is None else self.log_likelihoods
        which, first = distinct_rows(np.vstack([self.codes, self.likelihoods, logs, self.log_scale]).T)
        return self.take(first), which

    def patterns(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(the nodes that are observed, the rows in which just these are), for each pattern of holes."""
        if self.num_rows == 1 or not len(self.codes):
            return [(self.observed[(self.codes >= 0).all(axis=1)], np.arange(self.num_rows))]
        from juncture.data.missingness import group_by_pattern

        return [(self.observed[known], rows) for known, rows in group_by_pattern((self.codes >= 0).T)]

    def codes_by_node(self) -> dict[int, np.ndarray]:
        """Node → its codes (row,), for the nodes that are observed in every row."""
        pairs = zip(self.observed.tolist(), self.codes, strict=True)
        return {node: codes.astype(np.int64) for node, codes in pairs if (codes >= 0).all()}

    def row(self, index: int) -> CodedFinding:
        known = self.codes[:, index] >= 0
        coded = (
            self.observed[known],
            self.codes[known, index].astype(np.int64),
            self.soft,
            np.ascontiguousarray(self.likelihoods[:, index]),
            float(self.log_scale[index]),
        )
        if self.log_likelihoods is not None and self.is_wide(slice(index, index + 1))[0]:
            return WideFinding(*coded, np.ascontiguousarray(self.log_likelihoods[:, index]))
        return CodedFinding(*coded)


def as_codes(codes: np.ndarray, rows: slice) -> np.ndarray:
    """Some columns of codes, as kernels take them."""
    return np.ascontiguousarray(codes[:, rows], dtype=np.int64)


def scale_likelihoods(tables: Sequence[np.ndarray], num_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Likelihoods (row, state) over the largest of each row: (all states, row); the logarithms of what was divided by.

    The third is the logarithms of the quotients if doubles do not hold some of them, else None.
    """
    if not tables:
        return np.empty((0, num_rows)), np.zeros(num_rows), None
    tops = [np.where(table.max(axis=1) > 0, table.max(axis=1), 1.0) for table in tables]
    given = np.concatenate([table.T for table in tables])
    divisors = np.repeat(tops, [table.shape[1] for table in tables], axis=0)  # (all states, row)
    scaled = given / divisors
    is_kept = stable.keeps_entries(scaled, given > 0)
    return scaled, np.log(tops).sum(axis=0), None if is_kept else stable.log(given) - np.log(divisors)
