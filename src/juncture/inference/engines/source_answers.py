"""Exact answers for the rows of a source, block by block: memory holds the answers, and of the rows those being read.

A question that needs the evidence again, such as a joint of two variables, reads the source once more.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.data.dataset import Extra
from juncture.data.findings import Arrays, Findings
from juncture.data.sources.contract import Block, RowSource, check_extra, is_source
from juncture.data.sources.entries import as_lazy_source, find_query
from juncture.evidence import as_findings
from juncture.inference.engines.contract import EXACT, Answers, Diagnostics, Engine, Query, Request
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


def as_source_findings(evidence: Any, variables: Scope, extra: Extra) -> SourceFindings | None:
    """The evidence in the rows of a source, coded by the variables; None of rows in memory."""
    is_once = isinstance(evidence, Iterator)
    is_path = isinstance(evidence, str | os.PathLike) and Path(evidence).exists()
    if not (is_once or is_path or is_source(evidence) or find_query(evidence) is not None):
        return None
    source = as_lazy_source(evidence, variables if is_once else None)
    if source is None:
        return None
    check_extra(source.names, variables, extra)
    return SourceFindings(tuple(variables), source.coded(variables))


class SourceFindings(Findings):
    """The evidence in the rows of a source, read again when a question needs it."""

    _fields = Findings._fields  # the source is where they are read from
    source: RowSource

    def __init__(self, variables: tuple[Variable, ...], source: RowSource, num_rows: int = -1) -> None:
        """The number of rows is known when they were read once."""
        self._set(variables=variables, source=source, num_rows=num_rows, is_single=False, index=None)

    @cached_property
    def whole(self) -> Findings:
        from juncture.data.sources.source import collect

        return as_findings(collect(self.source), self.variables)

    @property
    def codes(self) -> Arrays:  # type: ignore[override]
        return self.whole.codes

    @property
    def reals(self) -> Arrays:  # type: ignore[override]
        return self.whole.reals

    @property
    def likelihoods(self) -> Arrays:  # type: ignore[override]
        return self.whole.likelihoods

    def _key(self) -> Hashable:
        """Of the rows themselves, which are read for it."""
        return self.whole._key()

    def __reduce__(self) -> tuple[Any, ...]:
        return same, (self.whole,)


@dataclass(frozen=True, eq=False)
class SourceAnswers(Answers):
    """The answers of an exact engine for all rows of a source."""

    model: Network
    engine: Engine
    targets: tuple[str, ...]
    tables: dict[str, np.ndarray]  # the marginals: (row, state)
    log_evidence: np.ndarray  # (row,)
    findings: Findings  # of a source, or those that were read where this was pickled
    diagnostics: ClassVar[Diagnostics] = EXACT

    @classmethod
    def of(cls, model: Network, engine: Engine, source: RowSource, targets: tuple[str, ...]) -> SourceAnswers:
        from juncture.data.sources.contract import map_blocks

        parts = list(map_blocks(partial(answer_block, model, engine, targets), source))
        log_evidence = np.concatenate([found for _, found in parts])
        tables = {
            name: np.concatenate([marginals[position] for marginals, _ in parts])
            for position, name in enumerate(targets)
        }
        findings = SourceFindings(tuple(model.variables), source, len(log_evidence))
        return cls(model, engine, targets, tables, log_evidence, findings)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        if len(names) == 1 and names[0] in self.tables:
            return self.tables[names[0]]
        if not isinstance(self.findings, SourceFindings):
            return self.whole.marginal(names)
        run = partial(joint_of_block, self.model, self.engine, names)
        from juncture.data.sources.contract import map_blocks

        return np.concatenate(list(map_blocks(run, self.findings.source)))

    @cached_property
    def whole(self) -> Answers:
        """The answers for all rows at once."""
        findings = self.findings.whole if isinstance(self.findings, SourceFindings) else self.findings
        return self.engine.ask(self.model, Query(findings, self.targets))

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        return self.whole.best(targets, count)

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return self.whole.sample(num_rows, rng)

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        return self.whole.expected(requests, weights)


def answer_block(
    model: Network, engine: Engine, targets: tuple[str, ...], block: Block
) -> tuple[list[np.ndarray], np.ndarray]:
    """The marginals of the targets, and the log-evidence, of the rows of a block."""
    answers = engine.ask(model, Query(as_findings(block.rows, tuple(model.variables)), targets))
    return [answers.marginal((name,)) for name in targets], answers.log_evidence


def joint_of_block(model: Network, engine: Engine, names: tuple[str, ...], block: Block) -> np.ndarray:
    return engine.ask(model, Query(as_findings(block.rows, tuple(model.variables)), names)).marginal(names)


def same(findings: Findings) -> Findings:
    return findings
