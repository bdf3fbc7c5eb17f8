"""`infer`: a model and evidence in, beliefs out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from juncture.checks import check_choice
from juncture.data.dataset import Extra
from juncture.evidence import as_findings
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.impossible import check_possible
from juncture.inference.methods import engine_for
from juncture.options import as_names


def infer_factors(
    model: Any,
    evidence: Any = None,
    *,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: Extra = "error",
    memory_limit: int | None = None,
) -> Beliefs:
    check_choice(on_impossible, ("warn", "raise"), "on_impossible")
    engine = engine_for(method, memory_limit)
    if targets is None and type(evidence) is dict:
        answers = engine.answer_at_once(model, evidence)
        if answers is not None:
            beliefs = Beliefs(model, engine, answers.targets, answers, True, answers.views, answers.marginals[0])
            check_possible(beliefs)
            return beliefs
    findings = as_findings(evidence, model.variables, extra=extra)
    beliefs = Beliefs.of(model, engine, findings, as_targets(model, targets))
    check_possible(beliefs, on_impossible)
    return beliefs


def as_targets(model: Any, targets: Sequence[str] | None) -> tuple[str, ...]:
    """The names asked for, each known to the model; all variables when none are named."""
    if targets is None:
        return tuple(model.variables.names)
    return tuple(model.variable(name).name for name in as_names(targets, "targets"))
