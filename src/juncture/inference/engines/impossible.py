"""Evidence of probability zero: one policy for every kind of model.

A single row or sequence raises `ImpossibleEvidence`. Of many, the impossible ones have log-evidence -inf and NaN for
answers, and one `ImpossibleEvidenceWarning` counts them; `on_impossible="raise"` raises instead. Learning raises for
the first that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.checks import check_choice
from juncture.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, warn_user

POLICIES = ("warn", "raise")


def check_policy(on_impossible: Any) -> str:
    """The policy as users give it."""
    return check_choice(on_impossible, POLICIES, "on_impossible")


def impossible_indices(log_evidence: np.ndarray) -> tuple[int, ...]:
    """The indices of the rows or sequences of probability zero."""
    return tuple(np.flatnonzero(np.isneginf(log_evidence)).tolist())


def check_evidence(
    log_evidence: np.ndarray,
    explain: Callable[[int], str],
    *,
    is_single: bool,
    on_impossible: Any = "warn",
    unit: str = "row",
    single: str = "the evidence",
) -> None:
    """Raise for single evidence of probability zero; warn of some among many, or raise on request.

    `explain` gives the reason for one row or sequence; `unit` is what messages call one of many, and `single` one that
    is alone.
    """
    check_policy(on_impossible)
    impossible = impossible_indices(log_evidence)
    if not impossible:
        return
    first = impossible[0]
    if is_single or on_impossible == "raise":
        where = single if is_single else f"{unit} {first}"
        raise ImpossibleEvidence(f"{where} has probability zero: {explain(first)}")
    warn_user(
        f"{len(impossible)} of {len(log_evidence)} {unit}s have probability zero, the first is {unit} {first}; their"
        ' answers are NaN and `impossible` holds their indices; on_impossible="raise" says why',
        ImpossibleEvidenceWarning,
    )


def check_data(log_evidence: np.ndarray, weights: np.ndarray, explain: Callable[[int], str]) -> None:
    """Raise for the first row or sequence to learn from that counts and has probability zero; `explain` says it."""
    impossible = np.flatnonzero(np.isneginf(log_evidence) & (weights > 0))
    if impossible.size:
        raise ImpossibleEvidence(explain(int(impossible[0])))
