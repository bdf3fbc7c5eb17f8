"""`max_product`: the most probable assignment of a factor graph without cycles, with every message kept.

Sum-product with the maximum instead of the sum, in logarithms (max-sum). Then a pass from the root outwards takes the
best state of every variable given the states chosen before it. On a chain this is Viterbi's algorithm.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from juncture.inference.messages.sum_product import check_possible_run
from juncture.inference.messages.tree_messages import Schedule, TreeMessages, pass_messages
from juncture.variables import Assignment


class MaxProduct(TreeMessages):
    """A finished run of max-product: messages, their schedule, and a most probable assignment."""

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
        """From the roots outwards: the best state of a root, then of the further variables of each factor."""
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
    """Pass max-product messages on a factor graph without cycles.

    Parameters
    ----------
    graph, evidence, root, schedule
        As in `sum_product`.

    Returns
    -------
    MaxProduct
        The `messages`, their `schedule`, the `assignment` and its `log_joint`.

    Examples
    --------
    >>> import juncture as jt
    >>> chain = jt.example("weather").to_factor_graph()
    >>> jt.max_product(chain).assignment == jt.most_probable(chain).assignment
    True
    """
    run = pass_messages(MaxProduct, largest, graph, evidence, root, schedule)
    check_possible_run(run)
    return run


def largest(table: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return np.asarray(table.max(axis=axes))
