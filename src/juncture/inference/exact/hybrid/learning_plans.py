"""What the steps of learning share: rows with holes, cut into pieces of the network that the observed values separate.

Given the observed values, families that share no unobserved variable are independent. So the rows are grouped for each
such set of families by what is observed of it, and not by what is observed at all: there are far fewer groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from juncture.base.values import few
from juncture.data.findings import Findings, is_hole
from juncture.data.missingness import group_by_pattern
from juncture.factors.factor import Factor
from juncture.inference.exact.hybrid.parts import Part, connected, factors_of, is_linear, part_of, scope_of
from juncture.inference.exact.hybrid.planning import check_fits
from juncture.inference.exact.hybrid.run import Rows, Run


class PieceKey(NamedTuple):
    """The children of a set of families, in their order, and the variables in these families that are observed."""

    children: tuple[str, ...]
    observed: frozenset[str]


class Piece(NamedTuple):
    """The rows that have one key, and the run of its families on them."""

    children: tuple[str, ...]
    rows: np.ndarray
    run: Run


@dataclass(eq=False)
class LearningPlans:
    """The parts of a structure that learning has needed, and how the rows of the last findings fall to them."""

    parts: dict[PieceKey, Part] = field(default_factory=dict)
    last: tuple[Findings, dict[PieceKey, np.ndarray]] | None = None

    def pieces(self, model: Any, findings: Findings, tolerance: float, memory_limit: int | None) -> Iterator[Piece]:
        """All pieces of a network with these findings, one after the other."""
        factors = {part.child.name: () if is_linear(part) else factors_of(part) for part in model.conditionals}
        for key, rows in self.split(model, findings).items():
            part = self.part(model, key, factors, memory_limit)
            yield Piece(key.children, rows, Run(model, part, take_rows(model, findings, key, rows), tolerance))

    def split(self, model: Any, findings: Findings) -> dict[PieceKey, np.ndarray]:
        """The rows of each key; kept for the next step of learning, which has the same findings."""
        if self.last is None or self.last[0] is not findings:
            self.last = findings, split_findings(model, findings)
        return self.last[1]

    def part(self, model: Any, key: PieceKey, factors: dict[str, Any], memory_limit: int | None) -> Part:
        """The part of a key with the numbers of this model."""
        if key not in self.parts:
            part = part_of(model, [model[name] for name in key.children], key.observed)
            what = f"the expected statistics of {few(key.children)}"
            self.parts[key] = check_fits(part, what, memory_limit)
            return part
        own: list[Factor] = [factor for name in key.children for factor in factors[name]]
        return self.parts[key].with_numbers({name: model[name] for name in key.children}, own)


def split_findings(model: Any, findings: Findings) -> dict[PieceKey, np.ndarray]:
    """The rows of each key; a variable of one state counts as observed."""
    columns = {**findings.codes, **findings.reals}
    known = np.stack([np.ones(findings.num_rows, bool), *(~is_hole(each) for each in columns.values())], axis=1)
    lone = {variable.name for variable in model.variables if not variable.is_real and variable.num_states == 1}
    rows: dict[PieceKey, list[np.ndarray]] = {}
    for pattern, indices in group_by_pattern(known):
        observed = frozenset({name for name, seen in zip(columns, pattern[1:], strict=True) if seen} | lone)
        for families in connected(model.conditionals, observed, real_only=False):
            key = PieceKey(tuple(part.child.name for part in families), observed & scope_of(families))
            rows.setdefault(key, []).append(indices)
    return {key: np.sort(np.concatenate(parts)) for key, parts in rows.items()}


def take_rows(model: Any, findings: Findings, key: PieceKey, rows: np.ndarray) -> Rows:
    """The findings of some rows on the variables of a key; a likelihood counts where its variable is the child."""
    codes, reals = (
        {name: part[name][rows] for name in key.observed if name in part} for part in (findings.codes, findings.reals)
    )
    likelihoods = {name: findings.likelihoods[name][rows] for name in key.children if name in findings.likelihoods}
    return Rows.of(model, Findings(findings.variables, codes, reals, likelihoods, num_rows=len(rows)))
