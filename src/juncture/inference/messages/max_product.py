"""`max_product`: the most probable assignment of a factor graph without cycles, with every message on the way.

Sum-product with the maximum in place of the sum, in logarithms (max-sum), then a walk from the root outwards that reads
off a best state of every variable given those before it. On a chain it is Viterbi's algorithm.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from juncture.inference.messages.sum_product import check_possible_run
from juncture.inference.messages.tree_messages import Schedule, TreeMessages, pass_messages
from juncture.variables import Assignment


class MaxProduct(TreeMessages):
    """A finished run of max-product: messages, their order, and a best assignment."""

    @property
    def log_joint(self) -> float:
        """Log of the largest product of factors where the evidence holds."""
        return self.log_total

    @cached_property
    def assignment(self) -> Assignment:
        """A state for every variable that was not observed, together most probable; of several such, one."""
        return {
            name: variable.labels[self._codes[name]]
            for name, variable in self.rules.variables.items()
            if name not in self.findings.codes
        }

    @cached_property
    def _codes(self) -> dict[str, int]:
        """From the roots outwards: a root's best state, then of each factor the best states of what hangs on it."""
        codes: dict[str, int] = {}
        for node, parent in self.parents.items():
            log = self.log_belief(node)
            if node in self.rules.factors:
                names = self.rules.factors[node].scope.names
                rest = log[tuple(codes.get(name, slice(None)) for name in names)]
                best = np.unravel_index(int(rest.argmax()), rest.shape)
                codes |= dict(zip([name for name in names if name not in codes], map(int, best), strict=True))
            elif parent is None:
                codes[node] = int(log.argmax())
        return codes


def max_product(
    graph: Any, evidence: Any = None, *, root: str | None = None, schedule: Schedule = "tree"
) -> MaxProduct:
    """Pass max-product messages on a factor graph without cycles; arguments as for `sum_product`."""
    run = pass_messages(MaxProduct, largest, graph, evidence, root, schedule)
    check_possible_run(run)
    return run


def largest(table: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return np.asarray(table.max(axis=axes))
