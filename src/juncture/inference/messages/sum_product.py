"""`sum_product`: all marginals of a factor graph without cycles, with every message kept.

Choose it to see messages and schedules; `infer` gives the same marginals faster, on any graph. Cost: each factor's
table twice for each of its variables (Pearl 1982; Kschischang, Frey and Loeliger 2001).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from juncture import numerics
from juncture.factors.factor import Factor
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.messages.tree_messages import Schedule, TreeMessages, pass_messages


class SumProduct(TreeMessages):
    """A finished run of sum-product: messages, their schedule, marginals, and log p(evidence) or log Z."""

    @property
    def log_evidence(self) -> float:
        """Log of the sum of all products of factors where the evidence holds: the same at every root."""
        return self.log_total

    @cached_property
    def marginals(self) -> dict[str, Factor]:
        """Variable → p(variable | evidence)."""
        return {name: self.belief(name) for name in self.graph.variables.names}

    def belief(self, node: str) -> Factor:
        """p(variable | evidence), or for the name of a factor p(its scope | evidence)."""
        log = self.log_belief(node)
        return Factor(self.rules.scope(node), np.exp(log - log.max())).normalize()


def sum_product(
    graph: Any, evidence: Any = None, *, root: str | None = None, schedule: Schedule = "tree"
) -> SumProduct:
    """Pass sum-product messages on a factor graph without cycles.

    Parameters
    ----------
    graph
        A `FactorGraph` without cycles.
    evidence
        One row, as in `infer`.
    root
        The variable, or the factor by its name f0, f1, …, at which messages are collected.
    schedule
        "tree" collects messages at the root and distributes them from there; "flooding" sends all messages in every
        round until none changes.

    Returns
    -------
    SumProduct
        The `messages`, their `schedule`, the `marginals` and `log_evidence`.

    Examples
    --------
    >>> from juncture.factors.factor import Factor
    >>> from juncture.networks.factor_product import FactorGraph
    >>> from juncture.variables import Variable
    >>> x, y = Variable("x", 2), Variable("y", 2)
    >>> print(sum_product(FactorGraph([Factor([x, y], [[1, 2], [3, 4]])]), root="y"))
    x → f0: [1, 1]
    f0 → y: [4, 6]
    y → f0: [1, 1]
    f0 → x: [3, 7]
    """
    run = pass_messages(SumProduct, numerics.log_sum_exp, graph, evidence, root, schedule)
    check_possible_run(run)
    return run


def check_possible_run(run: TreeMessages) -> None:
    """Raise when the evidence has probability zero, with the findings that contradict each other."""
    if run.log_total == -np.inf:
        check_possible(Beliefs.of(run.graph, JunctionTree(), run.findings, ()))
