"""How a run of messages ended, as diagnostics, with a warning where the messages did not converge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from juncture.errors import NotConvergedWarning, warn_user
from juncture.inference.engines.contract import Diagnostics


class EndedRun(Protocol):
    """What is known of a run."""

    @property
    def is_converged(self) -> bool: ...
    @property
    def is_exact(self) -> bool: ...
    @property
    def num_steps(self) -> int: ...
    @property
    def residual(self) -> float: ...
    @property
    def last_step(self) -> int: ...
    @property
    def is_out_of_time(self) -> bool: ...


def diagnose(engine: Any, run: EndedRun) -> Diagnostics:
    """The diagnostics of a run; where a budget ended it, with the engine that repeats it."""
    if not run.is_converged:
        why = "its budget ended" if run.is_out_of_time else "max_steps were spent"
        warn_user(
            f"loopy belief propagation had not converged when {why}; the answers are those of its last step: more"
            " steps, or damping=0.5, may help",
            NotConvergedWarning,
        )
    return Diagnostics(
        exact=run.is_exact,
        converged=run.is_converged,
        steps=run.num_steps,
        residual=run.residual,
        engine=replace(engine, max_steps=run.last_step) if run.is_out_of_time else None,
    )
