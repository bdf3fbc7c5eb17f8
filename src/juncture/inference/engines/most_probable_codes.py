"""`BestCodes`: the answers of engines that find one good assignment of all variables, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import Answers, Diagnostics, Request
from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.engines.lowering import lower
from juncture.variables import Scope


def check_no_hidden(model: Any, arrays: FactorArrays, engine_name: str) -> None:
    """Raise `Unsupported` for conditionals with hidden variables, over which an engine of modes cannot sum."""
    if arrays.num_nodes > len(model.variables):
        child = next(child for child, part in lower(model).groups.items() if part.stop > part.start + 1)
        raise Unsupported(
            f"the engine {engine_name!r} takes tables; the conditional of {child!r} has hidden causes, which it cannot"
            " sum out: choose another method"
        )


@dataclass(frozen=True, eq=False)
class BestCodes(Answers):
    """One assignment of all nodes for each row, and the log of the product of factors and likelihoods there."""

    scope: Scope  # of all nodes
    findings: Findings
    codes: np.ndarray  # (row, node)
    log_joint: np.ndarray  # (row,)
    diagnostics: Diagnostics
    engine_name: str

    @property
    def log_evidence(self) -> np.ndarray:
        """The engine does not know it: 0, which says that the evidence may be possible."""
        return np.zeros(len(self.codes))

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        if count > 1:
            raise Unsupported(f"the engine {self.engine_name!r} finds one assignment; ask for the k best by another")
        if self.findings.is_single and self.log_joint[0] == -np.inf:
            raise Unsupported(
                f"the engine {self.engine_name!r} found no assignment of positive probability, which does not mean that"
                " there is none: try more starts, or method='exact'"
            )
        if len(targets) < len(self.scope):
            self.check_targets(targets)
            positions = [self.scope.axis(name) for name in targets]
            return self.codes[:, np.newaxis, positions], self.log_joint[:, np.newaxis]
        return self.codes[:, np.newaxis], self.log_joint[:, np.newaxis]

    def check_targets(self, targets: tuple[str, ...]) -> None:
        """Every variable is among the targets or observed; none is summed out."""
        asked, rows = set(targets), self.findings
        for name in self.scope.names:
            if name not in asked and not rows.is_observed(name).all():
                raise Unsupported(
                    f"the engine {self.engine_name!r} maximises over all variables and cannot sum out {name!r}: leave"
                    " targets out, or choose another method"
                )

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer marginals")

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer expected")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer draws")
