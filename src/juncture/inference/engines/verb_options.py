"""The options of the verbs that every kind of model takes: limits, policy for the impossible, number of rows.

Evidence of probability zero: a single row or sequence raises `ImpossibleEvidence`. Of many, the impossible ones have
log-evidence -inf and NaN for answers, and one `ImpossibleEvidenceWarning` counts them; `on_impossible="raise"` raises
instead. Learning raises for the first that counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator, as_seed
from juncture.base.values import format_count
from juncture.data.dataset import Dataset
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, ImpossibleEvidenceWarning, Unsupported, warn_user
from juncture.inference.engines.contract import Cost, Engine, Query, Question, check_budget
from juncture.networks.bayesian_network import Network
from juncture.runtime.memory import check_memory, check_memory_limit

POLICIES = ("warn", "raise")


def as_budget(budget: Any) -> float | None:
    """A number of seconds, or None for any."""
    return None if budget is None else check_number(budget, "budget", least=0)


def time_left(budget: float | None, started: float) -> float | None:
    """What is left of a budget that counts since a time of `time.monotonic`; None for any."""
    return None if budget is None else max(0.0, started + budget - time.monotonic())


def check_limits(cost: Cost, what: str, budget: Any = None, memory_limit: Any = None) -> None:
    """Raise `TooLarge` for an exact run that needs more bytes than `memory_limit`, or more seconds than `budget`."""
    if budget is not None:
        check_budget(cost, check_number(budget, "budget", least=0))
    if memory_limit is not None:
        check_memory(
            cost.bytes, what, "raise the limit, or ask about fewer at a time", check_memory_limit(memory_limit)
        )


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


DRAWS = frozenset({Question.DRAWS, Question.LOG_EVIDENCE})
BYTES_PER_CELL = 16


def draw_posterior(engine: Engine, model: Network, findings: Findings, n: Any, rng: Any) -> Dataset:
    """`n` rows from p(all variables | evidence), given one row of evidence that is possible."""
    if not findings.is_single:
        raise Unsupported("rows are drawn given one row of evidence; infer and sample once for each row")
    seed = as_seed(rng)
    stream = as_generator(seed)
    if Question.DRAWS not in engine.answers:
        return engine.draw(model, findings, check_num_rows(n), stream).to_dataset().with_seed(seed)
    count = check_num_rows(n, BYTES_PER_CELL * len(model.variables))
    answers = engine.ask(model, Query(findings, tuple(model.variables.names), DRAWS, stream))
    return Dataset.from_codes(model.variables, answers.sample(count, stream)).with_seed(seed)


def check_num_rows(n: Any, bytes_per_row: int = 8) -> int:
    """A whole number of rows, which fit in memory."""
    count = check_count(n, "the number of rows")
    check_memory(count * bytes_per_row, f"{format_count(count)} rows", "sample fewer at a time")
    return count
