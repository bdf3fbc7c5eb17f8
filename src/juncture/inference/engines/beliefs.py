"""`Beliefs`: the answer of every engine, with the method that gave it, and the checks of impossible evidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import (
    ImpossibleEvidence,
    ImpossibleEvidenceWarning,
    InvalidData,
    InvalidModel,
    MissingExtra,
    UnknownVariable,
    warn_user,
)
from juncture.evidence import as_findings
from juncture.factors.factor import Factor
from juncture.factors.tables import state_codes
from juncture.inference.engines.contract import Answers, Engine
from juncture.inference.engines.display import beliefs_html, beliefs_text
from juncture.memory import check_memory
from juncture.values import number_of
from juncture.variables import Scope, State

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs:
    """Posterior marginals, joints and the evidence's log-probability, for one row of evidence or many.

    `views` is a short cut to single marginals: where each lies in `flat`, the array of all of them.
    """

    model: Any
    engine: Engine
    targets: tuple[str, ...]
    answers: Answers
    is_single: bool
    views: Mapping[str, tuple[Scope, slice]] = field(default_factory=dict)
    flat: np.ndarray = field(default_factory=lambda: np.empty(0))
    exact: bool = True
    converged: bool = True

    @classmethod
    def of(cls, model: Any, engine: Engine, findings: Findings, targets: tuple[str, ...]) -> Beliefs:
        """The beliefs from a run of an engine."""
        return cls(model, engine, targets, run_engine(engine, model, findings, targets), findings.is_single)

    @property
    def findings(self) -> Findings:
        """The evidence, coded."""
        return self.answers.findings

    @property
    def method(self) -> str:
        """The engine that ran."""
        return self.engine.name

    @property
    def log_evidence(self) -> Any:
        """Log p(evidence), a float or one number a row; log Z(evidence) for undirected models."""
        values = self.answers.log_evidence
        return float(values[0]) if self.is_single else values

    @cached_property
    def impossible(self) -> tuple[int, ...]:
        """The rows whose evidence has probability zero."""
        return tuple(int(row) for row in np.flatnonzero(np.isneginf(self.answers.log_evidence)))

    def __getitem__(self, name: str) -> Any:
        """The marginal of one variable: a `Factor`, or one row of it per row of evidence."""
        view = self.views.get(name) if isinstance(name, str) else None
        if view is None:
            return self.joint(name)
        return Factor.trusted(view[0], self.flat[view[1]])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.targets

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def joint(self, *names: str) -> Any:
        """The posterior over these variables together, in this order."""
        for name in names:
            if not isinstance(name, str):
                raise InvalidData(f"joint takes names one by one, as in joint('a', 'b'); got {name!r}")
            self._check_target(name)
        if len(set(names)) < len(names):
            raise InvalidData(f"a joint names each variable once; got {', '.join(names)}")
        scope = Scope(self.model.variable(name) for name in names)
        check_joint(scope, len(self.answers.log_evidence))
        values = self.answers.marginal(names)
        return Factor(scope, values[0]) if self.is_single else RowFactors(scope, values)

    def _check_target(self, name: str) -> None:
        if name not in self.targets:
            self.model.variable(name)
            raise UnknownVariable(f"{name!r} was not among the targets of this query; add it to targets=")

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → state → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self.targets}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, state and probability, with the row first when there are many."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.named("pandas", "pandas") from None
        records = [
            (row, name, str(label), float(probability))
            for name in self.targets
            for label, column in self[name].to_dict().items()
            for row, probability in enumerate(np.atleast_1d(column))
        ]
        frame = pd.DataFrame(records, columns=["row", "variable", "state", "probability"])
        return frame.drop(columns="row") if self.is_single else frame

    @cached_property
    def conflict(self) -> Any:
        """How much the findings contradict each other: log Π p(finding) / p(evidence); above 0 they do.

        Nothing was observed or only one thing: 0.
        """
        total = self.log_evidence_of(self.findings.only())
        singles = [self.log_evidence_of(self.findings.only(name)) - total for name in self.findings.names]
        values = np.sum(singles, axis=0, initial=0.0) - (self.answers.log_evidence - total)
        values = np.where(np.isneginf(self.answers.log_evidence), np.inf, values)
        return float(values[0]) if self.is_single else values

    def log_evidence_of(self, findings: Findings) -> np.ndarray:
        """Log p of other findings, by the same engine; one number a row."""
        return run_engine(self.engine, self.model, findings).log_evidence

    def with_evidence(self, evidence: Mapping[str, Any]) -> Beliefs:
        """New beliefs with more findings; these stay as they are. A mapping goes to every row."""
        more = as_findings(evidence, self.model.variables)
        if more.is_single and not self.is_single:
            more = more.repeat(self.findings.num_rows)
        findings = self.findings.merge(more)
        beliefs = Beliefs.of(self.model, self.engine, findings, self.targets)
        check_possible(beliefs)
        return beliefs

    def __repr__(self) -> str:
        return beliefs_text(self)

    def _repr_html_(self) -> str:
        return beliefs_html(self)


def check_joint(scope: Scope, num_rows: int) -> None:
    """Raise `TooLarge` for a joint table that would not fit in memory."""
    what = f"the joint of {number_of(len(scope), 'variable')} for {number_of(num_rows, 'row')}"
    check_memory(8 * 4 * scope.size * num_rows, what, "ask for fewer variables")


def run_engine(engine: Engine, model: Any, findings: Findings, targets: tuple[str, ...] = ()) -> Answers:
    """The engine's answers about the targets."""
    return engine.answer(model, findings, targets)


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
    described = [clash.describe(name) for name in clash.names]
    return f"{described[0]} cannot occur" if len(described) == 1 else f"{', '.join(described)} cannot occur together"


def minimal_clash(findings: Findings, is_possible: Callable[[Findings], bool]) -> Findings:
    """Findings of which none can be left out: each is dropped in turn, and kept if that makes the rest possible."""
    for name in findings.names:
        fewer = findings.without(name)
        if not is_possible(fewer):
            findings = fewer
    return findings


@dataclass(frozen=True, eq=False, repr=False)
class RowFactors:
    """A table per row: `values` has the row first, then one axis per variable; NaN where a row was impossible."""

    scope: Scope
    values: np.ndarray

    def __getitem__(self, states: object) -> np.ndarray:
        """The entry at these states, one number a row."""
        index: tuple[Any, ...] = (slice(None), *state_codes(self.scope, states))
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)

    def to_dict(self) -> dict[State, Any]:
        """State → one number a row, for a single variable."""
        if len(self.scope) != 1:
            raise InvalidModel(f"to_dict is for one variable; these tables are over ({', '.join(self.scope.names)})")
        (variable,) = self.scope
        return dict(zip(variable.labels, self.values.T, strict=True))

    def __repr__(self) -> str:
        return f"RowFactors({', '.join(self.scope.names)}; {len(self)} rows)"
