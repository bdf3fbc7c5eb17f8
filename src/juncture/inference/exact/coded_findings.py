"""Evidence as the kernels take it: by node number, one row or many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juncture import numerics
from juncture.data.findings import Findings


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

    def as_logs(self, num_states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All evidence as log-likelihoods, one after the other."""
        hard = [
            numerics.log(np.eye(num_states[node])[code]) for node, code in zip(self.observed, self.codes, strict=True)
        ]
        soft = numerics.log(self.likelihoods)
        return np.concatenate([self.observed, self.soft]), np.concatenate([*hard, soft])


@dataclass(frozen=True, eq=False)
class CodedFindings:
    """Many rows of evidence: codes (observed, row) with -1 for a hole, likelihoods (all soft states, row)."""

    observed: np.ndarray
    codes: np.ndarray
    soft: np.ndarray
    likelihoods: np.ndarray
    log_scale: np.ndarray  # (row,): of what the likelihoods were divided by

    @classmethod
    def of(cls, findings: Findings, nodes: Mapping[str, int]) -> CodedFindings:
        empty = np.empty((0, findings.num_rows))
        codes = [column.astype(np.int64) for column in findings.codes.values()]
        tops = [np.where(table.max(axis=1) > 0, table.max(axis=1), 1.0) for table in findings.likelihoods.values()]
        soft = zip(findings.likelihoods.values(), tops, strict=True)
        likelihoods = [np.ascontiguousarray((table / top[:, np.newaxis]).T) for table, top in soft]
        return cls(
            np.array([nodes[name] for name in findings.codes], dtype=np.int64),
            np.stack(codes) if codes else empty.astype(np.int64),
            np.array([nodes[name] for name in findings.likelihoods], dtype=np.int64),
            np.concatenate([empty, *likelihoods]),
            np.sum([np.zeros(findings.num_rows), *(np.log(top) for top in tops)], axis=0),
        )

    @property
    def num_rows(self) -> int:
        return int(self.codes.shape[1])

    def row(self, place: int) -> CodedFinding:
        known = self.codes[:, place] >= 0
        return CodedFinding(
            self.observed[known],
            np.ascontiguousarray(self.codes[known, place]),
            self.soft,
            np.ascontiguousarray(self.likelihoods[:, place]),
            float(self.log_scale[place]),
        )
