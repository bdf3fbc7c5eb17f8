"""Evidence of probability zero: always noticed, with the findings that clash."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, warn_user

if TYPE_CHECKING:
    from juncture.inference.engines.beliefs import Beliefs


def check_possible(beliefs: Beliefs, on_impossible: str = "raise") -> None:
    """Raise for a single impossible row, warn (or raise, on request) for some among many."""
    if beliefs.is_single and beliefs.answers.log_evidence[0] > -math.inf:
        return
    if not beliefs.impossible:
        return
    first = beliefs.impossible[0]
    if beliefs.is_single or on_impossible == "raise":
        where = "" if beliefs.is_single else f" in row {first}"
        raise ImpossibleEvidence(f"the evidence has probability zero{where}: {explain(beliefs, first)}")
    count = len(beliefs.impossible)
    warn_user(
        f"{count} of {beliefs.findings.num_rows} rows have probability zero, the first is row {first}; "
        "their marginals are NaN and their indices are in beliefs.impossible",
        ImpossibleEvidenceWarning,
    )


def explain(beliefs: Beliefs, row: int) -> str:
    findings = beliefs.findings.row(row)
    clash = minimal_clash(findings, lambda some: bool(beliefs.log_evidence_of(some)[0] > -math.inf))
    if not clash.names:
        return "the model itself gives every assignment the weight zero"
    told = [clash.describe(name) for name in clash.names]
    return f"{told[0]} cannot occur" if len(told) == 1 else f"{', '.join(told)} cannot occur together"


def minimal_clash(findings: Findings, is_possible: Callable[[Findings], bool]) -> Findings:
    """Findings of which none can be left out: each is dropped in turn, and kept if that makes the rest possible."""
    for name in findings.names:
        fewer = findings.without(name)
        if not is_possible(fewer):
            findings = fewer
    return findings
