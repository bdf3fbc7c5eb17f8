"""Rows drawn from the posterior of a network, by the engine that answered."""

from __future__ import annotations

from typing import Any

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.base.values import format_count
from juncture.data.dataset import Dataset
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import Engine, Query, Question
from juncture.runtime.memory import check_memory

DRAWS = frozenset({Question.DRAWS, Question.LOG_EVIDENCE})
BYTES_PER_CELL = 16


def draw_posterior(engine: Engine, model: Any, findings: Findings, n: Any, rng: Any) -> Dataset:
    """`n` rows from p(all variables | evidence), given one row of evidence that is possible."""
    if not findings.is_single:
        raise Unsupported("rows are drawn given one row of evidence; infer and sample once for each row")
    stream = as_generator(rng)
    if Question.DRAWS not in engine.answers:
        drawn: Dataset = engine.draw(model, findings, check_num_rows(n), stream).to_dataset()
        return drawn
    count = check_num_rows(n, BYTES_PER_CELL * len(model.variables))
    answers = engine.ask(model, Query(findings, tuple(model.variables.names), DRAWS, stream))
    return Dataset.from_codes(model.variables, answers.sample(count, stream))


def check_num_rows(n: Any, bytes_per_row: int = 8) -> int:
    """A whole number of rows, which fit in memory."""
    count = check_count(n, "the number of rows")
    check_memory(count * bytes_per_row, f"{format_count(count)} rows", "sample fewer at a time")
    return count
